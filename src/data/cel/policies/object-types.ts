import type { TypeProvider } from "../environment.ts";
import { equal } from "../values/equality.ts";
import { dynType, stringType, structType, type Type } from "../values/types.ts";
import { MapValue, type Value } from "../values/value.ts";

/** The type of `Object{…}`, which expressions create apply configurations with. */
export const objectType: Type = structType("Object");
/** The type of `JSONPatch{…}`. */
export const jsonPatchType: Type = structType("JSONPatch");

const isObjectName = (name: string) => name === "Object" || name.startsWith("Object.");

const PATCH_FIELDS: ReadonlyMap<string, Type> = new Map([
  ["op", stringType],
  ["path", stringType],
  ["from", stringType],
  ["value", dynType],
]);

/** Fields that an expression has set. */
abstract class FieldsValue extends MapValue {
  readonly fields: ReadonlyMap<string, Value>;

  constructor(fields: ReadonlyMap<string, Value>) {
    super();
    this.fields = fields;
  }
  get size(): number {
    return this.fields.size;
  }
  find(key: Value): Value | undefined {
    return typeof key === "string" ? this.fields.get(key) : undefined;
  }
  keys(): Iterable<Value> {
    return this.fields.keys();
  }
}

/** An object created by an expression. Its type is named after the path of its field: Object.spec.template. */
export class ObjectValue extends FieldsValue {
  readonly #type: Type;

  constructor(name: string, fields: ReadonlyMap<string, Value>) {
    super(fields);
    this.#type = structType(name);
  }
  override get type(): Type {
    return this.#type;
  }
  override equals(other: MapValue): boolean {
    if (!(other instanceof ObjectValue) || other.#type.name !== this.#type.name) return false;
    if (other.size !== this.size) return false;
    for (const [name, value] of this.fields) {
      const its = other.fields.get(name);
      if (its === undefined || !equal(value, its)) return false;
    }
    return true;
  }
}

/** One JSON patch operation created by an expression. */
export class JsonPatchValue extends FieldsValue {
  override get type(): Type {
    return jsonPatchType;
  }
}

/** Provides `Object`, the types of all objects within it, and `JSONPatch`. Upstream: `mutation.DynamicTypeResolver`. */
export const patchTypes: TypeProvider = {
  findType(name) {
    if (name === jsonPatchType.name) return jsonPatchType;
    return isObjectName(name) ? structType(name) : undefined;
  },
  findField(type, field) {
    return type === jsonPatchType.name ? PATCH_FIELDS.get(field) : isObjectName(type) ? dynType : undefined;
  },
  create(type, fields) {
    return type === jsonPatchType.name ? new JsonPatchValue(fields) : new ObjectValue(type, fields);
  },
};
