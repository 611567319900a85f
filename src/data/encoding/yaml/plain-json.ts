import { MAX_VALUES, tooManyValues } from "../../../base/api/body-limits.ts";
import { isObject, type Json, type JsonObject } from "../../../base/api/object.ts";
import { setMember } from "../../../base/util/members.ts";
import { parseJsonText } from "../../../base/util/parse-json.ts";
import { countMembers, measure } from "../json/json-scan.ts";

const LINE_FEED = 0x0a;
const SPACE = 0x20;
const TILDE = 0x7e;
const COMMA = 0x2c;
const OPEN_BRACE = 0x7b;
const OPEN_BRACKET = 0x5b;
/** All YAML parsers accept this depth. */
const MAX_PLAIN_DEPTH = 100;
/** Escapes and keys that YAML may interpret differently, and minus zero. */
const DOUBTFUL = /\\u|" :|-0/;

/**
 * The value of a YAML document that is single-line JSON and has the same meaning in both formats, which most clients
 * send with apply. Members are sorted by name. Undefined for every other document. Throws 413.
 */
export function plainJson(bytes: Uint8Array): Json | undefined {
  if (bytes[0] !== OPEN_BRACE || !isPrintableLine(bytes)) return undefined;
  const { depth, values, members, hasLongNumbers } = measure(bytes);
  if (hasLongNumbers || depth > MAX_PLAIN_DEPTH) return undefined;
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("latin1");
  if (DOUBTFUL.test(text)) return undefined;
  if (values > MAX_VALUES) throw tooManyValues();
  let value: Json;
  try {
    value = parseJsonText(text);
  } catch {
    return undefined;
  }
  return members === countMembers(value) ? sorted(value) : undefined;
}

function isPrintableLine(bytes: Uint8Array): boolean {
  const end = bytes.at(-1) === LINE_FEED ? bytes.length - 1 : bytes.length;
  for (let at = 0; at < end; at++) {
    const byte = bytes[at] as number;
    if (byte < SPACE || byte > TILDE) return false;
  }
  return true;
}

function sorted(value: Json): Json {
  if (Array.isArray(value)) {
    for (let at = 0; at < value.length; at++) if (typeof value[at] === "object") value[at] = sorted(value[at] as Json);
    return value;
  }
  if (!isObject(value)) return value;
  const names = Object.keys(value);
  const isInOrder = names.every((name, at) => at === 0 || (names[at - 1] as string) < name);
  const object: JsonObject = isInOrder ? value : {};
  for (const name of isInOrder ? names : names.sort()) {
    const member = value[name];
    if (!isInOrder || typeof member === "object")
      setMember(object, name, member === undefined ? member : sorted(member));
  }
  return object;
}

/** Maximum number of commas, brackets and line ends in a block document. Some of them may be in texts. */
const MAX_MARKS = 800_000;

/** Whether a document has too many values, according to a scan of its bytes. */
export function mayHaveTooMany(bytes: Uint8Array): boolean {
  if (bytes[0] === OPEN_BRACE || bytes[0] === OPEN_BRACKET) return measure(bytes).values > 2 * MAX_VALUES;
  let marks = 0;
  for (const byte of bytes) {
    if (byte === COMMA || byte === LINE_FEED || byte === OPEN_BRACE || byte === OPEN_BRACKET) marks++;
  }
  return marks > MAX_MARKS;
}
