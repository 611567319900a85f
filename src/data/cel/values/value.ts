import {
  boolType,
  bytesType,
  doubleType,
  durationType,
  dynType,
  intType,
  listType,
  mapType,
  nullType,
  OPTIONAL,
  opaqueType,
  stringType,
  type Type,
  timestampType,
  typeType,
  uintType,
} from "./types.ts";

/** The category of a boxed value. Values of libraries are "foreign". Objects with declared fields are maps. */
export type BoxKind =
  | "bytes"
  | "double"
  | "duration"
  | "error"
  | "foreign"
  | "list"
  | "map"
  | "optional"
  | "timestamp"
  | "type"
  | "uint";

/** A value without a JavaScript equivalent. */
export abstract class Boxed {
  abstract readonly box: BoxKind;
  /** The type that `type(x)` returns and errors contain. */
  abstract get type(): Type;
  /** The Go type in some errors of cel-go, if the category does not determine it. */
  get goType(): string | undefined {
    return undefined;
  }
}

/**
 * A CEL value. An int is a number while that is exact, otherwise a bigint; see `intOf`. A double is a `Double`, so that
 * 1 and 1.0 differ. Errors are values until the end of an evaluation.
 */
export type Value = boolean | null | string | number | bigint | Boxed;

/** A double. */
export class Double extends Boxed {
  readonly box = "double";
  readonly value: number;
  constructor(value: number) {
    super();
    this.value = value;
  }
  get type(): Type {
    return doubleType;
  }
}

/** A uint. */
export class Uint extends Boxed {
  readonly box = "uint";
  readonly value: bigint;
  constructor(value: bigint) {
    super();
    this.value = value;
  }
  get type(): Type {
    return uintType;
  }
}

/** A byte sequence. */
export class Bytes extends Boxed {
  readonly box = "bytes";
  readonly data: Uint8Array;
  constructor(data: Uint8Array) {
    super();
    this.data = data;
  }
  get type(): Type {
    return bytesType;
  }
}

/** A duration in nanoseconds, within int64 like Go's time.Duration. */
export class Duration extends Boxed {
  readonly box = "duration";
  readonly nanos: bigint;
  constructor(nanos: bigint) {
    super();
    this.nanos = nanos;
  }
  get type(): Type {
    return durationType;
  }
}

/** A timestamp: seconds since 1970 and 0 to 999,999,999 nanoseconds. */
export class Timestamp extends Boxed {
  readonly box = "timestamp";
  readonly seconds: number;
  readonly nanos: number;
  /** The UTC offset of its original notation in seconds, which is also used for printing. */
  readonly offset: number;
  constructor(seconds: number, nanos: number, offset = 0) {
    super();
    this.seconds = seconds;
    this.nanos = nanos;
    this.offset = offset;
  }
  get type(): Type {
    return timestampType;
  }
}

/** The result of a failed operation. Only &&, ||, all() and exists() continue after an error. */
export class CelError extends Boxed {
  readonly box = "error";
  readonly message: string;
  constructor(message: string) {
    super();
    this.message = message;
  }
  get type(): Type {
    return errorValueType;
  }
}

const errorValueType = opaqueType("error");

/** A type as a value. */
export class TypeValue extends Boxed {
  readonly box = "type";
  readonly of: Type;
  constructor(of: Type) {
    super();
    this.of = of;
  }
  get type(): Type {
    return typeType;
  }
}

/** optional.of(value), or optional.none() with undefined. */
export class Optional extends Boxed {
  readonly box = "optional";
  readonly value: Value | undefined;
  constructor(value: Value | undefined) {
    super();
    this.value = value;
  }
  get type(): Type {
    return optionalOfDyn;
  }
}

const optionalOfDyn = opaqueType(OPTIONAL, dynType);

/** optional.none(). */
export const NONE: Optional = new Optional(undefined);

