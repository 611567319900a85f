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

/** What a boxed value is; libraries' values are "foreign", objects with declared fields are maps. */
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

/** A value that no value of JavaScript's own stands for. */
export abstract class Boxed {
  abstract readonly box: BoxKind;
  /** The type that `type(x)` yields and errors name. */
  abstract get type(): Type;
  /** The Go type that some errors of cel-go name, where the box does not tell. */
  get goType(): string | undefined {
    return undefined;
  }
}

/**
 * A value of CEL. An int is a number as long as that is exact, and a bigint beyond; see `intOf`.
 * A double is a `Double`, so that 1 and 1.0 stay apart. Errors are values until the end of an evaluation.
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

/** A sequence of bytes. */
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

/** A duration, in nanoseconds within the range of an int64, as Go's time.Duration. */
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

/** A point in time: seconds since 1970 and 0 to 999,999,999 nanoseconds. */
export class Timestamp extends Boxed {
  readonly box = "timestamp";
  readonly seconds: number;
  readonly nanos: number;
  /** Seconds east of UTC where it was written; texts made of it are written there, too. */
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

/** What an operation yields that failed. Only &&, ||, all() and exists() go on after one. */
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

/**
 * A list. Sources of data subclass it to convert elements when they are read, and to compare as their list type does.
 */
export abstract class ListValue extends Boxed {
  readonly box = "list";
  get type(): Type {
    return listOfDyn;
  }
  abstract readonly size: number;
  /** The element at an index within the bounds. */
  abstract at(index: number): Value;
  /** Overrides `==` where elements count in another way than one by one in order, or errors count. */
  equals?(other: Value): boolean | CelError;
  /** Overrides `in`. */
  contains?(value: Value): boolean | CelError;
  /** Whether optional.ofNonZeroValue() takes it for none. */
  isZero(): boolean {
    return this.size === 0;
  }
  /** Overrides `+` where both lists are merged in another way than one after the other. */
  concat?(other: ListValue): Value;
}

/** A map, or an object with declared fields. Sources of data subclass it to convert values when they are read. */
export abstract class MapValue extends Boxed {
  readonly box = "map";
  get type(): Type {
    return mapOfDyn;
  }
  abstract readonly size: number;
  /** The value of a key, or undefined; an error for a key that cannot be one. */
  abstract find(key: Value): Value | undefined;
  abstract keys(): Iterable<Value>;
  /** Whether optional.ofNonZeroValue() takes it for none. */
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
  /** `==`; the other value has the same type. */
  abstract equals(other: Foreign): boolean | CelError;
  /** `==` with a value of another type. */
  equalsOther(other: Value): boolean | CelError {
    return noSuchOverload(other);
  }
  /** What sizes are counted by, in costs; 1 if it has none. */
  readonly size?: number;
  /** Whether the Go type holds slices or functions, and is no key of a map. */
  readonly isUnhashable?: boolean;
}

/** A list of values that are there. */
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

/** A list of texts that a function has made: cel-go's NewStringList, which some of Kubernetes' Go code does not take for a list of values. */
export class TextList extends ArrayList {}

/** Whether it is an error. */
export const isError = (value: Value): value is CelError => value instanceof CelError;

/** The error of an operation that has no such operands. */
export const NO_SUCH_OVERLOAD: CelError = new CelError("no such overload");

/** The value itself if it is an error already, else the error for operands of no such types. */
export const noSuchOverload = (value: Value): CelError => (isError(value) ? value : NO_SUCH_OVERLOAD);

/** Whether the value is an int. */
export const isInt = (value: Value): value is number | bigint => typeof value === "number" || typeof value === "bigint";

/** The int for a bigint that lies within 64 bits. */
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

/** Ends an evaluation where cel-go panics, which it answers as an error, too. */
export class InternalError extends Error {
  constructor(reason: string) {
    super(`internal error: ${reason}`);
  }
}

/** Throws for a value that is no key of a Go map. */
export function requireHashable(value: Value): void {
  if (typeof value !== "object" || value === null) return;
  const isHashable = !(value instanceof Bytes) && !(value instanceof Foreign && value.isUnhashable);
  if (!isHashable) {
    throw new InternalError(`runtime error: hash of unhashable type ${value.goType ?? "types.Bytes"}`);
  }
}
