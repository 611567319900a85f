/** What cel-go calls the Kind of a type. */
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
 * A type of CEL, as the checker and the function `type()` know it.
 * Opaque types are values of libraries, such as optional_type(T); struct types have declared fields.
 */
export class Type {
  readonly kind: TypeKind;
  /** The name at run time: list, map, optional_type, google.protobuf.Duration, the name of a struct. */
  readonly name: string;
  readonly params: readonly Type[];
  /** Whether a type parameter occurs in it. */
  readonly isGeneric: boolean;
  /** How many types it is written with; parameters of parameters can make that many. */
  readonly weight: number;
  /** The number of a type parameter that the checker made; -1 for all other types. */
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

  /** The same type with the same parameters: cel-go's IsExactType. */
  is(other: Type): boolean {
    if (this === other) return true;
    return (
      this.kind === other.kind &&
      this.name === other.name &&
      this.params.length === other.params.length &&
      this.params.every((param, i) => other.params[i] !== undefined && param.is(other.params[i]))
    );
  }

  /** The type as messages of the checker print it: cel-go's FormatCELType. */
  toString(): string {
    if (this.kind === "error") return "!error!";
    const short = SHORT_NAMES.get(this.kind) ?? this.name;
    return this.params.length === 0 ? short : `${this.name}(${this.params.join(", ")})`;
  }

  /** The type as cel-go's Type.String prints it, in which well-known types have their long name. */
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
/** The type of what is only known at run time. */
export const dynType = new Type("dyn", "dyn");
/** Any value, under the name that messages have for what is declared as AnyType. */
export const anyType = new Type("dyn", "any");
/** The type of an expression that has been refused already; it is assignable to every type. */
export const errorType = new Type("error", "error");
/** The type of 64-bit signed integers. */
export const intType = new Type("int", "int");
/** The type of null. */
export const nullType = new Type("null", "null_type");
/** The type of text. */
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
/** An object with declared fields; a `TypeProvider` knows them. */
export const structType = (name: string): Type => new Type("struct", name);
/** A type whose values only its library understands. */
export const opaqueType = (name: string, ...params: readonly Type[]): Type => new Type("opaque", name, params);
/** A type parameter of an overload. */
export const paramType = (name: string): Type => new Type("param", name);
/** A type parameter that the checker makes: the one of this number. */
export const freshType = (index: number): Type => new Type("param", `_var${index}`, [], index);
/** The type of a type: what `type(x)` and the name of a type have. */
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
