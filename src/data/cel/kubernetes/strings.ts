import { NAMED_ESCAPES } from "../../../base/go/quote.ts";
import { spend, spendOnText } from "../cost/work.ts";
import type { Library } from "../standard/library.ts";
import { formatValue } from "../values/format.ts";
import { lengthOf } from "../values/text.ts";
import { dynType, intType, listType, stringType } from "../values/types.ts";
import { CelError, type ListValue, TextList, type Value } from "../values/value.ts";
import { declare, global, member } from "./declare.ts";
import { formatText } from "./string-format.ts";
import { formatValidator } from "./string-format-validator.ts";

type Int = number | bigint;

/** Copying so many characters takes about one unit of the meter. */
const CHARACTERS_PER_UNIT = 10;

const outOfRange = (index: Int) => new CelError(`index out of range: ${index}`);

/** The code points of a text. Split only if some take two UTF-16 units. */
function runes(text: string): string | readonly string[] {
  if (lengthOf(text) === text.length) return text;
  spendOnText(text, "each");
  return [...text];
}

const cut = (text: string | readonly string[], start: number, end: number) =>
  typeof text === "string" ? text.slice(start, end) : text.slice(start, end).join("");

function charAt(text: string, index: Int): Value {
  const chars = runes(text);
  if (index < 0 || index > chars.length) return outOfRange(index);
  return chars[Number(index)] ?? "";
}

/** Converts an index in code points to UTF-16 units. */
function unitsOf(text: string, index: number): number {
  if (lengthOf(text) === text.length) return index;
  spendOnText(text, "each");
  return [...text].slice(0, index).join("").length;
}

function indexOf(text: string, part: string, offset: Int = 0): Value {
  if (offset < 0) return outOfRange(offset);
  const length = lengthOf(text);
  if (part === "") return offset > length ? length : offset;
  if (offset >= length) return -1;
  const found = text.indexOf(part, unitsOf(text, Number(offset)));
  return found < 0 ? -1 : lengthOf(text.slice(0, found));
}

function lastIndexOf(text: string, part: string, offset?: Int): Value {
  const length = lengthOf(text);
  if (offset === undefined) {
    if (part === "") return length;
    if (Buffer.byteLength(text) < Buffer.byteLength(part)) return -1;
    return lastIndexOf(text, part, length - 1);
  }
  if (offset < 0) return outOfRange(offset);
  if (part === "") return offset > length ? length : offset;
  if (offset >= length) return -1;
  const found = lastUnitsOf(text, part, unitsOf(text, Number(offset)));
  return found < 0 ? -1 : lengthOf(text.slice(0, found));
}

/** Patterns of this length and above are searched backwards in linear time. */
const LONG_PART = 16;

/** String.lastIndexOf, which takes the product of both lengths for parts that nearly match, unlike String.indexOf. */
function lastUnitsOf(text: string, part: string, offset: number): number {
  if (part.length < LONG_PART) return text.lastIndexOf(part, offset);
  const end = Math.min(text.length, offset + part.length);
  const found = reversed(text.slice(0, end)).indexOf(reversed(part));
  return found < 0 ? -1 : end - found - part.length;
}

/** The UTF-16 units of a text in reverse order. */
function reversed(text: string): string {
  spendOnText(text, "each");
  return text.split("").reverse().join("");
}

function lowerAscii(text: string): string {
  spendOnText(text, "each");
  return text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}

function upperAscii(text: string): string {
  spendOnText(text, "each");
  return text.replace(/[a-z]+/g, (letters) => letters.toUpperCase());
}

/** Compat: replace() is Go's `strings.Replace`: an empty text is found before every character and at the end. */
function replace(text: string, old: string, next: string, limit: Int = -1): string {
  const most = Math.min(limit < 0 ? Number.POSITIVE_INFINITY : Number(limit), text.length / (old.length || 1) + 1);
  spend((most * next.length) / CHARACTERS_PER_UNIT);
  if (limit < 0) return old === "" ? spread(text, next, Number.POSITIVE_INFINITY) : text.replaceAll(old, () => next);
  if (old === "") return spread(text, next, Number(limit));
  let result = "";
  let start = 0;
  for (let count = 0; count < limit; count++) {
    const found = text.indexOf(old, start);
    if (found < 0) break;
    result += text.slice(start, found) + next;
    start = found + old.length;
  }
  return result + text.slice(start);
}

function spread(text: string, next: string, limit: number): string {
  let result = "";
  let count = 0;
  for (const char of text) result += (count++ < limit ? next : "") + char;
  return count < limit ? result + next : result;
}

