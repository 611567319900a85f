const CARDS =
  /^(?:4[0-9]{12}(?:[0-9]{3})?|5[1-5][0-9]{14}|6(?:011|5[0-9][0-9])[0-9]{12}|3[47][0-9]{13}|3(?:0[0-5]|[68][0-9])[0-9]{11}|(?:2131|1800|35[0-9]{3})[0-9]{11})$/;

/** Upstream: `govalidator.IsCreditCard`: a known card prefix and a valid Luhn checksum. */
export function isCreditCard(text: string): boolean {
  const digits = text.replace(/[^0-9]/g, "");
  if (!CARDS.test(digits)) return false;
  let sum = 0;
  for (let at = digits.length - 1, isDoubled = false; at >= 0; at--, isDoubled = !isDoubled) {
    const digit = Number(digits[at]) * (isDoubled ? 2 : 1);
    sum += digit >= 10 ? digit - 9 : digit;
  }
  return sum % 10 === 0;
}

const bare = (text: string) => text.replace(/[\t\n\f\r -]/g, "");

/** Upstream: `govalidator.IsISBN10`. */
export function isIsbn10(text: string): boolean {
  const digits = bare(text);
  if (!/^(?:[0-9]{9}X|[0-9]{10})$/.test(digits)) return false;
  let sum = 0;
  for (let at = 0; at < 9; at++) sum += (at + 1) * Number(digits[at]);
  sum += 10 * (digits[9] === "X" ? 10 : Number(digits[9]));
  return sum % 11 === 0;
}

/** Upstream: `govalidator.IsISBN13`. */
export function isIsbn13(text: string): boolean {
  const digits = bare(text);
  if (!/^[0-9]{13}$/.test(digits)) return false;
  let sum = 0;
  for (let at = 0; at < 12; at++) sum += (at % 2 === 0 ? 1 : 3) * Number(digits[at]);
  return Number(digits[12]) === (10 - (sum % 10)) % 10;
}