/** A list. Data sources subclass it to convert elements lazily, and to compare according to their list type. */
export abstract class ListValue extends Boxed {
  readonly box = "list";
  get type(): Type {
    return listOfDyn;
  }
  abstract readonly size: number;
  /** The element at a valid index. */
  abstract at(index: number): Value;
  /** Overrides `==`, if elements are not compared one by one in order, or errors matter. */
  equals?(other: Value): boolean | CelError;
  /** Overrides `in`. */
  contains?(value: Value): boolean | CelError;
  /** Whether optional.ofNonZeroValue() returns none for it. */
  isZero(): boolean {
    return this.size === 0;
  }
  /** Overrides `+`, if lists are not simply concatenated. */
  concat?(other: ListValue): Value;
}

/** A map, or an object with declared fields. Data sources subclass it to convert values lazily. */
export abstract class MapValue extends Boxed {
  readonly box = "map";
  get type(): Type {
    return mapOfDyn;
  }
  abstract readonly size: number;
  /** The value of a key. Undefined if there is none. An error if the key is invalid. */
  abstract find(key: Value): Value | undefined;
  /** Overrides has(), for objects whose missing fields have values. */
  has?(key: Value): boolean;
  abstract keys(): Iterable<Value>;
  /** Whether optional.ofNonZeroValue() returns none for it. */
  isZero(): boolean {
    return this.size === 0;
  }
  /** Overrides `==`. */
  equals?(other: Value): boolean | CelError;
}

const listOfDyn = listType(dynType);
const mapOfDyn = mapType(dynType, dynType);

/** A value that only a library understands, such as a quantity or an IP address. */
export abstract class Foreign extends Boxed {
  readonly box = "foreign";
  abstract override get type(): Type;
  /** `==` with a value of the same type. */
  abstract equals(other: Foreign): boolean | CelError;
  /** `==` with a value of another type. */
  equalsOther(other: Value): boolean | CelError {
    return noSuchOverload(other);
  }
  /** The size for cost tracking. Default: 1. */
  readonly size?: number;
  /** Whether the Go type contains slices or functions, and so cannot be a map key. */
  readonly isUnhashable?: boolean;
}

/** A list backed by an array. */
export class ArrayList extends ListValue {
  readonly items: readonly Value[];
  constructor(items: readonly Value[]) {
    super();
    this.items = items;
  }
  get size(): number {
    return this.items.length;
  }
  at(index: number): Value {
    return this.items[index] as Value;
  }
}

/**
 * A list of strings created by a function: cel-go's NewStringList, which some Go code of Kubernetes does not accept as
 * a list of values.
 */
export class TextList extends ArrayList {}

/** Whether the value is an error. */
export const isError = (value: Value): value is CelError => value instanceof CelError;

/** The error of an operation with unsupported operand types. */
export const NO_SUCH_OVERLOAD: CelError = new CelError("no such overload");

/** The value itself if it is an error, otherwise NO_SUCH_OVERLOAD. */
export const noSuchOverload = (value: Value): CelError => (isError(value) ? value : NO_SUCH_OVERLOAD);

/** Whether the value is an int. */
export const isInt = (value: Value): value is number | bigint => typeof value === "number" || typeof value === "bigint";

/** The int for a bigint within 64 bits. */
export function intOf(value: bigint): number | bigint {
  return value >= MIN_SAFE && value <= MAX_SAFE ? Number(value) : value;
}

const MIN_SAFE = BigInt(Number.MIN_SAFE_INTEGER);
const MAX_SAFE = BigInt(Number.MAX_SAFE_INTEGER);

/** The type of a value at run time. */
export function typeOfValue(value: Value): Type {
  switch (typeof value) {
    case "boolean":
      return boolType;
    case "string":
      return stringType;
    case "number":
    case "bigint":
      return intType;
    default:
      return value === null ? nullType : value.type;
  }
}

/** Ends an evaluation where cel-go panics. cel-go reports the panic as an error, too. */
export class InternalError extends Error {
  constructor(reason: string) {
    super(`internal error: ${reason}`);
  }
}

/** Throws InternalError if a value cannot be a key of a Go map. */
export function requireHashable(value: Value): void {
  if (typeof value !== "object" || value === null) return;
  const isHashable = !(value instanceof Bytes) && !(value instanceof Foreign && value.isUnhashable);
  if (!isHashable) {
    throw new InternalError(`runtime error: hash of unhashable type ${value.goType ?? "types.Bytes"}`);
  }
}
