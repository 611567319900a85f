import { type FieldError, invalidField } from "../../api/field-error.ts";
import { apiVersionOf, type Json, type KubeObject, type ObjectMeta } from "../../api/object.ts";
import type { CodedKind } from "../../custom/coded-kind.ts";
import { getMember } from "../../lib/members.ts";
import type { ResourceHooks } from "../../resources/model/definition.ts";
import type { CustomResourceDefinition, JsonSchemaProps } from "../../types/custom-resource-definition.ts";
import type { KindSchema, TypeOf } from "./schema-types.ts";

/** An object of a kind: its spec and status have the types that the schemas describe. */
export interface KindObject<Spec, Status> {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: ObjectMeta;
  spec: Spec;
  status?: Status;
}

/** What is wrong with an object. */
export interface Problem {
  /** Such as `spec.size`. */
  readonly field: string;
  readonly message: string;
  /** Absent: the value at `field`. */
  readonly value?: unknown;
}

/** Another version of a kind, which is converted when it is read or written. */
export interface KindVersion {
  readonly schema: { readonly spec: KindSchema; readonly status?: KindSchema };
  readonly deprecated?: boolean;
  /** From this version to the one that is stored. Metadata is not theirs to change. */
  toStored(object: KindObject<Record<string, unknown>, Record<string, unknown>>): { spec?: unknown; status?: unknown };
  /** From the one that is stored to this version. */
  fromStored(object: KindObject<Record<string, unknown>, Record<string, unknown>>): {
    spec?: unknown;
    status?: unknown;
  };
}

/** What a kind is called, what its objects look like, and what is done when one is written. */
export interface KindOptions<Spec extends KindSchema, Status extends KindSchema> {
  /** Such as `shop.example`. */
  readonly group: string;
  /** The version that is stored. Default: v1. */
  readonly version?: string;
  /** Such as `Widget`. */
  readonly kind: string;
  /** Default: the kind in lower case with an s. */
  readonly plural?: string;
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
  /** Default: Namespaced. */
  readonly scope?: "Namespaced" | "Cluster";
  readonly schema: { readonly spec: Spec; readonly status?: Status };
  /** What kubectl get shows. */
  readonly columns?: readonly {
    readonly name: string;
    readonly type: "string" | "integer" | "number" | "boolean" | "date";
    readonly jsonPath: string;
  }[];
  /** Other versions by their names. */
  readonly versions?: Readonly<Record<string, KindVersion>>;
  /** Fills in what the schema's defaults cannot. May change the object. */
  setDefaults?(object: KindObject<TypeOf<Spec>, TypeOf<Status>>): void;
  /** What is wrong, besides what the schema finds. `previous` is undefined when the object is created. */
  validate?(
    object: KindObject<TypeOf<Spec>, TypeOf<Status>>,
    previous: KindObject<TypeOf<Spec>, TypeOf<Status>> | undefined,
  ): readonly Problem[];
  /** The status that follows from the object, set with every write. */
  status?(object: KindObject<TypeOf<Spec>, TypeOf<Status>>): TypeOf<Status>;
}

/** A kind that `defineKind` made. `Object` is only a type: `type Widget = typeof Widgets.Object`. */
export interface DefinedKind<Spec, Status> extends CodedKind {
  readonly Object: KindObject<Spec, Status>;
  readonly apiVersion: string;
  readonly kind: string;
  readonly plural: string;
}

/**
 * A kind of your own in TypeScript: the schema gives the type of its objects, and functions do what data cannot. It is served
 * on the path that CustomResourceDefinitions take, with discovery, OpenAPI, apply, watch and columns. Functions see objects in
 * the stored version; what a client writes in another one keeps only what that version has words for.
 */
