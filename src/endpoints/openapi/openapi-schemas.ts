import type { JsonObject } from "../../api/object.ts";
import type { Pause } from "../../resources/pace.ts";
import type { GroupVersionKind, Schema, SchemaSource } from "../../schema/schema.ts";
import { type DescriptionSource, described, OBJECT_MEMBERS } from "./openapi-descriptions.ts";

const REF = "#/components/schemas/";
const META = "io.k8s.apimachinery.pkg.apis.meta.v1";
/** Shapes of kinds that exist in every group. */
const EVERYWHERE: readonly string[] = [`${META}.DeleteOptions`, `${META}.WatchEvent`];

/** A reference to a named shape of the same document. */
export function referenceTo(component: string): JsonObject {
  return { $ref: `${REF}${component}` };
}

/** Where the shapes of documents come from. */
export interface ShapeSource {
  readonly component: SchemaSource;
  readonly descriptions: DescriptionSource;
  /** The group under which the kinds of a component package are served; undefined: as their shapes say. */
  groupOf(componentPackage: string): string | undefined;
  /** Built-in shapes that were published before: most documents need the same ones. */
  readonly published: Map<string, PublishedShape>;
}

/** A shape as it is published, and the shapes that it refers to. */
export interface PublishedShape {
  readonly schema: JsonObject;
  readonly references: ReadonlySet<string>;
}

/** A version of a group. */
export interface GroupVersion {
  readonly group: string;
  readonly version: string;
}

/** Collects the named shapes that one document needs. */
export class PublishedSchemas {
  readonly #shapes: ShapeSource;
  readonly #groupVersions: readonly GroupVersion[];
  readonly #schemas = new Map<string, JsonObject>();
  /** Built-in shapes that were referred to and are not published yet. */
  readonly #missing: string[] = [];
  /** What the shape that is being published has referred to so far. */
  #references = new Set<string>();

  /** `groupVersions` are those that shapes which every group has are published for. */
  constructor(shapes: ShapeSource, groupVersions: readonly GroupVersion[]) {
    this.#shapes = shapes;
    this.#groupVersions = groupVersions;
  }

  /** A reference to a built-in shape, which `all` adds together with everything it refers to. */
  reference(component: string): JsonObject {
    this.#references.add(component);
    if (!this.#schemas.has(component)) {
      this.#schemas.set(component, {});
      this.#missing.push(component);
    }
    return referenceTo(component);
  }

  #publish(component: string): JsonObject {
    const known = this.#shapes.published.get(component);
    if (known !== undefined) {
      for (const name of known.references) this.reference(name);
      return known.schema;
    }
    const shape = this.#shapes.component(component);
    if (shape === undefined) throw new Error(`no schema named ${component} to publish`);
    const references = new Set<string>();
    this.#references = references;
    const schema = this.#component(shape);
    if (!EVERYWHERE.includes(component)) this.#shapes.published.set(component, { schema, references });
    return schema;
  }

  /** Adds the shape of a custom resource and of its list; returns references to both. */
  custom(component: string, schema: Schema, kinds: CustomKinds): { object: JsonObject; list: JsonObject } {
    const { group, version, kind, listKind, selectableFields = [] } = kinds;
    const fields = selectableFields.map(({ name }) => ({ fieldPath: name }));
    const selectable: JsonObject = fields.length === 0 ? {} : { "x-kubernetes-selectable-fields": fields };
    const root = this.#node({ ...schema, properties: schema.properties ?? new Map() });
    const properties = { ...(root.properties as JsonObject), ...this.#objectMembers() };
    const order = (gvk: GroupVersionKind): JsonObject => ({ group: gvk.group, kind: gvk.kind, version: gvk.version });
    this.#schemas.set(component, {
      ...root,
      type: "object",
      properties: sorted(properties),
      "x-kubernetes-group-version-kind": [order({ group, version, kind })],
      ...selectable,
    });
    const listName = `${component.slice(0, component.lastIndexOf(".") + 1)}${listKind}`;
    this.#schemas.set(listName, {
      type: "object",
      required: ["items"],
      properties: {
        apiVersion: { type: "string" },
        items: { type: "array", items: referenceTo(component) },
        kind: { type: "string" },
        metadata: { allOf: [this.reference(`${META}.ListMeta`)] },
      },
      "x-kubernetes-group-version-kind": [order({ group, version, kind: listKind })],
      ...selectable,
    });
    return { object: referenceTo(component), list: referenceTo(listName) };
  }

  /** All shapes that are needed, by name. Pauses between shapes. */
  async all(pause: Pause): Promise<JsonObject> {
    for (let component = this.#missing.pop(); component !== undefined; component = this.#missing.pop()) {
      this.#schemas.set(component, this.#publish(component));
      await pause();
    }
    return sorted(Object.fromEntries(this.#schemas));
  }

  #component(schema: Schema): JsonObject {
    const { component = "" } = schema;
    const kinds = EVERYWHERE.includes(component) ? this.#kindsEverywhere(component) : schema.groupVersionKinds;
    const facts = this.#node({ ...schema, component: undefined, properties: schema.properties });
    const published = described(facts, component, kinds !== undefined, this.#shapes.descriptions);
    if (kinds !== undefined) {
      const served = this.#shapes.groupOf(component.slice(0, component.lastIndexOf(".")));
      published["x-kubernetes-group-version-kind"] = kinds.map(({ group, kind, version }) => ({
        group: served ?? group,
        kind,
        version,
      }));
    }
    return published;
  }

  #kindsEverywhere(component: string): GroupVersionKind[] {
    const kind = component.slice(component.lastIndexOf(".") + 1);
    return this.#groupVersions.map(({ group, version }) => ({ group, version, kind }));
  }

  #node(schema: Schema): JsonObject {
    if (schema.component !== undefined) return this.reference(schema.component);
    const isPlain = schema.wire === undefined || schema.wire === "wrapped-list";
    const published: JsonObject = isPlain ? this.#facts(schema) : { type: schema.type, format: schema.format };
    if (schema.oneOf !== undefined) published.oneOf = schema.oneOf.map((one) => this.#node(one));
    if (schema.default !== undefined) published.default = schema.default;
    return withoutUndefined(published);
  }

  #facts(schema: Schema): JsonObject {
    const isEmbedded = schema.embeddedResource === true;
    const properties = schema.properties === undefined ? undefined : this.#properties(schema.properties);
    const integerOrString = schema.intOrString === true ? [{ type: "integer" }, { type: "string" }] : undefined;
    const required = isEmbedded ? [...new Set(["kind", "apiVersion", ...(schema.required ?? [])])] : schema.required;
    return {
      ...describing(schema),
      ...checks(schema),
      properties: isEmbedded ? sorted({ ...properties, ...this.#objectMembers() }) : properties,
      required: required === undefined || required.length === 0 ? undefined : [...required],
      items: schema.items === undefined ? undefined : this.#node(schema.items),
      additionalProperties: this.#additionalProperties(schema),
      allOf: schema.allOf?.map((one) => this.#node(one)),
      anyOf: schema.anyOf?.map((one) => this.#node(one)) ?? integerOrString,
      not: schema.not === undefined ? undefined : this.#node(schema.not),
      ...extensions(schema),
    };
  }

  #additionalProperties({ values, forbidsOthers }: Schema): JsonObject | boolean | undefined {
    if (forbidsOthers === true) return false;
    return values === undefined || values === true ? values : this.#node(values);
  }

  #objectMembers(): JsonObject {
    return {
      apiVersion: { description: OBJECT_MEMBERS.apiVersion, type: "string" },
      kind: { description: OBJECT_MEMBERS.kind, type: "string" },
      metadata: { description: OBJECT_MEMBERS.metadata, allOf: [this.reference(`${META}.ObjectMeta`)] },
    };
  }

  #properties(properties: ReadonlyMap<string, Schema>): JsonObject {
    const published: JsonObject = {};
    for (const name of [...properties.keys()].sort()) {
      const schema = properties.get(name);
      if (schema !== undefined) published[name] = this.#property(schema);
    }
    return published;
  }

  /** Compat: a field keeps `default` and extensions beside `$ref`, which is why the reference stands in an `allOf`. */
  #property(schema: Schema): JsonObject {
    if (schema.component === undefined) return this.#node(schema);
    const shape = this.#shapes.component(schema.component);
    const own = extensions({ ...schema, mapType: schema.mapType === shape?.mapType ? undefined : schema.mapType });
    return withoutUndefined({
      default: schema.default,
      allOf: [this.reference(schema.component)],
      "x-kubernetes-map-type": own["x-kubernetes-map-type"],
      "x-kubernetes-patch-merge-key": own["x-kubernetes-patch-merge-key"],
      "x-kubernetes-patch-strategy": own["x-kubernetes-patch-strategy"],
    });
  }
}

