import { printGoFloat } from "../../../base/go/float.ts";
import {
  CelError,
  Double,
  isInt,
  ListValue,
  MapValue,
  Optional,
  typeOfValue,
  Uint,
  type Value,
} from "../values/value.ts";
import type { Frame, Run } from "./frame.ts";

/** A step into a value: .field, [index], .?field, [?index]. */
export interface Qualifier {
  /** The key, if it is constant. */
  readonly key?: Value;
  /** Computes the key otherwise. */
  readonly compute?: Run;
  /** Whether the result is an optional, which is none if the key does not exist. */
  readonly isOptional: boolean;
  /** Whether only the presence of the key is tested. */
  readonly isTest?: boolean;
}

/** The value at a key. Undefined if there is none. An error if the key is invalid. */
function lookup(value: Value, key: Value): Value | undefined {
  if (value instanceof MapValue) return value.find(key);
  if (value instanceof ListValue) return elementAt(value, key);
  return undefined;
}

function elementAt(list: ListValue, key: Value): Value | undefined {
  let index: number;
  if (typeof key === "number") index = key;
  else if (isInt(key)) return undefined;
  else if (key instanceof Uint) index = Number(key.value);
  else if (key instanceof Double && Number.isInteger(key.value)) index = key.value;
  else if (key instanceof Double) return new CelError(`unsupported index value ${show(key)} in list`);
  else return new CelError(`unsupported index type '${typeOfValue(key).name}' in list`);
  return index >= 0 && index < list.size ? list.at(index) : undefined;
}

function missing(value: Value, key: Value): CelError {
  return new CelError(value instanceof ListValue ? `index out of bounds: ${show(key)}` : `no such key: ${show(key)}`);
}

/** Compat: NewQualifier and evalFold of cel-go print the Go type of a value in their errors. */
const GO_TYPES: ReadonlyMap<string, string> = new Map([
  ["boolean", "types.Bool"],
  ["string", "types.String"],
  ["number", "types.Int"],
  ["bigint", "types.Int"],
  ["double", "types.Double"],
  ["uint", "types.Uint"],
  ["bytes", "types.Bytes"],
  ["duration", "types.Duration"],
  ["error", "*types.Err"],
  ["list", "*types.baseList"],
  ["map", "*types.baseMap"],
  ["optional", "*types.Optional"],
  ["timestamp", "types.Timestamp"],
  ["type", "*types.Type"],
]);

/** The error of a value that cannot be a key. */
export function invalidKey(key: Value): CelError | undefined {
  if (typeof key !== "object" || key instanceof Double || key instanceof Uint) return undefined;
  return new CelError(`invalid qualifier type: ${goTypeOf(key)}`);
}

/** The Go type of a value, such as types.Int. */
export function goTypeOf(value: Value): string {
  if (value === null) return "types.Null";
  if (typeof value === "object" && value.goType !== undefined) return value.goType;
  const name = typeof value === "object" ? value.box : typeof value;
  return GO_TYPES.get(name) ?? typeOfValue(value).name;
}

/** Prints a key like Go's %v. */
export function show(key: Value): string {
  if (key instanceof Double) return printGoFloat(key.value);
  if (key instanceof Uint) return key.value.toString();
  return typeof key === "object" && key !== null ? typeOfValue(key).name : String(key);
}

/** Applies qualifiers to a value. Each costs 1, whether the key exists or not. */
export function follow(base: Run, qualifiers: readonly Qualifier[]): Run {
  if (qualifiers.length === 0) return base;
  const [only] = qualifiers;
  if (qualifiers.length === 1 && typeof only?.key === "string" && !only.isOptional && !only.isTest) {
    return followField(base, qualifiers, only.key);
  }
  return (frame) => {
    const value = base(frame);
    return value instanceof CelError ? value : followAll(frame, value, qualifiers);
  };
}

/** The most frequent case, x.field. */
function followField(base: Run, qualifiers: readonly Qualifier[], field: string): Run {
  return (frame) => {
    const value = base(frame);
    if (!(value instanceof MapValue)) {
      return value instanceof CelError ? value : followAll(frame, value, qualifiers);
    }
    frame.charge(1);
    const found = value.find(field);
    return found === undefined ? missing(value, field) : found;
  };
}

function followAll(frame: Frame, base: Value, qualifiers: readonly Qualifier[]): Value {
  let value = base;
  let isOptional = false;
  if (value instanceof Optional) {
    if (value.value === undefined) return qualifiers[qualifiers.length - 1]?.isTest ? false : value;
    isOptional = true;
    value = value.value;
  }
  for (const qualifier of qualifiers) {
    isOptional ||= qualifier.isOptional;
    const key = qualifier.compute === undefined ? (qualifier.key as Value) : qualifier.compute(frame);
    const refused = key instanceof CelError ? key : invalidKey(key);
    if (refused !== undefined) {
      if (!isOptional) frame.charge(1);
      return refused;
    }
    const found = lookup(value, key);
    if (found instanceof CelError) {
      if (!isOptional || qualifier.isTest) frame.charge(1);
      return found;
    }
    if (qualifier.isTest) {
      if (!isOptional || found !== undefined) frame.charge(1);
      return value instanceof MapValue && value.has ? value.has(key) : found !== undefined;
    }
    if (found === undefined) {
      if (isOptional) return qualifiers[qualifiers.length - 1]?.isTest ? false : NONE;
      frame.charge(1);
      return missing(value, key);
    }
    frame.charge(1);
    value = found;
  }
  return isOptional ? new Optional(value) : value;
}

const NONE = new Optional(undefined);
