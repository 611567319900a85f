import { addQuantities, compareQuantities, parseQuantity, printQuantity, type Quantity, tenTo } from "./quantity.ts";

/** A ResourceList: quantities by resource name. */
export type Amounts = ReadonlyMap<string, Quantity>;

/** An empty ResourceList. */
export const NO_AMOUNTS: Amounts = new Map();

/** Parses a ResourceList. Throws QuantityError. */
export function readAmounts(texts: { readonly [name: string]: unknown } | undefined): Map<string, Quantity> {
  const amounts = new Map<string, Quantity>();
  for (const [name, text] of Object.entries(texts ?? {})) amounts.set(name, parseQuantity(String(text)));
  return amounts;
}

/** Prints a ResourceList, sorted by name like kube-apiserver does. */
export function writeAmounts(amounts: Amounts): { [name: string]: string } {
  return Object.fromEntries(sortedNames(amounts).map((name) => [name, printQuantity(amounts.get(name) ?? ZERO)]));
}

/** The resource names, sorted. */
export function sortedNames(amounts: Amounts): string[] {
  return [...amounts.keys()].sort();
}

const ZERO: Quantity = { mantissa: 0n, exponent: 0, format: "DecimalSI" };

/** An integer as a quantity, for object counts. */
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

/** The quantities of some resources. Upstream: `quota.Mask`. */
export function onlyAmounts(amounts: Amounts, isKept: (name: string) => boolean): Map<string, Quantity> {
  return new Map([...amounts].filter(([name]) => isKept(name)));
}

/** Whether two ResourceLists have the same names and values. Upstream: `quota.Equals`. */
export function equalAmounts(one: Amounts, other: Amounts): boolean {
  if (one.size !== other.size) return false;
  return [...one].every(([name, amount]) => {
    const known = other.get(name);
    return known !== undefined && compareQuantities(amount, known) === 0;
  });
}

/** The greatest quantity of each resource. Upstream: `quota.Max`. */
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

/** A container and its resources. */
export interface Share {
  readonly amounts: Amounts;
  /** Keeps running next to all that start after it, like a sidecar. */
  readonly isLasting?: boolean;
}

/**
 * The peak amounts of containers that run `together` after `before` ran one by one, as for init containers: the sum of
 * `together` and all lasting ones, or more while one of `before` runs next to the lasting ones started before it.
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

/** An amount in units of 10^-digits, rounded up. */
export function roundUp({ mantissa, exponent }: Quantity, digits = 0): bigint {
  const shift = exponent + digits;
  if (shift >= 0) return mantissa * tenTo(shift);
  const unit = tenTo(-shift);
  const whole = mantissa / unit;
  return mantissa % unit > 0n ? whole + 1n : whole;
}
