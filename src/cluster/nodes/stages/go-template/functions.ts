import { isObject, type Json } from "../../../../base/api/object.ts";
import type { TemplateFunctions, Value } from "./evaluate.ts";
import { isTrue, printValue } from "./values.ts";

const text = (value: Value): string => (value === undefined || value === null ? "" : printValue(value));
const number = (value: Value): number => Number(text(value)) || 0;
const compared = (test: (order: number) => boolean) => (one: Value, other: Value) => {
  const isText = typeof one === "string" && typeof other === "string";
  return test(isText ? (one < other ? -1 : one > other ? 1 : 0) : number(one) - number(other));
};
const isEqual = (one: Value, other: Value): boolean => (one ?? null) === (other ?? null);

/** `%s`, `%v`, `%d` and `%q` of Go's fmt. */
function printf(format: Value, ...args: readonly Value[]): string {
  let next = 0;
  return text(format).replace(/%([svdq%])/g, (_, verb: string) => {
    if (verb === "%") return "%";
    const value = args[next++];
    return verb === "q" ? JSON.stringify(text(value)) : printValue(value);
  });
}

function index(value: Value, ...keys: readonly Value[]): Value {
  let at = value;
  for (const key of keys) {
    if (Array.isArray(at) && typeof key === "number") {
      if (key < 0 || key >= at.length) throw new Error(`error calling index: index out of range: ${key}`);
      at = at[key];
    } else at = isObject(at) && Object.hasOwn(at, text(key)) ? at[text(key)] : undefined;
  }
  return at;
}

function lengthOf(value: Value): number {
  if (Array.isArray(value) || typeof value === "string") return value.length;
  return isObject(value) ? Object.keys(value).length : 0;
}

function dict(...pairs: readonly Value[]): Json {
  const made: { [name: string]: Json } = {};
  for (let at = 0; at < pairs.length; at += 2) made[text(pairs[at])] = pairs[at + 1] ?? "";
  return made;
}

/** Functions of text/template, and those of Sprig that need neither time nor randomness. */
export const templateFunctions: TemplateFunctions = {
  not: (value) => !isTrue(value),
  eq: (one, ...others) => others.some((other) => isEqual(one, other)),
  ne: (one, other) => !isEqual(one, other),
  lt: compared((order) => order < 0),
  le: compared((order) => order <= 0),
  gt: compared((order) => order > 0),
  ge: compared((order) => order >= 0),
  index,
  len: lengthOf,
  print: (...args) => args.map(printValue).join(""),
  println: (...args) => `${args.map(printValue).join(" ")}\n`,
  printf,
  dict,
  list: (...items) => items.map((item) => item ?? null),
  default: (otherwise, value) => (isTrue(value) ? value : otherwise),
  empty: (value) => !isTrue(value),
  coalesce: (...values) => values.find(isTrue),
  ternary: (one, other, test) => (isTrue(test) ? one : other),
  hasKey: (object, key) => isObject(object) && Object.hasOwn(object, text(key)),
  get: (object, key) => index(object, key) ?? "",
  quote: (value) => JSON.stringify(text(value)),
  squote: (value) => `'${text(value)}'`,
  toString: text,
  toJson: (value) => JSON.stringify(value ?? null),
  upper: (value) => text(value).toUpperCase(),
  lower: (value) => text(value).toLowerCase(),
  trim: (value) => text(value).trim(),
  trimPrefix: (prefix, value) =>
    text(value).startsWith(text(prefix)) ? text(value).slice(text(prefix).length) : value,
  trimSuffix: (suffix, value) =>
    text(value).endsWith(text(suffix)) ? text(value).slice(0, -text(suffix).length) : value,
  replace: (old, fresh, value) => text(value).replaceAll(text(old), text(fresh)),
  contains: (part, value) => text(value).includes(text(part)),
  hasPrefix: (prefix, value) => text(value).startsWith(text(prefix)),
  hasSuffix: (suffix, value) => text(value).endsWith(text(suffix)),
  join: (separator, items) => (Array.isArray(items) ? items.map(text).join(text(separator)) : text(items)),
  splitList: (separator, value) => text(value).split(text(separator)),
  first: (items) => (Array.isArray(items) ? items[0] : undefined),
  last: (items) => (Array.isArray(items) ? items.at(-1) : undefined),
  has: (item, items) => Array.isArray(items) && items.some((one) => isEqual(one, item)),
  int: (value) => Math.trunc(number(value)),
  int64: (value) => Math.trunc(number(value)),
  add: (...values) => values.reduce((sum: number, value) => sum + number(value), 0),
  add1: (value) => number(value) + 1,
  sub: (one, other) => number(one) - number(other),
  mul: (...values) => values.reduce((product: number, value) => product * number(value), 1),
  div: (one, other) => Math.trunc(number(one) / number(other)),
  mod: (one, other) => number(one) % number(other),
  max: (...values) => values.map(number).reduce((one, other) => Math.max(one, other)),
  min: (...values) => values.map(number).reduce((one, other) => Math.min(one, other)),
};
