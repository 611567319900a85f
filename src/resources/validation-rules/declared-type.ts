import type { TypeProvider } from "../../data/cel/environment.ts";
import {
  boolType,
  bytesType,
  doubleType,
  durationType,
  dynType,
  intType,
  listType,
  mapType,
  stringType,
  structType,
  type Type,
  timestampType,
} from "../../data/cel/values/types.ts";
import type { Schema } from "../../data/schema/schema.ts";
import { escapeName } from "./escaping.ts";

/** The CEL type information of a schema. Upstream: `apiservercel.DeclType`. */
export interface DeclaredType {
  /** The type, unless it is composite. */
  readonly simple?: Type;
  /** Fields of an object, by their escaped names. */
  readonly fields?: ReadonlyMap<string, DeclaredType>;
  readonly element?: DeclaredType;
  readonly isMap?: boolean;
  /** Maximum number of characters, items or members that fit into a request. */
  readonly maxElements: number;
  /** Minimum size of a value in bytes of JSON. */
  readonly minSize: number;
}

/** The request size that cost estimates assume. */
export const MAX_REQUEST: number = 3 * 1024 * 1024;
const MAX_NAME = 253;

const simple = (type: Type, minSize: number, maxElements = 0): DeclaredType => ({ simple: type, minSize, maxElements });

const KEY = simple(stringType, 2);

/** The properties of a schema. Undefined if empty, as in upstream's Structural. */
export function propertiesOf({ properties }: Schema): ReadonlyMap<string, Schema> | undefined {
  return properties !== undefined && properties.size > 0 ? properties : undefined;
}

/** Adds the fields that every object has and expressions may use. Upstream: `WithTypeAndObjectMeta`. */
export function withTypeMeta(schema: Schema): Schema {
  const metadata = schema.properties?.get("metadata")?.properties;
  const capped = (name: string, max: number): Schema => ({
    type: "string",
    maxLength: Math.min(metadata?.get(name)?.maxLength ?? max, max),
  });
  const properties = new Map(schema.properties);
  properties.set("kind", { type: "string" });
  properties.set("apiVersion", { type: "string" });
  properties.set("metadata", {
    type: "object",
    properties: new Map([
      ["name", capped("name", MAX_NAME)],
      ["generateName", capped("generateName", MAX_NAME - 1)],
    ]),
  });
  return { ...schema, properties };
}

/** The declared type of a schema. Undefined if it has none. Upstream: `SchemaDeclType`. */
export function declaredType(given: Schema, isRoot: boolean): DeclaredType | undefined {
  if (given.intOrString) return simple(dynType, 1, textLength(given));
  const schema = isRoot ? withTypeMeta(given) : given;
  switch (schema.type) {
    case "array": {
      if (schema.items === undefined) return undefined;
      const element = declaredType(schema.items, schema.items.embeddedResource === true);
      if (element === undefined) return undefined;
      const fitting = Math.floor((MAX_REQUEST - 2) / (element.minSize + 1));
      return { element, maxElements: atLeastZero(schema.maxItems) ?? fitting, minSize: 2 };
    }
    case "object":
      return typeof schema.values === "object" ? mapOf(schema, schema.values) : objectOf(schema);
    case "string":
      return textOf(schema);
    case "boolean":
      return simple(boolType, 4);
    case "number":
      return simple(doubleType, 1);
    case "integer":
      return simple(intType, 1);
    default:
      return undefined;
  }
}

const atLeastZero = (value: number | undefined) => (value === undefined ? undefined : Math.max(0, value));

function mapOf(schema: Schema, values: Schema): DeclaredType | undefined {
  const element = declaredType(values, values.embeddedResource === true);
  if (element === undefined) return undefined;
  const fitting = Math.floor((MAX_REQUEST - 2) / (element.minSize + 6));
  return { element, isMap: true, maxElements: atLeastZero(schema.maxProperties) ?? fitting, minSize: 2 };
}

function objectOf(schema: Schema): DeclaredType {
  const fields = new Map<string, DeclaredType>();
  const required = new Set(schema.required);
  let minSize = 2;
  for (const [name, property] of schema.properties ?? []) {
    const type = declaredType(property, property.embeddedResource === true);
    if (type === undefined) continue;
    const escaped = escapeName(name);
    if (escaped !== undefined) fields.set(escaped, type);
    if (required.has(name) && property.default === undefined) minSize += Buffer.byteLength(name) + type.minSize + 4;
  }
  return { fields, maxElements: 0, minSize };
}

function textLength({ maxLength }: Schema): number {
  return maxLength === undefined ? MAX_REQUEST - 2 : Math.max(0, maxLength) * 4;
}

function textOf(schema: Schema): DeclaredType {
  switch (schema.format) {
    case "byte":
      return simple(bytesType, 2, atLeastZero(schema.maxLength) ?? MAX_REQUEST - 2);
    case "duration":
      return simple(durationType, 3, 32);
    case "date":
      return simple(timestampType, 12, 12);
    case "date-time":
      return simple(timestampType, 21, 32);
    default:
  }
  if (schema.maxLength === undefined && schema.enum !== undefined && schema.enum.length > 0) {
    const lengths = schema.enum.map((one) => (typeof one === "string" ? Buffer.byteLength(one) : 0));
    return simple(
      stringType,
      2,
      lengths.reduce((a, b) => Math.max(a, b), 0),
    );
  }
  return simple(stringType, 2, textLength(schema));
}

/** Upstream: findScalar. CEL itself has other names: google.protobuf.Duration and google.protobuf.Timestamp. */
const SCALARS: ReadonlyMap<string, Type> = new Map([
  ["duration", durationType],
  ["timestamp", timestampType],
]);

/** Provides the names and fields of object types, as used in messages. */
export class DeclaredTypes implements TypeProvider {
  readonly isWithoutTypeValues = true;
  readonly #objects = new Map<string, { readonly type: Type; readonly fields: Map<string, Type> }>();

  /** The CEL type of a declared type. Upstream: `MaybeAssignTypeName`. */
  typeOf(declared: DeclaredType, name: string): Type {
    if (declared.simple !== undefined) return declared.simple;
    if (declared.element !== undefined) {
      const element = this.typeOf(declared.element, `${name}.${declared.isMap ? "@elem" : "@idx"}`);
      return declared.isMap ? mapType(stringType, element) : listType(element);
    }
    const type = structType(name);
    const fields = new Map<string, Type>();
    this.#objects.set(name, { type, fields });
    for (const [field, below] of declared.fields ?? []) fields.set(field, this.typeOf(below, `${name}.${field}`));
    return type;
  }

  findType(name: string): Type | undefined {
    return this.#objects.get(name)?.type ?? SCALARS.get(name);
  }

  findField(type: string, field: string): Type | undefined {
    return this.#objects.get(type)?.fields.get(field);
  }
}

/** The declared type at the end of a path from the variable. Undefined if it is unknown. */
export function followPath(root: DeclaredType, path: readonly string[]): DeclaredType | undefined {
  let current: DeclaredType | undefined = root;
  for (const name of path.slice(1)) {
    if (current === undefined) return undefined;
    if (name === "@items" || name === "@values") current = current.element;
    else if (name === "@keys") current = current.isMap ? KEY : undefined;
    else current = current.fields?.get(name);
  }
  return current;
}
