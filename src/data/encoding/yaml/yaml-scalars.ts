import type { Json } from "../../../base/api/object.ts";
import { isNumber } from "../../../base/util/exact-integer.ts";
import { getMember } from "../../../base/util/members.ts";
import { DecodeError, exactInteger } from "../json/json.ts";

const WORDS = new Map<string, Json>();
for (const word of ["", "~", "null", "Null", "NULL"]) WORDS.set(word, null);
for (const word of ["y", "yes", "on", "true"]) for (const form of spellings(word)) WORDS.set(form, true);
for (const word of ["n", "no", "off", "false"]) for (const form of spellings(word)) WORDS.set(form, false);

function spellings(word: string): string[] {
  return [word, word.charAt(0).toUpperCase() + word.slice(1), word.toUpperCase()];
}

// JSON has no such numbers. The messages are those of Go's encoder, which runs after YAML decoding.
const UNPRINTABLE: Readonly<Record<string, string>> = {
  ".nan": "NaN",
  ".NaN": "NaN",
  ".NAN": "NaN",
  ...infinities("", "+Inf"),
  ...infinities("+", "+Inf"),
  ...infinities("-", "-Inf"),
};

function infinities(sign: string, text: string): Record<string, string> {
  return { [`${sign}.inf`]: text, [`${sign}.Inf`]: text, [`${sign}.INF`]: text };
}

const FLOAT = /^[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?$/;
const RADIX = /^([-+]?)0(?:x([0-9a-f]+)|b([01]+)|o?([0-7]+))$/i;
const DECIMAL = /^[-+]?[0-9]+$/;

/**
 * The value of an untagged plain scalar according to go-yaml, by example:
 *   yes, On, n           booleans
 *   ~, null, (nothing)   null
 *   012, 0o14, 0xA, 0b1  integers; 08 is the number 8
 *   1_000                1000
 *   1:30, 2026-01-01     strings
 */
export function resolveScalar(text: string): Json {
  const word = WORDS.get(text);
  if (word !== undefined) return word;
  if (!/^[-+.0-9]/.test(text)) return text;
  const unprintable = getMember(UNPRINTABLE, text);
  if (unprintable !== undefined) throw new DecodeError(`json: unsupported value: ${unprintable}`);
  return resolveNumber(text.replaceAll("_", "")) ?? text;
}

function resolveNumber(text: string): Json | undefined {
  const radix = RADIX.exec(text);
  if (radix !== null) {
    const [, sign, hex, binary, octal] = radix;
    const digits = hex !== undefined ? `0x${hex}` : binary !== undefined ? `0b${binary}` : `0o${octal}`;
    const value = sign === "-" ? -BigInt(digits) : BigInt(digits);
    return exactInteger(value.toString()) ?? (value < 2n ** 64n ? Number(value) : undefined);
  }
  if (DECIMAL.test(text) && !/^[-+]?0[0-9]/.test(text)) {
    const exact = exactInteger(text.replace("+", ""));
    if (exact !== undefined) return exact;
  }
  if (!FLOAT.test(text)) return undefined;
  const value = Number(text);
  if (!Number.isFinite(value)) return undefined;
  // Compat: `yaml.YAMLToJSON` prints a float without a fraction below 1e21 in digits, and so as an integer.
  const isWrittenInDigits = Number.isInteger(value) && Math.abs(value) < 1e21 && !Object.is(value, -0);
  return (isWrittenInDigits ? exactInteger(String(value)) : undefined) ?? value;
}

const TAG_PREFIX = "tag:yaml.org,2002:";

/**
 * The value of a scalar with an explicit tag. A string for unknown tags. Throws DecodeError if text and tag do not
 * match.
 */
export function resolveTagged(text: string, tag: string): Json {
  const short = tag.startsWith(TAG_PREFIX) ? `!!${tag.slice(TAG_PREFIX.length)}` : tag;
  if (short === "!!binary") return decodeBinary(text);
  const type = getMember(CHECKS, short);
  if (type === undefined) return text;
  const value = resolveScalar(text);
  if (!type(value)) throw new DecodeError(`yaml: cannot decode !!str \`${text}\` as a ${short}`);
  return value;
}

const CHECKS: Readonly<Record<string, (value: Json) => boolean>> = {
  "!!int": isNumber,
  "!!float": isNumber,
  "!!bool": (value) => typeof value === "boolean",
  "!!null": (value) => value === null,
  "!!timestamp": (value) => typeof value === "string" && /^[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}/.test(value),
};

function decodeBinary(text: string): string {
  const packed = text.replace(/\s/g, "");
  if (!/^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(packed)) {
    throw new DecodeError("yaml: !!binary value contains invalid base64 data");
  }
  return Buffer.from(packed, "base64").toString("utf8");
}
