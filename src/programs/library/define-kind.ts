import { type FieldError, invalidField } from "../../base/api/field-error.ts";
import { apiVersionOf, type Json, type JsonObject, type KubeObject } from "../../base/api/object.ts";
import { getMember } from "../../base/util/members.ts";
import { validateBySchema } from "../../data/schema/structural/validate.ts";
import { structuralSchema } from "../../data/schema/structural-schema.ts";
import type { CodedKind } from "../../kinds/custom/coded-kind.ts";
import type { CustomResourceDefinition, JsonSchemaProps } from "../../kinds/types/custom-resource-definition.ts";
import type { ResourceHooks } from "../../resources/model/definition.ts";
import type { KindInput, KindObject, KindReference, StoredObject } from "./kind-types.ts";
import type { InputOf, KindSchema, TypeOf } from "./schema-types.ts";

/** A validation error. */
export interface Problem {
  /** Path of the field, such as `spec.size`. */
  readonly field: string;
  readonly message: string;
  /** The invalid value. Default: the value at `field`. */
  readonly value?: unknown;
}

/** Another version of a kind. Objects are converted when they are read or written. */
export interface KindVersion {
  readonly schema: { readonly spec: KindSchema; readonly status?: KindSchema };
  readonly deprecated?: boolean;
  /** Converts from this version to the stored one. Must not change metadata. */
  toStored(object: KindObject<Record<string, unknown>, Record<string, unknown>>): { spec?: unknown; status?: unknown };
  /** Converts from the stored version to this one. */
  fromStored(object: KindObject<Record<string, unknown>, Record<string, unknown>>): {
    spec?: unknown;
    status?: unknown;
  };
}

/** The names, schemas and functions of a kind. */
export interface KindOptions<Spec extends KindSchema, Status extends KindSchema | undefined> {
  /** API group, such as `shop.example`. */
  readonly group: string;
  /** The stored version. Default: v1. */
  readonly version?: string;
  /** Name of the kind, such as `Widget`. */
  readonly kind: string;
  /** Default: the kind in lower case with an s. */
  readonly plural?: string;
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
  /** Default: Namespaced. */
  readonly scope?: "Namespaced" | "Cluster";
  readonly schema: { readonly spec: Spec; readonly status?: Status };
  /** Columns of kubectl get. */
  readonly columns?: readonly {
    readonly name: string;
    readonly type: "string" | "integer" | "number" | "boolean" | "date";
    readonly jsonPath: string;
  }[];
  /** Other versions by name. */
  readonly versions?: Readonly<Record<string, KindVersion>>;
  /** Sets defaults that the schema cannot express. May change the object. */
  setDefaults?(object: KindObject<TypeOf<Spec>, StatusOf<Status>>): void;
  /** Returns validation errors, in addition to those of the schema. `previous` is undefined on create. */
  validate?(
    object: KindObject<TypeOf<Spec>, StatusOf<Status>>,
    previous: KindObject<TypeOf<Spec>, StatusOf<Status>> | undefined,
  ): readonly Problem[];
  /** Computes the status from the object, on every write. */
  status?(object: KindObject<TypeOf<Spec>, StatusOf<Status>>): StatusOf<Status>;
}

/** The type of the status: undefined if the kind has no schema for it. */
export type StatusOf<Status> = Status extends KindSchema ? TypeOf<Status> : undefined;

/**
 * A kind that `defineKind` made. `Object` and `Input` are only types: `type Widget = typeof Widgets.Object` has all defaults, and
 * in `type NewWidget = typeof Widgets.Input` members with a default are optional.
 */
export interface DefinedKind<Spec, Status, NewSpec = Spec>
  extends CodedKind,
    KindReference<StoredObject<Spec, Status>, KindInput<NewSpec>> {
  readonly Object: StoredObject<Spec, Status>;
  readonly Input: KindInput<NewSpec>;
  readonly scope: "Namespaced" | "Cluster";
}

/**
 * Defines a kind in TypeScript: the types of its objects are derived from the schema, and functions add defaults, validation, status
 * and conversion. It is served like a kind of a CustomResourceDefinition, with discovery, OpenAPI, apply, watch and columns. Functions
 * receive objects in the stored version. Fields that a client's version does not have are lost when it writes.
 */
export function defineKind<const Spec extends KindSchema, const Status extends KindSchema | undefined = undefined>(
  options: KindOptions<Spec, Status>,
): DefinedKind<TypeOf<Spec>, StatusOf<Status>, InputOf<Spec>> {
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
  // Never read: they only carry types.
  const types = { Object: undefined as never, Input: undefined as never };
  return { crd, hooks: hooksOf(options, apiVersion), ...types, apiVersion, kind, plural, scope };
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
    schema: { openAPIV3Schema: { type: "object", required: ["spec"], properties } },
    ...(status ? { subresources: { status: {} } } : {}),
    ...(columns ? { additionalPrinterColumns: columns.map((column) => ({ ...column })) } : {}),
  };
}

function hooksOf<Spec extends KindSchema, Status extends KindSchema | undefined>(
  options: KindOptions<Spec, Status>,
  stored: string,
): ResourceHooks {
  type Own = KindObject<TypeOf<Spec>, StatusOf<Status>>;
  const { setDefaults, validate, status, versions, group } = options;
  const convert = (object: KubeObject, toApiVersion: string): KubeObject => {
    const { apiVersion } = object;
    if (apiVersion === toApiVersion) return object;
    const other = getMember(versions ?? {}, versionName(apiVersion === stored ? toApiVersion : apiVersion, group));
    const changed = apiVersion === stored ? other?.fromStored(object as never) : other?.toStored(object as never);
    return { ...object, ...changed, apiVersion: toApiVersion } as KubeObject;
  };
  // Functions of the kind receive objects in the stored version.
  const own = (object: KubeObject) => convert(object, stored) as unknown as Own;
  /** Calls functions that expect a valid spec. If they fail because of an invalid one, the schema rejects it afterwards. */
  const unlessInvalid = <Result>({ spec }: Own, call: () => Result): Result | undefined => {
    try {
      return call();
    } catch (error) {
      const schema = structuralSchema(options.schema.spec as unknown as JsonObject);
      if (spec !== undefined && validateBySchema(schema, spec as Json).length === 0) throw error;
      return undefined;
    }
  };
  return {
    ...((setDefaults || status) && {
      prepare(next, _previous, { subresource }) {
        const object = own(next);
        unlessInvalid(object, () => {
          if (subresource === "") setDefaults?.(object);
          if (status) object.status = status(object);
        });
        const back = convert(object as unknown as KubeObject, next.apiVersion);
        if (back !== next) for (const name of ["spec", "status"]) setMember(next, name, back[name]);
      },
    }),
    ...(validate && {
      validate(next, previous) {
        const object = own(next);
        const problems = unlessInvalid(object, () => validate(object, previous && own(previous))) ?? [];
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
