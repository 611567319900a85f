import { type Amounts, roundUp } from "../../base/api/resource-amounts.ts";
import { isExtendedResource, isHugePages } from "../../kinds/built-in/shared-rules/resource-names.ts";

/** Amounts of resources as the scheduler compares them: cpu in thousandths, everything else in units. */
export interface ResourceTotals {
  milliCpu: number;
  memory: number;
  ephemeralStorage: number;
  /** How many Pods a node may have. Always 0 for Pods. */
  pods: number;
  /** Extended resources, huge pages and attachable volumes. Absent: none. */
  scalars?: Map<string, number> | undefined;
}

/** Totals of nothing. */
export const noResources = (): ResourceTotals => ({ milliCpu: 0, memory: 0, ephemeralStorage: 0, pods: 0 });

/** Upstream: NewResource, which ignores resources of other names. */
export function totalsOf(amounts: Amounts): ResourceTotals {
  const totals = noResources();
  for (const [name, amount] of amounts) {
    if (name === "cpu") totals.milliCpu = Number(roundUp(amount, 3));
    else if (name === "memory") totals.memory = Number(roundUp(amount));
    else if (name === "ephemeral-storage") totals.ephemeralStorage = Number(roundUp(amount));
    else if (name === "pods") totals.pods = Number(roundUp(amount));
    else if (isScalar(name)) {
      totals.scalars ??= new Map();
      totals.scalars.set(name, Number(roundUp(amount)));
    }
  }
  return totals;
}

/** Whether a resource is none of those that every node has. Upstream: IsScalarResourceName */
export function isScalar(name: string): boolean {
  return (
    isExtendedResource(name) ||
    isHugePages(name) ||
    name.includes("kubernetes.io/") ||
    name.startsWith("attachable-volumes-")
  );
}

/** Adds `part`, or subtracts it if `sign` is -1. */
export function addTotals(totals: ResourceTotals, part: ResourceTotals, sign: 1 | -1): void {
  totals.milliCpu += sign * part.milliCpu;
  totals.memory += sign * part.memory;
  totals.ephemeralStorage += sign * part.ephemeralStorage;
  if (part.scalars === undefined) return;
  totals.scalars ??= new Map();
  for (const [name, amount] of part.scalars) {
    totals.scalars.set(name, (totals.scalars.get(name) ?? 0) + sign * amount);
  }
}

/** The amount of one resource. 0 if there is none. */
export function amountOf(totals: ResourceTotals, name: string): number {
  switch (name) {
    case "cpu":
      return totals.milliCpu;
    case "memory":
      return totals.memory;
    case "ephemeral-storage":
      return totals.ephemeralStorage;
    default:
      return totals.scalars?.get(name) ?? 0;
  }
}

/** The names of all resources that may have an amount. */
export function namesOf({ scalars }: ResourceTotals): string[] {
  return ["cpu", "memory", "ephemeral-storage", ...(scalars?.keys() ?? [])];
}

/** A copy that can be changed. */
export function copyTotals(totals: ResourceTotals): ResourceTotals {
  return { ...totals, scalars: totals.scalars && new Map(totals.scalars) };
}
