/** How many code points a text has: what CEL counts as its size. */
export function lengthOf(text: string): number {
  if (!HIGH_SURROGATE.test(text)) return text.length;
  let count = text.length;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit >= 0xd800 && unit <= 0xdbff && i + 1 < text.length) {
      const next = text.charCodeAt(i + 1);
      if (next >= 0xdc00 && next <= 0xdfff) {
        count--;
        i++;
      }
    }
  }
  return count;
}

const HIGH_SURROGATE = /[\ud800-\udbff]/;

/** Orders texts by code points, as Go orders strings by their UTF-8. */
export function compareText(a: string, b: string): number {
  const shorter = Math.min(a.length, b.length);
  for (let i = 0; i < shorter; i++) {
    const x = a.charCodeAt(i);
    const y = b.charCodeAt(i);
    if (x !== y) return rank(x) < rank(y) ? -1 : 1;
  }
  return a.length === b.length ? 0 : a.length < b.length ? -1 : 1;
}

/** Surrogates, which stand for code points above U+FFFF, come after all other units. */
const rank = (unit: number) => (unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit);

/** A double as string() has it, and Go's %v: strconv.FormatFloat with format 'g' and the shortest exact precision. */
export function formatDouble(value: number): string {
  if (Number.isNaN(value)) return "NaN";
  if (value === Number.POSITIVE_INFINITY) return "+Inf";
  if (value === Number.NEGATIVE_INFINITY) return "-Inf";
  if (Object.is(value, -0)) return "-0";
  if (value === 0) return "0";
  const [digits = "", exponent = "0"] = value.toExponential().split("e");
  const power = Number(exponent);
  if (power < -4 || power >= EXPONENT_FROM) {
    const magnitude = Math.abs(power).toString().padStart(2, "0");
    return `${digits}e${power < 0 ? "-" : "+"}${magnitude}`;
  }
  return decimal(digits, power);
}

const EXPONENT_FROM = 6;

/** Digits such as -1.25 with a power of ten, without an exponent. */
export function decimal(digits: string, power: number): string {
  const sign = digits.startsWith("-") ? "-" : "";
  const figures = digits.replace("-", "").replace(".", "");
  if (power < 0) return `${sign}0.${"0".repeat(-power - 1)}${figures}`;
  if (figures.length <= power + 1) return sign + figures.padEnd(power + 1, "0");
  return `${sign}${figures.slice(0, power + 1)}.${figures.slice(power + 1)}`;
}