/** The names under which a custom resource is published. */
export interface CustomKinds extends GroupVersionKind {
  readonly listKind: string;
  /** What `fieldSelector` may name. */
  readonly selectableFields?: readonly { readonly name: string }[];
}

function describing(schema: Schema): JsonObject {
  const { description, title, type, format, nullable, example, externalDocs } = schema;
  const values = schema.enum === undefined ? undefined : [...schema.enum];
  return {
    description,
    title,
    type,
    format,
    nullable: nullable === true ? true : undefined,
    enum: values,
    example,
    externalDocs,
  };
}

function checks(schema: Schema): JsonObject {
  const { maximum, exclusiveMaximum, minimum, exclusiveMinimum, multipleOf, maxLength, minLength, pattern } = schema;
  const { maxItems, minItems, uniqueItems, maxProperties, minProperties } = schema;
  return {
    ...{ maximum, exclusiveMaximum, minimum, exclusiveMinimum, multipleOf, maxLength, minLength, pattern },
    ...{ maxItems, minItems, uniqueItems, maxProperties, minProperties },
  };
}

function extensions(schema: Schema): JsonObject {
  return {
    "x-kubernetes-embedded-resource": schema.embeddedResource,
    "x-kubernetes-int-or-string": schema.intOrString,
    "x-kubernetes-list-map-keys": schema.listMapKeys === undefined ? undefined : [...schema.listMapKeys],
    "x-kubernetes-list-type": schema.listType,
    "x-kubernetes-map-type": schema.mapType,
    "x-kubernetes-patch-merge-key": schema.patchMergeKey,
    "x-kubernetes-patch-strategy": schema.patchStrategy?.join(","),
    "x-kubernetes-preserve-unknown-fields": schema.preserveUnknownFields,
    "x-kubernetes-unions": schema.unions?.map((union) =>
      withoutUndefined({ discriminator: union.discriminator, "fields-to-discriminateBy": { ...union.fields } }),
    ),
    "x-kubernetes-validations": schema.validations?.map((rule) => ({ ...rule }) as JsonObject),
  };
}

/** The same object with its members in the order of their names. */
export function sorted(members: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(members).sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** The same object without members that are undefined; JSON has no such thing. */
export function withoutUndefined(members: JsonObject): JsonObject {
  const left: JsonObject = {};
  // For every schema of every document: without a list of entries in between.
  for (const name in members) {
    const value = members[name];
    if (value !== undefined) left[name] = value;
  }
  return left;
}

/** The name of another kind's schema in the package of this one. */
export function siblingName(schemaName: string, kind: string): string {
  return schemaName.slice(0, schemaName.lastIndexOf(".") + 1) + kind;
}
