import { ApiError, internalError } from "../../../../base/api/api-error.ts";
import { isObject, type KubeObject } from "../../../../base/api/object.ts";
import { subtractQuantities } from "../../../../base/api/quantity.ts";
import {
  type Amounts,
  addAmounts,
  countOf,
  greatestAmounts,
  writeAmounts,
} from "../../../../base/api/resource-amounts.ts";
import type { ObjectAccess } from "../../../../resources/model/definition.ts";
import { type Charge, obstacle, takes } from "./check.ts";
import { type Quota, readQuota } from "./quota.ts";

const PLURAL = "resourcequotas";
const MAX_WAIT_MS = 10_000;

/** A write that waits until its ResourceQuotas are charged. */
interface Waiter {
  readonly charge: Charge;
  /** What was added to `status.used` for it, by quota name. */
  readonly taken: Map<string, Amounts>;
  settle(refusal?: unknown): void;
}

/**
 * Adds usage to `status.used` of ResourceQuotas. Concurrent writes to one namespace are charged in batches, one batch
 * after the other. Other servers may charge the same quotas concurrently; compare-and-set resolves conflicts.
 */
export class QuotaLedger {
  readonly #access: ObjectAccess;
  /** Waiting writes by namespace. A namespace is present while its batches are being processed. */
  readonly #waiting = new Map<string, Waiter[]>();

  constructor(access: ObjectAccess) {
    this.#access = access;
  }

  /**
   * Resolves when every ResourceQuota has room for the write and has been charged. Otherwise rejects with 403
   * Forbidden.
   */
  async charge(charge: Charge): Promise<void> {
    const { namespace } = charge.request;
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const late = () => reject(internalError("resource quota evaluation timed out"));
    const timer = this.#access.clock.setTimer(MAX_WAIT_MS, late);
    const waiter: Waiter = {
      charge,
      taken: new Map(),
      settle: (refusal) => (refusal === undefined ? resolve() : reject(refusal)),
    };
    const others = this.#waiting.get(namespace);
    if (others) {
      others.push(waiter);
    } else {
      this.#waiting.set(namespace, [waiter]);
      void this.#work(namespace);
    }
    try {
      await promise;
    } finally {
      timer.close();
    }
  }

  /** Never rejects: errors reject the waiting writes. */
  async #work(namespace: string): Promise<void> {
    for (;;) {
      const group = this.#waiting.get(namespace) ?? [];
      if (group.length === 0) break;
      this.#waiting.set(namespace, []);
      try {
        await this.#chargeAll(namespace, group);
      } catch (error) {
        for (const { settle } of group) settle(error);
      }
    }
    this.#waiting.delete(namespace);
  }

  async #chargeAll(namespace: string, group: readonly Waiter[]): Promise<void> {
    let rehearsal = rehearse(await this.#quotas(namespace, "any"), group);
    // Before rejecting, check again with the newest state: the quota may have changed.
    if (rehearsal.refusals.size > 0) rehearsal = rehearse(await this.#quotas(namespace, "newest"), group);
    for (const [waiter, refusal] of rehearsal.refusals) waiter.settle(refusal);
    let pending = group.filter((waiter) => !rehearsal.refusals.has(waiter));
    for (const [name, concerned] of rehearsal.charged) {
      const refusals = await this.#chargeOne(
        namespace,
        name,
        concerned.filter((waiter) => pending.includes(waiter)),
      );
      pending = pending.filter((waiter) => !refusals.has(waiter));
      for (const [waiter, refusal] of refusals) {
        await this.#giveBack(namespace, waiter);
        waiter.settle(refusal);
      }
    }
    for (const { settle } of pending) settle();
  }

  async #quotas(namespace: string, freshness: "any" | "newest"): Promise<Quota[]> {
    return (await this.#access.list("", PLURAL, namespace, freshness)).map(readQuota);
  }

  /** Charges one quota with the writes that fit. Returns the errors of the others. */
  async #chargeOne(namespace: string, name: string, waiters: readonly Waiter[]): Promise<Map<Waiter, ApiError>> {
    let attempt: Attempt = { refusals: new Map(), taken: new Map() };
    const isThere = await this.#update(namespace, name, (current) => {
      attempt = tryCharges(readQuota(current), waiters);
      return attempt.used ? withUsed(current, attempt.used) : current;
    });
    if (!isThere) return new Map();
    for (const [waiter, taken] of attempt.taken) waiter.taken.set(name, taken);
    return attempt.refusals;
  }

  /** Reverts the charges of a write that another quota rejected. */
  async #giveBack(namespace: string, { taken }: Waiter): Promise<void> {
    for (const [name, amounts] of taken) {
      await this.#update(namespace, name, (current) => withUsed(current, without(readQuota(current).used, amounts)));
    }
  }

  /** Returns false if the quota has been deleted; then it limits nothing. */
  async #update(namespace: string, name: string, change: (current: KubeObject) => KubeObject): Promise<boolean> {
    try {
      await this.#access.update("", PLURAL, { namespace, name }, change, { subresource: "status" });
      return true;
    } catch (error) {
      if (error instanceof ApiError && error.code === 404) return false;
      throw error;
    }
  }
}

