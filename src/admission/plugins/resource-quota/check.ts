import type { ApiError } from "../../../api/api-error.ts";
import type { KubeObject } from "../../../api/object.ts";
import { compareQuantities, printQuantity, type Quantity, subtractQuantities } from "../../../api/quantity.ts";
import { type Amounts, addAmounts, countOf, sortedNames } from "../../../api/resource-amounts.ts";
import { refusal } from "../../matches.ts";
import type { AdmissionRequest } from "../../plugin.ts";
import type { Evaluator } from "./evaluator.ts";
import type { Quota } from "./quota.ts";

/** A write that may use more of what ResourceQuotas limit. */
export interface Charge {
  readonly request: AdmissionRequest;
  readonly object: KubeObject;
  readonly evaluator: Evaluator;
  readonly usage: Amounts;
  /** Usage of the stored object; undefined when there is none. */
  readonly previousUsage: Amounts | undefined;
}

/** Computes the usage of a write. Throws 403 Forbidden when that fails. */
export function measure(request: AdmissionRequest, object: KubeObject, evaluator: Evaluator): Charge {
  const usage = evaluator.usage(object);
  const previousUsage = request.previous && evaluator.usage(request.previous);
  return { request, object, evaluator, usage, previousUsage };
}

/** Whether a ResourceQuota limits something that an object uses, and its scopes match. */
function concerns({ hard, scopes }: Quota, { evaluator }: Charge, object: KubeObject): boolean {
  if (![...hard.keys()].some((name) => evaluator.tracks(name))) return false;
  return scopes.every((scope) => evaluator.matchesScope?.(scope, object) ?? false);
}

/**
 * Why a write cannot be checked against a ResourceQuota ("status unknown for quota", "must specify"); undefined when it
 * can, or need not.
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

/** How much more of a ResourceQuota a write takes. Throws 403 "exceeded quota" when there is not as much left. */
export function takes(quota: Quota, charge: Charge): Amounts {
  const { request, object, previousUsage } = charge;
  const taken = new Map<string, Quantity>();
  if (!concerns(quota, charge, object)) return taken;
  // An object that moves into a quota takes all it uses, not just what is new.
  const wasCounted = request.previous !== undefined && concerns(quota, charge, request.previous);
  for (const [name, amount] of charge.usage) {
    if (!quota.hard.has(name)) continue;
    const before = wasCounted ? previousUsage?.get(name) : undefined;
    const more = before ? subtractQuantities(amount, before) : amount;
    if (more.mantissa > 0n) taken.set(name, more);
  }
  // Compat: a write to `/status` is counted but never refused, however much it uses.
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