export function defineKind<const Spec extends KindSchema, const Status extends KindSchema = KindSchema>(
  options: KindOptions<Spec, Status>,
): DefinedKind<TypeOf<Spec>, TypeOf<Status>> {
  const { group, kind, version = "v1", plural = `${kind.toLowerCase()}s` } = options;
  const names = { plural, singular: kind.toLowerCase(), kind, listKind: `${kind}List` };
  const versions = [
    versionOf(version, options.schema, { storage: true }, options.columns),
    ...Object.entries(options.versions ?? {}).map(([name, one]) =>
      versionOf(name, one.schema, { storage: false, ...(one.deprecated ? { deprecated: true } : {}) }, undefined),
    ),
  ];
  const { shortNames, categories, scope = "Namespaced" } = options;
  const crd: CustomResourceDefinition = {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope,
      names: {
        ...names,
        ...(shortNames ? { shortNames: [...shortNames] } : {}),
        ...(categories ? { categories: [...categories] } : {}),
      },
      versions,
    },
  };
  const apiVersion = apiVersionOf(group, version);
  // Nobody reads it: it stands for a type.
  const Object_ = undefined as never;
  return { crd, hooks: hooksOf(options, apiVersion), Object: Object_, apiVersion, kind, plural };
}

type Version = NonNullable<NonNullable<CustomResourceDefinition["spec"]>["versions"]>[number];

function versionOf(
  name: string,
  schema: KindVersion["schema"],
  more: { readonly storage: boolean; readonly deprecated?: boolean },
  columns: KindOptions<KindSchema, KindSchema>["columns"],
): Version {
  const { spec, status } = schema;
  const properties = { spec, ...(status ? { status } : {}) } as unknown as Record<string, JsonSchemaProps>;
  return {
    name,
    served: true,
    ...more,
    schema: { openAPIV3Schema: { type: "object", properties } },
    ...(status ? { subresources: { status: {} } } : {}),
    ...(columns ? { additionalPrinterColumns: columns.map((column) => ({ ...column })) } : {}),
  };
}

function hooksOf<Spec extends KindSchema, Status extends KindSchema>(
  options: KindOptions<Spec, Status>,
  stored: string,
): ResourceHooks {
  type Own = KindObject<TypeOf<Spec>, TypeOf<Status>>;
  const { setDefaults, validate, status, versions, group } = options;
  const convert = (object: KubeObject, toApiVersion: string): KubeObject => {
    const { apiVersion } = object;
    if (apiVersion === toApiVersion) return object;
    const other = getMember(versions ?? {}, versionName(apiVersion === stored ? toApiVersion : apiVersion, group));
    const changed = apiVersion === stored ? other?.fromStored(object as never) : other?.toStored(object as never);
    return { ...object, ...changed, apiVersion: toApiVersion } as KubeObject;
  };
  // What was written in another version is shown to the functions of the kind in the one that they know.
  const own = (object: KubeObject) => convert(object, stored) as unknown as Own;
  return {
    ...((setDefaults || status) && {
      prepare(next, _previous, { subresource }) {
        const object = own(next);
        if (subresource === "") setDefaults?.(object);
        if (status) object.status = status(object);
        const back = convert(object as unknown as KubeObject, next.apiVersion);
        if (back !== next) for (const name of ["spec", "status"]) setMember(next, name, back[name]);
      },
    }),
    ...(validate && {
      validate(next, previous) {
        const object = own(next);
        const problems = validate(object, previous && own(previous));
        return problems.map((problem) => fieldError(object as unknown as KubeObject, problem));
      },
    }),
    ...(versions && { convert }),
  };
}

function setMember(object: KubeObject, name: string, value: Json | undefined): void {
  if (value === undefined) delete object[name];
  else object[name] = value;
}

const versionName = (apiVersion: string, group: string): string => apiVersion.slice(group.length + 1);

function fieldError(object: KubeObject, { field, message, value }: Problem): FieldError {
  const found = field
    .split(".")
    .reduce<unknown>((part, name) => (part as Record<string, unknown> | undefined)?.[name], object);
  return invalidField(field, value ?? found, message);
}
