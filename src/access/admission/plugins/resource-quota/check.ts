import type { ApiError } from "../../../../base/api/api-error.ts";
import type { KubeObject } from "../../../../base/api/object.ts";
import { compareQuantities, printQuantity, type Quantity, subtractQuantities } from "../../../../base/api/quantity.ts";
import { type Amounts, addAmounts, countOf, sortedNames } from "../../../../base/api/resource-amounts.ts";
import { refusal } from "../../matches.ts";
import type { AdmissionRequest } from "../../plugin.ts";
import type { Evaluator } from "./evaluator.ts";
import type { Quota } from "./quota.ts";

/** A write that may increase the usage of ResourceQuotas. */
export interface Charge {
  readonly request: AdmissionRequest;
  readonly object: KubeObject;
  readonly evaluator: Evaluator;
  readonly usage: Amounts;
  /** Usage of the stored object. Undefined if there is none. */
  readonly previousUsage: Amounts | undefined;
}

/** Computes the usage of a write. Throws 403 Forbidden if that fails. */
export function measure(request: AdmissionRequest, object: KubeObject, evaluator: Evaluator): Charge {
  const usage = evaluator.usage(object);
  const previousUsage = request.previous && evaluator.usage(request.previous);
  return { request, object, evaluator, usage, previousUsage };
}

/** Whether a ResourceQuota limits a resource of the object, and its scopes match. */
function concerns(quota: Quota, { evaluator }: Charge, object: KubeObject): boolean {
  return [...quota.hard.keys()].some((name) => evaluator.tracks(name)) && isInScope(quota, evaluator, object);
}

/** Whether an object matches all scopes of a ResourceQuota. */
export function isInScope({ scopes }: Pick<Quota, "scopes">, evaluator: Evaluator, object: KubeObject): boolean {
  return scopes.every((scope) => evaluator.matchesScope?.(scope, object) ?? false);
}

/**
 * The error if a write cannot be checked against a ResourceQuota ("status unknown for quota", "must specify").
 * Undefined if it can, or if the quota does not apply.
 */
export function obstacle(quota: Quota, charge: Charge): ApiError | undefined {
  const { request, object, evaluator, usage } = charge;
  if (!concerns(quota, charge, object)) return undefined;
  const limited = sortedNames(quota.hard).filter((name) => evaluator.tracks(name));
  const missing = evaluator.missing?.(limited, object);
  if (missing !== undefined) return refusal(request, `failed quota: ${quota.name}: ${missing}`);
  if (limited.some((name) => !quota.used.has(name))) {
    return refusal(request, `status unknown for quota: ${quota.name}, resources: ${limited.join(",")}`);
  }
  const negative = sortedNames(usage).filter((name) => (usage.get(name)?.mantissa ?? 0n) < 0n);
  if (negative.length === 0) return undefined;
  return refusal(request, `quota usage is negative for resource(s): ${negative.join(",")}`);
}

/** The usage that a write adds to a ResourceQuota. Throws 403 "exceeded quota" if it exceeds the limit. */
export function takes(quota: Quota, charge: Charge): Amounts {
  const { request, object, previousUsage } = charge;
  const taken = new Map<string, Quantity>();
  if (!concerns(quota, charge, object)) return taken;
  // An object that moves into a quota's scope adds all of its usage, not just the difference.
  const wasCounted = request.previous !== undefined && concerns(quota, charge, request.previous);
  for (const [name, amount] of charge.usage) {
    if (!quota.hard.has(name)) continue;
    const before = wasCounted ? previousUsage?.get(name) : undefined;
    const more = before ? subtractQuantities(amount, before) : amount;
    if (more.mantissa > 0n) taken.set(name, more);
  }
  // Compat: a write to `/status` is counted but never rejected, however much it uses.
  if (request.subresource !== "status") refuseExcess(quota, request, taken);
  return taken;
}

function refuseExcess(quota: Quota, request: AdmissionRequest, taken: Amounts): void {
  const { name, hard, used } = quota;
  const total = addAmounts(used, taken);
  const zero = countOf(0);
  const exceeded = sortedNames(taken).filter(
    (one) => compareQuantities(total.get(one) ?? zero, hard.get(one) ?? zero) > 0,
  );
  if (exceeded.length === 0) return;
  const print = (amounts: Amounts) =>
    exceeded
      .filter((one) => amounts.has(one))
      .map((one) => `${one}=${printQuantity(amounts.get(one) ?? zero)}`)
      .join(",");
  const text = `exceeded quota: ${name}, requested: ${print(taken)}, used: ${print(used)}, limited: ${print(hard)}`;
  throw refusal(request, text);
}
