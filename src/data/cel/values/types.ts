/** cel-go's Kind of a type. */
export type TypeKind =
  | "bool"
  | "bytes"
  | "double"
  | "duration"
  | "dyn"
  | "error"
  | "int"
  | "list"
  | "map"
  | "null"
  | "opaque"
  | "string"
  | "struct"
  | "timestamp"
  | "type"
  | "param"
  | "uint";

/**
 * A CEL type, for the checker and the function `type()`. Opaque types are values of libraries, such as
 * optional_type(T). Struct types have declared fields.
 */
export class Type {
  readonly kind: TypeKind;
  /** The name at run time: list, map, optional_type, google.protobuf.Duration, or the name of a struct. */
  readonly name: string;
  readonly params: readonly Type[];
  /** Whether it contains a type parameter. */
  readonly isGeneric: boolean;
  /** The number of types in its notation, which can become large by nesting. */
  readonly weight: number;
  /** The number of a type parameter created by the checker. -1 for all other types. */
  readonly index: number;

  constructor(kind: TypeKind, name: string, params: readonly Type[] = [], index = -1) {
    this.kind = kind;
    this.index = index;
    this.name = name;
    this.params = params;
    let isGeneric = kind === "param";
    let weight = 1;
    for (const param of params) {
      isGeneric ||= param.isGeneric;
      weight += param.weight;
    }
    this.isGeneric = isGeneric;
    this.weight = weight;
  }

  /** Whether both are the same type with the same parameters: cel-go's IsExactType. */
  is(other: Type): boolean {
    if (this === other) return true;
    return (
      this.kind === other.kind &&
      this.name === other.name &&
      this.params.length === other.params.length &&
      this.params.every((param, i) => other.params[i] !== undefined && param.is(other.params[i]))
    );
  }

  /** The type as printed in messages of the checker: cel-go's FormatCELType. */
  toString(): string {
    if (this.kind === "error") return "!error!";
    const short = SHORT_NAMES.get(this.kind) ?? this.name;
    return this.params.length === 0 ? short : `${this.name}(${this.params.join(", ")})`;
  }

  /** The type as printed by cel-go's Type.String, which uses the long names of well-known types. */
  describe(): string {
    if (this.kind === "param") return `<${this.name}>`;
    if (this.params.length === 0) return this.name;
    return `${this.name}(${this.params.map((param) => param.describe()).join(", ")})`;
  }
}

const SHORT_NAMES: ReadonlyMap<TypeKind, string> = new Map<TypeKind, string>([
  ["duration", "duration"],
  ["timestamp", "timestamp"],
  ["null", "null"],
]);

/** The type of true and false. */
export const boolType = new Type("bool", "bool");
/** The type of byte sequences. */
export const bytesType = new Type("bytes", "bytes");
/** The type of 64-bit floating-point numbers. */
export const doubleType = new Type("double", "double");
/** google.protobuf.Duration. */
export const durationType = new Type("duration", "google.protobuf.Duration");
/** The type of values that is known only at run time. */
export const dynType = new Type("dyn", "dyn");
/** Any value, with the name that messages use for AnyType. */
export const anyType = new Type("dyn", "any");
/** The type of an expression with an error. Assignable to every type. */
export const errorType = new Type("error", "error");
/** The type of 64-bit signed integers. */
export const intType = new Type("int", "int");
/** The type of null. */
export const nullType = new Type("null", "null_type");
/** The type of strings. */
export const stringType = new Type("string", "string");
/** google.protobuf.Timestamp. */
export const timestampType = new Type("timestamp", "google.protobuf.Timestamp");
/** The type of 64-bit unsigned integers. */
export const uintType = new Type("uint", "uint");
/** The type of types. */
export const typeType = new Type("type", "type");

/** A list of elements of one type. */
export const listType = (element: Type): Type => new Type("list", "list", [element]);
/** A map from keys of one type to values of one type. */
export const mapType = (key: Type, value: Type): Type => new Type("map", "map", [key, value]);
/** An object with declared fields, which a `TypeProvider` knows. */
export const structType = (name: string): Type => new Type("struct", name);
/** A type whose values only its library understands. */
export const opaqueType = (name: string, ...params: readonly Type[]): Type => new Type("opaque", name, params);
/** A type parameter of an overload. */
export const paramType = (name: string): Type => new Type("param", name);
/** A type parameter created by the checker, with this number. */
export const freshType = (index: number): Type => new Type("param", `_var${index}`, [], index);
/** The type of a type, such as `type(x)` or a type name. */
export const typeOf = (type: Type): Type => new Type("type", "type", [type]);

/** The name of the opaque type of `optional.of(x)`. */
export const OPTIONAL = "optional_type";
/** optional_type(T), the type of `optional.of(x)` and `x.?y`. */
export const optionalType = (value: Type): Type => opaqueType(OPTIONAL, value);

/** Whether the type is dyn. */
export const isDyn = (type: Type): boolean => type.kind === "dyn";

/** T of optional_type(T), or undefined. */
export function unwrapOptional(type: Type): Type | undefined {
  return type.kind === "opaque" && type.name === OPTIONAL ? type.params[0] : undefined;
}
