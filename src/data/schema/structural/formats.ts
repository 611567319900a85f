import { readDuration } from "../../../base/go/duration.ts";
import { isRequestUri } from "../../../base/go/go-url.ts";
import { parseAddress, parseLooseAddress } from "../../../base/net/ip-address.ts";
import type { Schema } from "../schema.ts";
import { isDate, isDateTime } from "./format-dates.ts";
import { isEmailAddress } from "./format-email.ts";
import { isCreditCard, isIsbn10, isIsbn13 } from "./format-numbers.ts";

type FormatCheck = (text: string) => boolean;

const UUID = /^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i;
const UUID3 = /^[0-9a-f]{8}-?[0-9a-f]{4}-?3[0-9a-f]{3}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i;
const UUID4 = /^[0-9a-f]{8}-?[0-9a-f]{4}-?4[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}$/i;
const UUID5 = /^[0-9a-f]{8}-?[0-9a-f]{4}-?5[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}$/i;
const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;
const BYTE = "(0|[1-9][0-9]?|1[0-9][0-9]?|2[0-4][0-9]|25[0-5])";
const RGB_COLOR = new RegExp(
  `^rgb\\([\\t\\n\\f\\r ]*${BYTE}[\\t\\n\\f\\r ]*,[\\t\\n\\f\\r ]*${BYTE}[\\t\\n\\f\\r ]*,[\\t\\n\\f\\r ]*${BYTE}[\\t\\n\\f\\r ]*\\)$`,
);
const LONG_NAME_LENGTH = 253;
const SHORT_NAME_LENGTH = 63;

/**
 * The checked string formats, by name without dashes. Upstream: `strfmt.Default`, limited to
 * `supportedVersionedFormats` of apiextensions.
 */
