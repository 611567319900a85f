import { memoize } from "../util/memoize.ts";

/** The notation of a quantity, used for parsing and printing: `12Mi`, `12M` or `12e6`. */
export type QuantityFormat = "BinarySI" | "DecimalSI" | "DecimalExponent";

/** An exact amount, `mantissa` times ten to the power of `exponent`. */
export interface Quantity {
  readonly mantissa: bigint;
  readonly exponent: number;
  readonly format: QuantityFormat;
  /** The text it was parsed from, if that is canonical. */
  readonly text?: string;
  /** Upstream: `ParseQuantity` returns it as inf.Dec, because it may exceed an int64Amount. */
  readonly isBig?: true;
}

/** The text is not a quantity. The message is that of kube-apiserver. */
export class QuantityError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "QuantityError";
  }
}

const WRONG_FORM = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
// Compat: `resource.ParseQuantity` treats a text without any digit as zero, unless its suffix is very large or very
// small.
const WRONG_NUMBER = "unable to parse numeric part of quantity";
const WRONG_SUFFIX = "unable to parse quantity's suffix";

// The lookaheads leave one way to match. Without them, rejecting a long row of digits with a wrong end takes minutes.
const FORM = /^([+-]?)(0*)(?!0)([0-9]*)(?![0-9])(?:\.([0-9]*)(?![0-9]))?([eEinumkKMGTP]*[-+]?[0-9]*)$/;
const EXPONENT = /^[eE]([+-]?[0-9]+)$/;
const DECIMAL: ReadonlyMap<string, number> = new Map([
  ["n", -9],
  ["u", -6],
  ["m", -3],
  ["", 0],
  ["k", 3],
  ["M", 6],
  ["G", 9],
  ["T", 12],
  ["P", 15],
  ["E", 18],
]);
const DECIMAL_SUFFIX: ReadonlyMap<number, string> = new Map(
  [...DECIMAL].map(([suffix, exponent]) => [exponent, suffix]),
);
const BINARY = ["", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];
const MAX_INT64 = 2n ** 63n - 1n;
const MIN_EXPONENT = -9;
// Differs: kube-apiserver accepts longer ones, takes seconds for each, and times out at some hundred thousand digits.
const MAX_LENGTH = 10_000;
const MAX_ZEROS = 30_000;

/** Parses a quantity. Cached, because most objects contain the same few quantities. Throws QuantityError. */
export const parseQuantity: (text: string) => Quantity = memoize(readQuantity, { results: 1000, textLength: 20 });

function readQuantity(text: string): Quantity {
  const [, sign, zeros = "", digits = "", fraction = "", suffix = ""] = text === "" ? [] : (FORM.exec(text) ?? []);
  if (sign === undefined) throw new QuantityError(WRONG_FORM);
  if (text.length > MAX_LENGTH) throw new QuantityError(`must be no more than ${MAX_LENGTH} characters`);
  const whole = digits === "" ? "0" : digits;
  const isNegative = sign === "-";
  const hasDigits = zeros + digits + fraction !== "";
  const binary = suffix === "" ? -1 : BINARY.indexOf(suffix);
  if (binary > 0) return binaryQuantity(text, { whole, fraction, isNegative, hasDigits, power: binary * 10 });
  const decimal = DECIMAL.get(suffix);
  const scale = decimal ?? exponentOf(suffix);
  const format = decimal === undefined ? "DecimalExponent" : "DecimalSI";
  const mantissa = signed(BigInt(whole + fraction), isNegative);
  const exponent = scale - fraction.length;
  if (whole.length + fraction.length > 18 || exponent < MIN_EXPONENT) {
    if (!hasDigits) throw new QuantityError(WRONG_NUMBER);
    return { ...roundedUp(mantissa, exponent, format), isBig: true };
  }
  // Compat: `ParseQuantity` keeps such texts in the field `s` of Quantity and prints them unchanged, even with a sign
  // or an exponent that could be shorter.
  const isCanonical = exponent % 3 === 0 && !(whole + fraction).endsWith("000") && !whole.startsWith("0");
  return { mantissa, exponent, format, text: isCanonical ? text : undefined };
}

function exponentOf(suffix: string): number {
  const [, digits] = EXPONENT.exec(suffix) ?? [];
  const exponent = digits === undefined ? Number.NaN : Number(digits);
  if (!Number.isSafeInteger(exponent)) throw new QuantityError(WRONG_SUFFIX);
  // Compat: the exponent is an int32 in `resource.Quantity`.
  return exponent | 0;
}

const signed = (amount: bigint, isNegative: boolean): bigint => (isNegative ? -amount : amount);

interface BinaryParts {
  readonly whole: string;
  readonly fraction: string;
  readonly isNegative: boolean;
  readonly hasDigits: boolean;
  /** Power of two. */
  readonly power: number;
}

function binaryQuantity(text: string, parts: BinaryParts): Quantity {
  const { whole, fraction, isNegative, power } = parts;
  const value = BigInt(whole + fraction);
  const amount = value << BigInt(power);
  if (fraction === "" && 14 - whole.length - Math.trunc((power * 3) / 10) >= 0) {
    const isCanonical = (value & 7n) !== 0n;
    return {
      mantissa: signed(amount, isNegative),
      exponent: 0,
      format: "BinarySI",
      text: isCanonical ? text : undefined,
    };
  }
  if (!parts.hasDigits) throw new QuantityError(WRONG_NUMBER);
  const rounded: Quantity = { ...roundedUp(amount, -fraction.length, "BinarySI"), isBig: true };
  if (compareQuantities(rounded, integer(MAX_INT64)) > 0) {
    return { ...integer(signed(MAX_INT64, isNegative), "BinarySI"), isBig: true };
  }
  const isFraction = rounded.mantissa > 0n && compareQuantities(rounded, integer(1n)) < 0;
  return { ...rounded, mantissa: signed(rounded.mantissa, isNegative), format: isFraction ? "DecimalSI" : "BinarySI" };
}