/** Compat: split() is Go's `strings.SplitN`: 0 returns nothing, and the last part is the rest. */
function split(text: string, separator: string, limit: Int = -1): ListValue {
  if (limit === 0) return new TextList([]);
  spend(text.length / CHARACTERS_PER_UNIT);
  const parts = separator === "" ? [...text] : text.split(separator);
  if (limit < 0 || parts.length <= limit) return new TextList(parts);
  const kept = parts.slice(0, Number(limit) - 1);
  return new TextList([...kept, parts.slice(Number(limit) - 1).join(separator)]);
}

function substring(text: string, start: Int, end?: Int): Value {
  const chars = runes(text);
  if (end !== undefined && start > end) {
    return new CelError(`invalid substring range. start: ${start}, end: ${end}`);
  }
  if (start < 0 || start > chars.length) return outOfRange(start);
  if (end !== undefined && (end < 0 || end > chars.length)) return outOfRange(end);
  return cut(chars, Number(start), end === undefined ? chars.length : Number(end));
}

/** Compat: Go's unicode.IsSpace, which differs from the white space that JavaScript's trim() removes. */
const isSpace = (unit: number) =>
  unit === 0x20 ||
  (unit >= 9 && unit <= 13) ||
  unit === 0x85 ||
  unit === 0xa0 ||
  unit === 0x1680 ||
  (unit >= 0x2000 && unit <= 0x200a) ||
  unit === 0x2028 ||
  unit === 0x2029 ||
  unit === 0x202f ||
  unit === 0x205f ||
  unit === 0x3000;

/** Removes surrounding white space: Go's strings.TrimSpace. */
export function trimSpace(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && isSpace(text.charCodeAt(start))) start++;
  while (end > start && isSpace(text.charCodeAt(end - 1))) end--;
  return text.slice(start, end);
}

function join(list: ListValue, separator = ""): Value {
  const parts: string[] = [];
  spend(list.size * (1 + separator.length / CHARACTERS_PER_UNIT));
  for (let i = 0; i < list.size; i++) {
    const item = list.at(i);
    if (typeof item !== "string") return new CelError(`join: invalid input: ${formatValue(item)}`);
    parts.push(item);
  }
  return parts.join(separator);
}

/** Unlike Go's %q, other characters are not escaped. */
function quoteText(text: string): string {
  let result = '"';
  for (const char of text) result += NAMED_ESCAPES.get(char) ?? char;
  return `${result}"`;
}

const texts = listType(stringType);
const two = [stringType, stringType];

/** cel.lib.ext.strings, version 2. */
export const stringsLibrary: Library = {
  name: "cel.lib.ext.strings",
  validators: [formatValidator],
  functions: [
    declare("charAt", member("string_char_at_int", [stringType, intType], stringType, charAt)),
    declare(
      "indexOf",
      member("string_index_of_string", two, intType, (text: string, part: string) => indexOf(text, part)),
      member("string_index_of_string_int", [...two, intType], intType, indexOf),
    ),
    declare(
      "lastIndexOf",
      member("string_last_index_of_string", two, intType, (text: string, part: string) => lastIndexOf(text, part)),
      member("string_last_index_of_string_int", [...two, intType], intType, lastIndexOf),
    ),
    declare("lowerAscii", member("string_lower_ascii", [stringType], stringType, lowerAscii)),
    declare(
      "replace",
      member("string_replace_string_string", [...two, stringType], stringType, (a: string, b: string, c: string) =>
        replace(a, b, c),
      ),
      member("string_replace_string_string_int", [...two, stringType, intType], stringType, replace),
    ),
    declare(
      "split",
      member("string_split_string", two, texts, (text: string, separator: string) => split(text, separator)),
      member("string_split_string_int", [...two, intType], texts, split),
    ),
    declare(
      "substring",
      member("string_substring_int", [stringType, intType], stringType, (text: string, start: Int) =>
        substring(text, start),
      ),
      member("string_substring_int_int", [stringType, intType, intType], stringType, substring),
    ),
    declare("trim", member("string_trim", [stringType], stringType, trimSpace)),
    declare("upperAscii", member("string_upper_ascii", [stringType], stringType, upperAscii)),
    declare("format", member("string_format", [stringType, listType(dynType)], stringType, formatText)),
    declare("strings.quote", global("strings_quote", [stringType], stringType, quoteText)),
    declare(
      "join",
      member("list_join", [texts], stringType, (list: ListValue) => join(list)),
      member("list_join_string", [texts, stringType], stringType, join),
    ),
  ],
};
