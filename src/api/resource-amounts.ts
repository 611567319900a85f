import { addQuantities, compareQuantities, parseQuantity, printQuantity, type Quantity, tenTo } from "./quantity.ts";

/** A ResourceList: quantities by resource name. */
export type Amounts = ReadonlyMap<string, Quantity>;

/** An empty ResourceList. */
export const NO_AMOUNTS: Amounts = new Map();

/** Reads a ResourceList. Throws QuantityError. */
export function readAmounts(texts: { readonly [name: string]: unknown } | undefined): Map<string, Quantity> {
  const amounts = new Map<string, Quantity>();
  for (const [name, text] of Object.entries(texts ?? {})) amounts.set(name, parseQuantity(String(text)));
  return amounts;
}

/** Prints a ResourceList, sorted by name as kube-apiserver writes it. */
export function writeAmounts(amounts: Amounts): { [name: string]: string } {
  return Object.fromEntries(sortedNames(amounts).map((name) => [name, printQuantity(amounts.get(name) ?? ZERO)]));
}

/** The names of all resources in order. */
export function sortedNames(amounts: Amounts): string[] {
  return [...amounts.keys()].sort();
}

const ZERO: Quantity = { mantissa: 0n, exponent: 0, format: "DecimalSI" };

/** A quantity that counts things. */
export function countOf(count: number): Quantity {
  return { ...ZERO, mantissa: BigInt(count) };
}

/** The sum of two ResourceLists. Upstream: `quota.Add`. */
export function addAmounts(one: Amounts, other: Amounts): Map<string, Quantity> {
  const total = new Map(one);
  for (const [name, amount] of other) {
    const known = total.get(name);
    total.set(name, known ? addQuantities(known, amount) : amount);
  }
  return total;
}

/** Of every resource the greatest quantity. Upstream: `quota.Max`. */
export function greatestAmounts(...lists: readonly Amounts[]): Map<string, Quantity> {
  const greatest = new Map<string, Quantity>();
  for (const list of lists) {
    for (const [name, amount] of list) {
      const known = greatest.get(name);
      if (!known || compareQuantities(amount, known) > 0) greatest.set(name, amount);
    }
  }
  return greatest;
}

/** One of several things that run at the same time or one after another, and what it takes. */
export interface Share {
  readonly amounts: Amounts;
  /** Stays and runs beside all that start after it. */
  readonly isLasting?: boolean;
}

/**
 * What things need that run together after others have run one by one: the sum of `together` and of all that last, or
 * more at the moment when one of `before` runs beside those that were started before it and last.
 */
export function peakAmounts(together: readonly Share[], before: readonly Share[]): Map<string, Quantity> {
  let total: Amounts = NO_AMOUNTS;
  for (const { amounts } of together) total = addAmounts(total, amounts);
  let lasting: Amounts = NO_AMOUNTS;
  let peak: Amounts = NO_AMOUNTS;
  for (const { amounts, isLasting } of before) {
    if (isLasting) {
      total = addAmounts(total, amounts);
      lasting = addAmounts(lasting, amounts);
      peak = greatestAmounts(peak, lasting);
    } else {
      peak = greatestAmounts(peak, addAmounts(amounts, lasting));
    }
  }
  return greatestAmounts(total, peak);
}

/** An amount in units of ten to the power of minus `digits`, rounded up. */
export function roundUp({ mantissa, exponent }: Quantity, digits = 0): bigint {
  const shift = exponent + digits;
  if (shift >= 0) return mantissa * tenTo(shift);
  const unit = tenTo(-shift);
  const whole = mantissa / unit;
  return mantissa % unit > 0n ? whole + 1n : whole;
}