const integer = (mantissa: bigint, format: QuantityFormat = "DecimalSI"): Quantity => ({
  mantissa,
  exponent: 0,
  format,
});

/** Rounds fractions of a billionth away from zero. */
function roundedUp(mantissa: bigint, exponent: number, format: QuantityFormat): Quantity {
  if (exponent >= MIN_EXPONENT || mantissa === 0n) return { mantissa, exponent, format };
  const dropped = MIN_EXPONENT - exponent;
  const isNegative = mantissa < 0n;
  const amount = isNegative ? -mantissa : mantissa;
  // Avoids a power of ten with millions of digits for a short text.
  const unit = dropped > amount.toString().length ? amount + 1n : 10n ** BigInt(dropped);
  return { mantissa: signed((amount + unit - 1n) / unit, isNegative), exponent: MIN_EXPONENT, format };
}

/** A quantity in canonical form: no fraction, and the largest suffix that loses nothing. */
export function printQuantity(quantity: Quantity): string {
  if (quantity.text !== undefined) return quantity.text;
  const { mantissa, format } = quantity;
  if (mantissa === 0n) return "0";
  if (format === "BinarySI") {
    const whole = wholeOf(quantity);
    if (whole !== undefined && (whole >= 1024n || whole <= -1024n)) {
      const [amount, factors] = withoutFactors(whole, 1024n);
      return `${amount}${BINARY[factors] ?? ""}`;
    }
  }
  const { mantissa: amount, exponent } = withoutZeros(quantity);
  const surplus = ((exponent % 3) + 3) % 3;
  const digits = amount * 10n ** BigInt(surplus);
  return `${digits}${suffixOf(exponent - surplus, format)}`;
}

function suffixOf(exponent: number, format: QuantityFormat): string {
  if (format === "DecimalExponent") return exponent === 0 ? "" : `e${exponent}`;
  // Compat: `quantitySuffixer` has no suffix above E; a larger amount is printed without one.
  return DECIMAL_SUFFIX.get(exponent) ?? "";
}

/** A power of ten. Exponents are capped at 30,000, which exceeds any real amount. */
export function tenTo(exponent: number): bigint {
  return 10n ** BigInt(Math.min(exponent, MAX_ZEROS));
}

/** The amount as an integer. Undefined if it is not an integer. */
function wholeOf({ mantissa, exponent }: Quantity): bigint | undefined {
  if (exponent >= 0) return mantissa * tenTo(exponent);
  const unit = tenTo(-exponent);
  return mantissa % unit === 0n ? mantissa / unit : undefined;
}

/** The same amount with the smallest mantissa. */
export function withoutZeros(quantity: Quantity): Pick<Quantity, "mantissa" | "exponent"> {
  const [mantissa, factors] = withoutFactors(quantity.mantissa, 10n);
  return { mantissa, exponent: quantity.exponent + factors };
}

/** Divides an amount by 10 or 1024 as often as possible. Returns the rest and the number of divisions. */
function withoutFactors(amount: bigint, factor: 10n | 1024n): [bigint, number] {
  if (BigInt.asIntN(64, amount) === amount) {
    let rest = amount;
    let factors = 0;
    for (; rest !== 0n && rest % factor === 0n; factors++) rest /= factor;
    return [rest, factors];
  }
  // One division instead of one for each of thousands of factors.
  const zeros = trailingZeros(amount.toString(factor === 10n ? 10 : 32));
  const factors = factor === 10n ? zeros : Math.trunc(zeros / 2);
  return [amount / factor ** BigInt(factors), factors];
}

function trailingZeros(digits: string): number {
  let end = digits.length;
  while (digits.charAt(end - 1) === "0") end--;
  return digits.length - end;
}

/** The canonical form of a quantity. Cached for repeated texts. Throws QuantityError. */
export const canonicalQuantity: (text: string) => string = memoize(
  (text: string) => printQuantity(parseQuantity(text)),
  { results: 2000, textLength: 64 },
);

/** Negative, zero or positive if the first is less than, equal to or greater than the second. */
export function compareQuantities(left: Quantity, right: Quantity): number {
  const difference = signOf(left) - signOf(right);
  if (difference !== 0 || left.mantissa === 0n) return difference;
  // Amounts of very different size are compared without writing out their zeros.
  const size = sizeOf(left) - sizeOf(right);
  if (size !== 0) return size * signOf(left);
  const [one, other] = aligned(left, right);
  return one === other ? 0 : one < other ? -1 : 1;
}

const signOf = ({ mantissa }: Quantity): number => (mantissa === 0n ? 0 : mantissa < 0n ? -1 : 1);
const sizeOf = ({ mantissa, exponent }: Quantity): number =>
  (mantissa < 0n ? -mantissa : mantissa).toString().length + exponent;

function aligned(left: Quantity, right: Quantity): [bigint, bigint, number] {
  const exponent = Math.min(left.exponent, right.exponent);
  const scaled = (one: Quantity) => one.mantissa * tenTo(one.exponent - exponent);
  return [scaled(left), scaled(right), exponent];
}

/** The sum, in the format of the first unless that is zero. */
export function addQuantities(left: Quantity, right: Quantity): Quantity {
  if (left.mantissa === 0n) return { ...right, text: undefined };
  const [one, other, exponent] = aligned(left, right);
  return { mantissa: one + other, exponent, format: left.format };
}

/** The difference, in the format of the first unless that is zero. */
export function subtractQuantities(left: Quantity, right: Quantity): Quantity {
  return addQuantities(left, { ...right, mantissa: -right.mantissa, text: undefined });
}
