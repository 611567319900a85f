import type { Json } from "../../base/api/object.ts";
import { getMember } from "../../base/util/members.ts";
import { parseJsonText } from "../../base/util/parse-json.ts";
import type { Schema, SchemaSource, SchemaType, Union, WireForm } from "./schema.ts";

/** One field in a schema file: its type text alone, or with further properties. */
type CompactField = string | CompactFacts;

interface CompactFacts {
  readonly is: string;
  readonly list?: "atomic" | "set" | "map";
  readonly keys?: readonly string[];
  readonly map?: "atomic" | "granular";
  readonly patch?: string;
  readonly mergeKey?: string;
  readonly enum?: readonly string[];
  /** Allowed values of list items or map values. */
  readonly elementEnum?: readonly string[];
  /** Null: no default, although the type text implies one. */
  readonly default?: Json;
}

interface CompactComponent {
  readonly type?: SchemaType;
  readonly format?: string;
  readonly oneOf?: readonly SchemaType[];
  readonly wire?: WireForm;
  /** Another component whose fields this one has if the value is an object. */
  readonly like?: string;
  /** Type text of the items if the value is a list. */
  readonly items?: string;
  readonly kinds?: readonly (readonly [group: string, version: string, kind: string])[];
  readonly map?: "atomic" | "granular";
  readonly unions?: readonly {
    readonly discriminator?: string;
    readonly "fields-to-discriminateBy"?: Record<string, string>;
  }[];
  readonly required?: readonly string[];
  readonly fields?: Readonly<Record<string, CompactField>>;
}

interface SchemaFile {
  readonly components: Readonly<Record<string, CompactComponent>>;
}

/** Finds a component of the same library. Throws if the schema files are inconsistent. */
type Resolve = (component: string) => Schema;

const SCALARS: ReadonlyMap<string, Schema> = new Map<string, Schema>([
  ["string", { type: "string" }],
  ["bytes", { type: "string", format: "byte" }],
  ["int32", { type: "integer", format: "int32" }],
  ["int64", { type: "integer", format: "int64" }],
  ["double", { type: "number", format: "double" }],
  ["bool", { type: "boolean" }],
]);
const ZERO: Readonly<Record<string, Json>> = { string: "", int32: 0, int64: 0, double: 0, bool: false };

/**
 * The schemas in the compact files that `read` returns by name. A file is read when one of its components is first
 * needed, and a component is built once. `read` returns undefined for a missing file.
 */
export function schemaLibrary(read: (fileName: string) => string | undefined): SchemaSource {
  const files = new Map<string, SchemaFile | undefined>();
  const nodes = new Map<string, Schema>();
  const resolve: Resolve = (component) => {
    const schema = find(component);
    if (schema === undefined) throw new Error(`the schema files refer to ${component} but do not contain it`);
    return schema;
  };
  const find: SchemaSource = (component) => {
    const known = nodes.get(component);
    if (known !== undefined) return known;
    const dot = component.lastIndexOf(".");
    const componentPackage = component.slice(0, dot);
    if (!files.has(componentPackage)) {
      const text = read(schemaFileName(componentPackage));
      files.set(componentPackage, text === undefined ? undefined : (parseJsonText(text) as SchemaFile));
    }
    const components = files.get(componentPackage)?.components;
    const name = component.slice(dot + 1);
    if (components === undefined || !Object.hasOwn(components, name)) return undefined;
    const compact = components[name];
    if (compact === undefined) return undefined;
    const schema = componentNode(component, compact, resolve);
    nodes.set(component, schema);
    return schema;
  };
  return find;
}

/** The file with the components of a package: `io.k8s.api.core.v1` → `core_v1.json`. */
export function schemaFileName(componentPackage: string): string {
  return `${componentPackage.split(".").slice(-2).join("_")}.json`;
}

function componentNode(component: string, compact: CompactComponent, resolve: Resolve): Schema {
  const componentPackage = component.slice(0, component.lastIndexOf("."));
  const { fields, like, items } = compact;
  const node = compactOf({
    component,
    type: fields === undefined ? compact.type : "object",
    format: compact.format,
    oneOf: compact.oneOf?.map((type) => ({ type })),
    wire: compact.wire,
    intOrString: compact.wire === "int-or-string" ? true : undefined,
    preserveUnknownFields: compact.wire === "raw-json" ? true : undefined,
    groupVersionKinds: compact.kinds?.map(([group, version, kind]) => ({ group, version, kind })),
    mapType: compact.map,
    unions: compact.unions?.map(
      (union): Union => ({ discriminator: union.discriminator, fields: union["fields-to-discriminateBy"] ?? {} }),
    ),
    required: compact.required,
    items: items === undefined ? undefined : shapeOf(componentPackage, items, resolve),
  });
  if (like !== undefined) return withProperties(node, () => resolve(`${componentPackage}${like}`).properties);
  if (fields === undefined) return node;
  return withProperties(
    node,
    () => new Map(Object.entries(fields).map(([name, field]) => [name, fieldNode(componentPackage, field, resolve)])),
  );
}