interface Rehearsal {
  readonly refusals: ReadonlyMap<Waiter, ApiError>;
  /** Names of the quotas that have to be charged, and the writes for each. */
  readonly charged: ReadonlyMap<string, readonly Waiter[]>;
}

/** Simulates charging all writes one after the other, without storing anything. */
function rehearse(quotas: readonly Quota[], group: readonly Waiter[]): Rehearsal {
  const refusals = new Map<Waiter, ApiError>();
  const charged = new Map<string, Waiter[]>();
  let state = quotas;
  for (const waiter of group) {
    const { charge } = waiter;
    try {
      for (const quota of state) {
        const error = obstacle(quota, charge);
        if (error) throw error;
      }
      const next = state.map((quota) => ({ quota, taken: takes(quota, charge) }));
      // Compat: with dryRun quotas are checked, but `status.used` is not changed.
      if (charge.request.dryRun) continue;
      state = next.map(({ quota, taken }) => ({ ...quota, used: addAmounts(quota.used, taken) }));
      for (const { quota, taken } of next) {
        if (taken.size > 0) charged.set(quota.name, [...(charged.get(quota.name) ?? []), waiter]);
      }
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      refusals.set(waiter, error);
    }
  }
  return { refusals, charged };
}

interface Attempt {
  readonly refusals: Map<Waiter, ApiError>;
  readonly taken: Map<Waiter, Amounts>;
  /** The resulting usage. Undefined if nothing has changed. */
  readonly used?: Amounts;
}

function tryCharges(quota: Quota, waiters: readonly Waiter[]): Attempt {
  const refusals = new Map<Waiter, ApiError>();
  const taken = new Map<Waiter, Amounts>();
  let { used } = quota;
  for (const waiter of waiters) {
    try {
      const now = { ...quota, used };
      const error = obstacle(now, waiter.charge);
      if (error) throw error;
      const amounts = takes(now, waiter.charge);
      if (amounts.size === 0) continue;
      used = addAmounts(used, amounts);
      taken.set(waiter, amounts);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      refusals.set(waiter, error);
    }
  }
  return taken.size === 0 ? { refusals, taken } : { refusals, taken, used };
}

function withUsed(quota: KubeObject, used: Amounts): KubeObject {
  return { ...quota, status: { ...(isObject(quota.status) ? quota.status : {}), used: writeAmounts(used) } };
}

function without(used: Amounts, amounts: Amounts): Amounts {
  const rest = new Map(used);
  for (const [name, amount] of amounts) {
    const known = used.get(name);
    if (known) rest.set(name, subtractQuantities(known, amount));
  }
  const zeros = new Map([...rest.keys()].map((name) => [name, countOf(0)]));
  return greatestAmounts(rest, zeros);
}
