import type { JsonObject } from "../../../base/api/object.ts";
import { addAll } from "../../../base/util/add-all.ts";
import type { GroupVersionKind, Schema, SchemaSource } from "../../../data/schema/schema.ts";
import { type Pause, visitInSteps } from "../../../resources/pace.ts";
import { type DescriptionSource, described, OBJECT_MEMBERS } from "./openapi-descriptions.ts";

const REF = "#/components/schemas/";
const META = "io.k8s.apimachinery.pkg.apis.meta.v1";
/** Schemas of kinds that exist in every group. */
const EVERYWHERE: readonly string[] = [`${META}.DeleteOptions`, `${META}.WatchEvent`];

/** A reference to a named schema of the same document. */
export function referenceTo(component: string): JsonObject {
  return { $ref: `${REF}${component}` };
}

/** Source of the schemas in documents. */
export interface ShapeSource {
  readonly component: SchemaSource;
  readonly descriptions: DescriptionSource;
  /** The group in which the kinds of a component package are served. Undefined: the group in their schemas. */
  groupOf(componentPackage: string): string | undefined;
  /** Built-in schemas that have been published before. Most documents share the same ones. */
  readonly published: Map<string, PublishedShape>;
}

/** A published schema and the names of the schemas that it references. */
export interface PublishedShape {
  readonly schema: JsonObject;
  readonly references: ReadonlySet<string>;
}

/** A version of a group. */
export interface GroupVersion {
  readonly group: string;
  readonly version: string;
}

/** Collects the named schemas of a document. */
export class PublishedSchemas {
  readonly #shapes: ShapeSource;
  readonly #groupVersions: readonly GroupVersion[];
  readonly #schemas = new Map<string, JsonObject>();
  /** Built-in schemas that are referenced but not published yet. */
  readonly #missing: string[] = [];
  readonly #prepared = new Map<Schema, JsonObject>();
  /** References of the schema that is being published. */
  #references = new Set<string>();

  /** `groupVersions`: the group versions listed in schemas that exist in every group. */
  constructor(shapes: ShapeSource, groupVersions: readonly GroupVersion[]) {
    this.#shapes = shapes;
    this.#groupVersions = groupVersions;
  }

  /** Returns a reference to a built-in schema. `all` adds the schema and everything it references. */
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

  /** Publishes what is inside of a custom resource's schema, with pauses. */
  async preparePart(schema: Schema, pause: Pause): Promise<void> {
    const publish = (one: Schema): void => void this.#prepared.set(one, this.#node(one));
    await visitInSteps(schema, schemasInside, publish, pause);
  }

  /** Adds the schemas of a custom resource and of its list. Returns references to both. */
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

  /** Returns all collected schemas by name. Pauses between schemas. */
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
    const prepared = this.#prepared.get(schema);
    if (prepared !== undefined) return prepared;
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

  /** Compat: a field keeps `default` and extensions beside `$ref`, so the reference is wrapped in an `allOf`. */
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

function schemasInside({ properties, items, values, allOf, anyOf, oneOf, not }: Schema): Schema[] {
  const found = [...(properties?.values() ?? [])];
  for (const one of [items, values, not]) if (one !== undefined && one !== true) found.push(one);
  for (const list of [allOf, anyOf, oneOf]) if (list !== undefined) addAll(found, list);
  // Named schemas are published by reference.
  return found.filter(({ component }) => component === undefined);
}

/** Names of a published custom resource. */
export interface CustomKinds extends GroupVersionKind {
  readonly listKind: string;
  /** Fields supported by `fieldSelector`. */
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

/** Returns a copy with members sorted by name. */
export function sorted(members: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(members).sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** Returns a copy without undefined members. */
export function withoutUndefined(members: JsonObject): JsonObject {
  const left: JsonObject = {};
  // Called for every schema of every document, so it avoids the array of Object.entries.
  for (const name in members) {
    const value = members[name];
    if (value !== undefined) left[name] = value;
  }
  return left;
}

/** The name of another kind's schema in the same package. */
export function siblingName(schemaName: string, kind: string): string {
  return schemaName.slice(0, schemaName.lastIndexOf(".") + 1) + kind;
}
