import { parseQuantity, type Quantity, tenTo } from "../../../../base/api/quantity.ts";

/** The fields of a Go struct whose JSON form is not an object, by their Go names. */
type GoFields = Readonly<Record<string, unknown>>;
type FieldsOf = (value: unknown) => GoFields;

/**
 * Structs with a JSON form of their own: how their fields follow from that form. An omitted value is undefined.
 * Compat: controllers read objects as protobuf, so these are the fields after `Unmarshal`.
 */
export const GO_FIELDS: ReadonlyMap<string, FieldsOf> = new Map<string, FieldsOf>([
  ["resource.Quantity", quantityFields],
  ["intstr.IntOrString", intOrStringFields],
  ["v1.Time", timeFields],
  ["v1.FieldsV1", (value) => ({ Raw: [...Buffer.from(JSON.stringify(value ?? null))] })],
]);

/** Upstream: `ParseQuantity`. */
function quantityFields(value: unknown): GoFields {
  const text = value === undefined ? "0" : String(value);
  const quantity = parseQuantity(text);
  const Format = quantity.format;
  if (quantity.isBig) return { d: { Dec: decimalFields(quantity) }, Format };
  const i = { value: quantity.mantissa, scale: quantity.exponent };
  return { i, s: text === "0" ? text : quantity.text, Format };
}

/** `ParseQuantity` rounds every inf.Dec to this many decimal places. */
const DECIMAL_PLACES = 9;

function decimalFields({ mantissa, exponent }: Quantity): GoFields {
  const amount = mantissa < 0n ? -mantissa : mantissa;
  const unscaled = { neg: mantissa < 0n, abs: wordsOf(amount * tenTo(DECIMAL_PLACES + exponent)) };
  return { unscaled, scale: DECIMAL_PLACES };
}

/** The words of a big.Int on a 64-bit machine, least significant first. */
function wordsOf(amount: bigint): bigint[] {
  const words: bigint[] = [];
  for (let rest = amount; rest > 0n; rest >>= 64n) words.push(BigInt.asUintN(64, rest));
  return words;
}

function intOrStringFields(value: unknown): GoFields {
  return typeof value === "string" ? { Type: 1, StrVal: value } : { IntVal: value };
}

/** From the first second of year 1, Go's zero time, to 1970. */
const SECONDS_BEFORE_1970 = 62_135_596_800;

/**
 * Compat: `Time.Unmarshal` puts times into time.Local, whose content depends on the machine. These are the fields
 * where the variable TZ is UTC, or where it and /etc/localtime are missing.
 */
function timeFields(value: unknown): GoFields {
  const seconds = typeof value === "string" ? Math.floor(Date.parse(value) / 1000) : Number.NaN;
  const ext = seconds + SECONDS_BEFORE_1970;
  return Number.isNaN(ext) || ext === 0 ? {} : { Time: { ext, loc: { name: "UTC" } } };
}