const FORMATS: ReadonlyMap<string, FormatCheck> = new Map<string, FormatCheck>([
  ["bsonobjectid", (text) => /^[0-9a-fA-F]{24}$/.test(text)],
  ["uri", isRequestUri],
  ["email", isEmailAddress],
  ["hostname", isHostname],
  ["ipv4", (text) => parseLooseAddress(text) !== undefined && text.includes(".")],
  ["ipv6", (text) => parseAddress(text) !== undefined && text.includes(":")],
  ["cidr", isRange],
  ["mac", isHardwareAddress],
  ["uuid", (text) => UUID.test(text)],
  ["uuid3", (text) => UUID3.test(text)],
  ["uuid4", (text) => UUID4.test(text)],
  ["uuid5", (text) => UUID5.test(text)],
  ["isbn", (text) => isIsbn10(text) || isIsbn13(text)],
  ["isbn10", isIsbn10],
  ["isbn13", isIsbn13],
  ["creditcard", isCreditCard],
  ["ssn", (text) => text.length === 11 && /^[0-9]{3}[- ]?[0-9]{2}[- ]?[0-9]{4}$/.test(text)],
  ["hexcolor", (text) => /^#?([0-9a-fA-F]{3}|[0-9a-fA-F]{6})$/.test(text)],
  ["rgbcolor", (text) => RGB_COLOR.test(text)],
  ["byte", (text) => text.length > 0 && text.length % 4 === 0 && BASE64.test(text)],
  ["password", () => true],
  ["date", isDate],
  ["duration", isDuration],
  ["datetime", isDateTime],
  ["k8sshortname", (text) => text.length <= SHORT_NAME_LENGTH && /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/.test(text)],
  ["k8slongname", (text) => text.length <= LONG_NAME_LENGTH && text.split(".").every(isLabel)],
]);

const isLabel = (text: string) => /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/.test(text);

const INTEGERS: ReadonlySet<string> = new Set(["int32", "int64"]);
const NUMBERS: ReadonlySet<string> = new Set(["float", "double"]);

/**
 * Whether the format of a schema is enforced. Upstream: `StripUnsupportedFormatsPostProcess` drops unknown formats; a
 * CustomResourceDefinition with such a format gets a Warning.
 */
export function isKnownFormat(format: string, type: Schema["type"] | undefined): boolean {
  switch (type) {
    case undefined:
    case "string":
      return FORMATS.has(format.replaceAll("-", ""));
    case "integer":
      return INTEGERS.has(format);
    case "number":
      return NUMBERS.has(format);
    default:
      return false;
  }
}

/** The check of a string format. Undefined if it is not a string format. */
export function formatCheck(format: string): FormatCheck | undefined {
  return FORMATS.get(format.replaceAll("-", ""));
}

const HOST_LABEL = /^[a-zA-Z0-9\p{S}\p{L}](?:[a-zA-Z0-9\-\p{S}\p{L}]{0,61}[a-zA-Z0-9\p{S}\p{L}])?$/u;
const HOST_SINGLE = /^[a-zA-Z0-9\p{S}\p{L}](?:-?[a-zA-Z0-9\p{S}\p{L}]{0,62})?$/u;
const HOST_TOP = /^[a-zA-Z\p{L}]{2,63}$/u;
const MAX_HOST = 255;

/** Upstream: `IsHostname`: one label, or labels below a top-level domain that consists of letters. */
function isHostname(text: string): boolean {
  if (Buffer.byteLength(text) > MAX_HOST) return false;
  const labels = text.split(".");
  if (labels.some((label) => Buffer.byteLength(label) > SHORT_NAME_LENGTH)) return false;
  if (labels.length === 1) return HOST_SINGLE.test(text);
  return HOST_TOP.test(labels.pop() ?? "") && labels.every((label) => HOST_LABEL.test(label));
}

/** Upstream: `ParseCIDRSloppy`. */
function isRange(text: string): boolean {
  const slash = text.indexOf("/");
  const address = slash < 0 ? undefined : parseLooseAddress(text.slice(0, slash));
  const length = text.slice(slash + 1);
  return address !== undefined && /^[0-9]{1,9}$/.test(length) && Number(length) <= 8 * address.length;
}

const PLAIN_ADDRESS = /^(?:[0-9a-fA-F]{12}|[0-9a-fA-F]{16}|[0-9a-fA-F]{40})$/;

/** Upstream: Go's `net.ParseMAC`: 6, 8 or 20 bytes, with or without separators. */
function isHardwareAddress(text: string): boolean {
  if (text.length > 60) return false;
  if (PLAIN_ADDRESS.test(text)) return true;
  const [, separator = ""] = /^[0-9a-fA-F]+([-:.])/.exec(text) ?? [];
  if (separator === "") return false;
  const isDotted = separator === ".";
  const parts = text.split(separator);
  const sizes = isDotted ? [3, 4, 10] : [6, 8, 20];
  const part = isDotted ? /^[0-9a-fA-F]{4}$/ : /^[0-9a-fA-F]{2}$/;
  return sizes.includes(parts.length) && parts.every((one) => part.test(one));
}

const UNITS: ReadonlySet<string> = new Set(["ns", "us", "µs", "ms", "s", "m", "h", "hr", "d", "w", "wk"]);
const UNIT_STARTS = ["nano", "micro", "milli", "sec", "min", "hour", "day", "week"];
const UNIT = /[\t\n\f\r ]*([A-Za-zµ]+)/y;
const MAX_INT64 = 2n ** 63n - 1n;

/** Upstream: `strfmt.ParseDuration`: a Go duration, or a number with a Scala unit anywhere in the text. */
function isDuration(text: string): boolean {
  if (typeof readDuration(text) === "bigint") return true;
  let isFound = false;
  for (const { 0: digits, index } of text.matchAll(/[0-9]+/g)) {
    UNIT.lastIndex = index + digits.length;
    const [, letters] = UNIT.exec(text) ?? [];
    if (letters === undefined) continue;
    if (digits.length > 19 ? !/^0*[0-9]{1,18}$/.test(digits) : BigInt(digits) > MAX_INT64) return false;
    const unit = letters.toLowerCase();
    if (UNITS.has(unit) || UNIT_STARTS.some((start) => unit.startsWith(start))) isFound = true;
  }
  return isFound;
}