/** Properties are built on first access, because a type may contain itself. */
function withProperties(node: Schema, make: () => Schema["properties"]): Schema {
  let properties: Schema["properties"];
  const get = (): Schema["properties"] => {
    properties ??= make();
    return properties;
  };
  return Object.defineProperty(node, "properties", { enumerable: true, get });
}

/** Removes undefined members, so that a copy of the node overrides nothing. */
function compactOf(schema: Schema): Schema {
  return Object.fromEntries(Object.entries(schema).filter(([, value]) => value !== undefined));
}

/**
 * Type texts, by example:
 *   "3 string"       field 3; zero is the same as omitted and not written
 *   "3 string!"      field 3; zero is the same as omitted and written
 *   "3 *string"      field 3; zero and omitted differ
 *   "2.3 *.Other"    field 3 of the embedded message in field 2; component Other of the same package
 *   "4 {}[]int32"    field 4; a map of lists
 *   "4 [1]string"    field 4; a list that is a message with the items as field 1
 */
const TYPE_TEXT = /^(?:([\d.]+) )?(\*?)(.*?)(!?)$/;

function fieldNode(componentPackage: string, field: CompactField, resolve: Resolve): Schema {
  const facts: CompactFacts = typeof field === "string" ? { is: field } : field;
  const [, path = "", pointer, type = "", written] = TYPE_TEXT.exec(facts.is) ?? [];
  const shape = shapeOf(componentPackage, type, resolve);
  const numbers = path === "" ? [] : path.split(".").map(Number);
  const number = numbers.at(-1);
  const within = numbers.slice(0, -1);
  const isWritten = written === "!";
  const implied = isWritten ? impliedDefault(type, shape) : undefined;
  const local = compactOf({
    proto: number === undefined ? undefined : within.length === 0 ? { number } : { number, within },
    zero: isWritten ? "written" : pointer === "*" ? undefined : "omitted",
    default: facts.default === undefined ? implied : (facts.default ?? undefined),
    enum: facts.enum,
    listType: facts.list,
    listMapKeys: facts.keys,
    mapType: facts.map,
    patchStrategy: facts.patch?.split(","),
    patchMergeKey: facts.mergeKey,
  });
  return overlay(shape, { ...local, ...elementFacts(facts.elementEnum, shape) });
}

function elementFacts(values: readonly string[] | undefined, shape: Schema): Schema {
  if (values === undefined) return {};
  if (shape.items !== undefined) return { items: overlay(shape.items, { enum: values }) };
  if (shape.values === undefined || shape.values === true) return {};
  return { values: overlay(shape.values, { enum: values }) };
}

function impliedDefault(type: string, shape: Schema): Json | undefined {
  if (shape.component === undefined) return getMember(ZERO, type);
  return shape.wire === undefined ? {} : undefined;
}

/** Overlays the properties of `local` on those of `shape`, without evaluating lazy properties of `shape`. */
function overlay(shape: Schema, local: Schema): Schema {
  const descriptors = { ...Object.getOwnPropertyDescriptors(shape), ...Object.getOwnPropertyDescriptors(local) };
  return Object.defineProperties({}, descriptors);
}

function shapeOf(componentPackage: string, type: string, resolve: Resolve): Schema {
  const scalar = SCALARS.get(type);
  if (scalar !== undefined) return scalar;
  if (type.startsWith("[]")) return { type: "array", items: shapeOf(componentPackage, type.slice(2), resolve) };
  if (type.startsWith("[1]")) {
    return { type: "array", wire: "wrapped-list", items: shapeOf(componentPackage, type.slice(3), resolve) };
  }
  if (type.startsWith("{}")) return { type: "object", values: shapeOf(componentPackage, type.slice(2), resolve) };
  return resolve(type.startsWith(".") ? `${componentPackage}${type}` : type);
}
