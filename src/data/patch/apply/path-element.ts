import type { Json } from "../../../base/api/object.ts";
import { quote } from "../../../base/go/quote.ts";
import { isNumber, type JsonNumber } from "../../../base/util/exact-integer.ts";
import { memoize } from "../../../base/util/memoize.ts";
import { parseJsonText } from "../../../base/util/parse-json.ts";
import { parseJson } from "../../encoding/json/json.ts";

/**
 * One step of a path in its wire format, which is also its identity:
 *   f:name                  a field or the key of a map
 *   k:{"name":"main"}       the item of a list with these key fields
 *   v:"x"                   the member of a set
 *   i:0                     the item at an index
 */
export type PathElement = string;

/** The text is not a path element. The message is for people. */
export class PathElementError extends Error {}

/** A key field of a list item and its value. */
export type KeyField = readonly [name: string, value: Json];

// Compat: `SerializePathElement` escapes <, >, & and U+2028 like Go's encoding/json, and has no short form for \b and
// \f.
const ESCAPED = /[<>&\u2028\u2029]|\\[bf]/;
const ESCAPED_ALL = /[<>&\u2028\u2029]|\\[\\bf]/g;

const PLAIN = /^[\w./:-]*$/;

/** Prints JSON like kube-apiserver does inside path elements. */
export function printValue(value: Json): string {
  if (typeof value === "string" && PLAIN.test(value)) return `"${value}"`;
  const text = JSON.stringify(value);
  return ESCAPED.test(text) ? text.replace(ESCAPED_ALL, escapeOne) : text;
}

function escapeOne(found: string): string {
  if (found === "\\\\") return found;
  const code = found === "\\b" ? 8 : found === "\\f" ? 12 : found.charCodeAt(0);
  return `\\u${code.toString(16).padStart(4, "0")}`;
}

// Members of sets are found by text, and a text that has been such a member is found faster than a new one.
/** The element of a field or map key. */
export const fieldElement: (name: string) => PathElement = memoize((name: string) => `f:${name}`, {
  results: 4000,
  textLength: 64,
});

/** The element of a list item by its key fields, which must be sorted by name. */
export function keyElement(fields: readonly KeyField[]): PathElement {
  let text = "";
  for (const [name, value] of fields) text += `${text === "" ? "" : ","}${printValue(name)}:${printValue(value)}`;
  return `k:{${text}}`;
}

/** The element of a set member. */
export function valueElement(value: Json): PathElement {
  return `v:${printValue(value)}`;
}

/** The name in a field element. Undefined for other elements. */
export function fieldName(element: PathElement): string | undefined {
  return element.startsWith("f:") ? element.slice(2) : undefined;
}

/**
 * The canonical form of an element. Undefined for unknown element types, which are ignored. Throws PathElementError if
 * the text is not an element.
 */
export function canonicalElement(text: string): PathElement | undefined {
  if (text.length < 2) throw new PathElementError("key must be 2 characters long:");
  if (text[1] !== ":") throw new PathElementError(`missing colon: ${text}`);
  switch (text[0]) {
    case "f":
      return text;
    case "k":
      return keyElement(sortedFields(parseKey(text)));
    case "v":
      return valueElement(parse(text.slice(2)));
    case "i": {
      const index = Number(text.slice(2));
      if (!Number.isInteger(index)) throw new PathElementError(`invalid index: ${text}`);
      return `i:${index}`;
    }
    default:
      return undefined;
  }
}

const LONG_NUMBER = /\d{16}/;

function parse(json: string): Json {
  try {
    return LONG_NUMBER.test(json) ? parseJson(Buffer.from(json)) : parseJsonText(json);
  } catch {
    throw new PathElementError(`invalid JSON in path element: ${json}`);
  }
}

function parseKey(element: PathElement): KeyField[] {
  const value = parse(element.slice(2));
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new PathElementError(`not an object: ${element}`);
  }
  return Object.entries(value) as [string, Json][];
}

function sortedFields(fields: KeyField[]): KeyField[] {
  return fields.sort((left, right) => compareText(left[0], right[0]));
}

/** Compares texts by their UTF-8 bytes. */
export function compareText(left: string, right: string): number {
  const length = Math.min(left.length, right.length);
  for (let i = 0; i < length; i++) {
    const a = left.charCodeAt(i);
    const b = right.charCodeAt(i);
    if (a === b) continue;
    // Characters beyond 16 bits are greater than all others, but their surrogates are not.
    const aIsHalf = a >= 0xd800 && a <= 0xdfff;
    const bIsHalf = b >= 0xd800 && b <= 0xdfff;
    if (aIsHalf !== bIsHalf) return aIsHalf ? 1 : -1;
    return a - b;
  }
  return left.length - right.length;
}

