import { parseQuantity, printQuantity, withoutZeros } from "../../../base/api/quantity.ts";
import type { Texts } from "../../types/meta.ts";

const MILLI = -3;
// Only texts in these forms can be finer than a thousandth.
const FINE = /[nu]$|e-/;

/** Rounds quantities of a ResourceList up to milli units, away from zero. Changes the list. */
export function roundResourceList(list: Texts | null | undefined): void {
  for (const name in list) {
    const text = list[name] ?? "";
    if (FINE.test(text)) list[name] = roundUp(text);
  }
}

function roundUp(text: string): string {
  const { mantissa, exponent, format } = parseQuantity(text);
  if (exponent >= MILLI) return text;
  const unit = 10n ** BigInt(MILLI - exponent);
  const extra = mantissa % unit === 0n ? 0n : mantissa < 0n ? -1n : 1n;
  return printQuantity({ mantissa: mantissa / unit + extra, exponent: MILLI, format });
}

/** Rounds requests and limits of ResourceRequirements. Changes its lists. */
export function roundResources(
  resources: { readonly limits?: Texts; readonly requests?: Texts } | null | undefined,
): void {
  roundResourceList(resources?.limits);
  roundResourceList(resources?.requests);
}

/** Quantities of a ResourceList in canonical form: equal quantities have equal texts. */
export function plainAmounts(list: Texts | undefined): Texts | undefined {
  if (list === undefined) return undefined;
  return Object.fromEntries(Object.entries(list).map(([name, text]) => [name, plainAmount(text)]));
}

function plainAmount(text: string): string {
  const { mantissa, exponent } = withoutZeros(parseQuantity(text));
  return mantissa === 0n ? "0" : `${mantissa}e${exponent}`;
}