const KINDS = "fkvi";
const PLAIN_ELEMENT = /^(?:k:\{"\w+":"[\w./:-]*"\}|v:"[\w./:-]*")$/;

/** The canonical order of the elements of one node: fields, keys, values, indexes. */
export function compareElements(left: PathElement, right: PathElement): number {
  const kind = left[0] ?? "";
  const difference = KINDS.indexOf(kind) - KINDS.indexOf(right[0] ?? "");
  if (difference !== 0) return difference;
  if (kind === "f") return compareText(left, right);
  // All plain characters sort after the closing quote, so the texts are in the order of the values.
  if (PLAIN_ELEMENT.test(left) && PLAIN_ELEMENT.test(right)) return left < right ? -1 : left === right ? 0 : 1;
  return compareRead(readElement(left), readElement(right));
}

const HALVES = /[\ud800-\udfff]/;

/** Whether an element sorts by its text among others of its type. */
function isOrderedByText(element: PathElement): boolean {
  return element.startsWith("f:") ? !HALVES.test(element) : PLAIN_ELEMENT.test(element);
}

/** Sorts values by their elements, which must all differ, in canonical order. */
export function sortByElement<T>(things: T[], elementOf: (thing: T) => PathElement): T[] {
  const [first] = things;
  if (first === undefined || things.length === 1) return things;
  const kind = elementOf(first)[0];
  let last = "";
  let isSorted = true;
  let isByText = true;
  for (const thing of things) {
    const element = elementOf(thing);
    if (element[0] !== kind || !isOrderedByText(element)) {
      isByText = false;
      break;
    }
    if (element < last) isSorted = false;
    last = element;
  }
  if (isByText) return isSorted ? things : things.sort((a, b) => (elementOf(a) < elementOf(b) ? -1 : 1));
  // Parses each element once, not for every comparison.
  const read = things.map((thing) => ({ thing, element: readElement(elementOf(thing)) }));
  read.sort((left, right) => compareRead(left.element, right.element));
  for (const [index, { thing }] of read.entries()) things[index] = thing;
  return things;
}

/** A parsed element, as far as its order requires. */
interface ReadElement {
  readonly kind: number;
  readonly text: string;
  readonly key?: readonly KeyField[];
  readonly value?: Json;
}

function readElement(text: PathElement): ReadElement {
  const kind = KINDS.indexOf(text[0] ?? "");
  if (text.startsWith("f:")) return { kind, text };
  return text.startsWith("k:") ? { kind, text, key: parseKey(text) } : { kind, text, value: parse(text.slice(2)) };
}

function compareRead(left: ReadElement, right: ReadElement): number {
  if (left.kind !== right.kind) return left.kind - right.kind;
  if (left.key && right.key) return compareKeys(left.key, right.key);
  if (left.value === undefined || right.value === undefined) return compareText(left.text, right.text);
  return compareValues(left.value, right.value);
}

function compareKeys(left: readonly KeyField[], right: readonly KeyField[]): number {
  for (const [i, [name, value]] of left.entries()) {
    const other = right[i];
    if (other === undefined) return 1;
    const difference = compareText(name, other[0]) || compareValues(value, other[1]);
    if (difference !== 0) return difference;
  }
  return left.length - right.length;
}

function rank(value: Json): number {
  if (isNumber(value)) return 0;
  if (typeof value === "string") return 1;
  if (typeof value === "boolean") return 2;
  if (value === null) return 5;
  return Array.isArray(value) ? 3 : 4;
}

function compareValues(left: Json, right: Json): number {
  if (isNumber(left) && isNumber(right)) return compareNumbers(left, right);
  if (typeof left === "string" && typeof right === "string") return compareText(left, right);
  if (typeof left === "boolean" && typeof right === "boolean") return Number(left) - Number(right);
  return rank(left) - rank(right) || compareText(JSON.stringify(left), JSON.stringify(right));
}

function compareNumbers(left: JsonNumber, right: JsonNumber): number {
  const difference = Number(left) - Number(right);
  if (difference !== 0 || (typeof left === "number" && typeof right === "number")) return difference;
  return Number(BigInt(String(left)) - BigInt(String(right)));
}

/** The element as shown in messages: `.name`, `[name="main"]`, `[="x"]`, `[0]`. */
export function describeElement(element: PathElement): string {
  if (element.startsWith("f:")) return `.${element.slice(2)}`;
  if (element.startsWith("i:")) return `[${element.slice(2)}]`;
  if (element.startsWith("v:")) return `[=${describeValue(parse(element.slice(2)))}]`;
  return `[${parseKey(element)
    .map(([name, value]) => `${name}=${describeValue(value)}`)
    .join(",")}]`;
}

function describeValue(value: Json): string {
  return typeof value === "string" ? quote(value) : JSON.stringify(value);
}
