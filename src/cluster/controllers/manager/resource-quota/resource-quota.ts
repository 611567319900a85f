import { readQuota } from "../../../../access/admission/plugins/resource-quota/quota.ts";
import { ApiError } from "../../../../base/api/api-error.ts";
import { isObject, type KubeObject } from "../../../../base/api/object.ts";
import { subtractQuantities } from "../../../../base/api/quantity.ts";
import {
  type Amounts,
  addAmounts,
  countOf,
  equalAmounts,
  NO_AMOUNTS,
  onlyAmounts,
  readAmounts,
  writeAmounts,
} from "../../../../base/api/resource-amounts.ts";
import { runTogether } from "../../../../base/util/run-together.ts";
import { WorkQueue } from "../../../../base/util/work-queue.ts";
import type { ServedResource } from "../../../../resources/model/catalog.ts";
import { storedResource } from "../../../../resources/model/stored-resource.ts";
import { type Follower, follow } from "../../../../resources/read/follow.ts";
import { type Located, readObject, StoredKinds } from "../../../../resources/stored-kinds.ts";
import type { Entry, StoreEvent } from "../../../../storage/store.ts";
import { type Controller, type ControllerContext, unlessCode } from "../../shared/controller.ts";
import { type Limits, UsageCalculator } from "./calculate-usage.ts";

const NAME = "resourcequota-controller";
const WORKERS = 5;
/** Compat: `--resource-quota-sync-period`: every ResourceQuota is recounted after this time. */
const RESYNC_MS = 5 * 60_000;

/**
 * resourcequota-controller: sets `status.hard` and `status.used` of ResourceQuotas. The admission plugin adds the usage of
 * each write; this controller counts new quotas, and recounts when objects are deleted or use less.
 */
export function resourceQuotas(context: ControllerContext): Controller {
  return {
    name: NAME,
    async run(signal) {
      const { store, keys } = context.resources;
      const counter = new QuotaCounter(context, signal);
      try {
        await runTogether(
          [
            (either) => follow(store, keys.prefix(counter.resource.definition), counter, either),
            (either) => counter.watchObjects(either),
          ],
          signal,
        );
      } finally {
        await counter.close();
      }
    },
  };
}

/** One run of the controller, with the known ResourceQuotas and its work queue. */
class QuotaCounter implements Follower {
  readonly resource: ServedResource;
  readonly #context: ControllerContext;
  readonly #kinds: StoredKinds;
  readonly #calculator: UsageCalculator;
  /** The limits of each ResourceQuota, by namespace and store key. */
  readonly #known = new Map<string, Map<string, Limits>>();
  /** ResourceQuotas of a partial state that have not been counted yet. */
  readonly #recorded = new Set<string>();
  /** Recorded usage of objects that a partial state lacks. */
  readonly #unseen = new Map<string, Amounts>();
  readonly #queue: WorkQueue<string>;
  readonly #unsubscribe: () => void;

  constructor(context: ControllerContext, signal: AbortSignal) {
    const { resources, report } = context;
    this.#context = context;
    this.resource = storedResource(resources.catalog, "", "resourcequotas");
    this.#kinds = new StoredKinds(resources);
    this.#calculator = new UsageCalculator(resources, this.#kinds);
    this.#queue = new WorkQueue({
      clock: resources.clock,
      concurrency: WORKERS,
      work: (storeKey) => this.#count(storeKey),
      onError: (error) => {
        // Another writer was faster: retried without being reported.
        const isConflict = error instanceof ApiError && error.code === 409;
        if (!isConflict && !signal.aborted) report(NAME, error);
      },
    });
    // A quota may limit the number of objects of a kind that is not served yet.
    this.#unsubscribe = resources.catalog.subscribe(() => this.#enqueueAll());
  }

  found(entry: Entry): void {
    this.#learn(entry);
    if (this.#context.isPartial) this.#recorded.add(entry.key);
  }

  loaded(): void {
    this.#enqueueAll();
  }

  changed(events: readonly StoreEvent[]): void {
    for (const { key, entry } of events) {
      if (!entry) this.#forget(key);
      else if (this.#learn(entry)) this.#queue.add(key);
    }
  }

  /** Recounts the ResourceQuotas of deleted objects, and of updated ones that use something else now. */
  async watchObjects(signal: AbortSignal): Promise<void> {
    const { store, keys } = this.#context.resources;
    const watch = store.watch(keys.root, await store.revision(), signal);
    for await (const { events } of watch) {
      for (const event of events) {
        // Fast path: most namespaces have no quotas, and creations are counted at admission.
        if (this.#known.size > 0 && event.previous) await this.#observe(event.key, event.previous, event.entry);
      }
    }
    if (!signal.aborted) throw new Error(`watch of ${keys.root} ended`);
  }

  async close(): Promise<void> {
    this.#unsubscribe();
    await this.#queue.close();
  }

  #enqueueAll(): void {
    for (const quotas of this.#known.values()) for (const storeKey of quotas.keys()) this.#queue.add(storeKey);
  }

  /** Returns whether the quota is new or its `spec.hard` has changed. */
  #learn(entry: Entry): boolean {
    const { codec, keys } = this.#context.resources;
    const quota = readObject(codec, entry);
    if (!quota) return false;
    const { namespace } = keys.parse(this.resource.definition, entry.key);
    const quotas = this.#known.get(namespace) ?? new Map<string, Limits>();
    const before = quotas.get(entry.key);
    const limits = limitsOf(quota);
    this.#known.set(namespace, quotas.set(entry.key, limits));
    return before === undefined || !equalAmounts(before.hard, limits.hard);
  }

  #forget(storeKey: string): void {
    const { namespace } = this.#context.resources.keys.parse(this.resource.definition, storeKey);
    const quotas = this.#known.get(namespace);
    quotas?.delete(storeKey);
    if (quotas?.size === 0) this.#known.delete(namespace);
    this.#unseen.delete(storeKey);
  }

  async #observe(storeKey: string, previous: Entry, next: Entry | undefined): Promise<void> {
    const located = this.#kinds.locate(storeKey);
    const quotas = located && this.#known.get(located.key.namespace);
    if (!quotas) return;
    for (const [quotaKey, limits] of quotas) {
      if (!(await this.#calculator.tracks(located.resource.definition, limits))) continue;
      if (!next || (await this.#changesUsage(located, previous, next, limits))) this.#queue.add(quotaKey);
    }
  }

  /**
   * Differs: `DefaultUpdateFilter` looks at some members of pods, services and claims; here any update counts that changes
   * the usage.
   */
  async #changesUsage({ resource }: Located, previous: Entry, next: Entry, limits: Limits): Promise<boolean> {
    const usage = async (entry: Entry): Promise<Amounts> => {
      const object = readObject(this.#context.resources.codec, entry);
      return object ? this.#calculator.usageOfObject(resource.definition, object, limits) : NO_AMOUNTS;
    };
    return !equalAmounts(await usage(previous), await usage(next));
  }

  /** Upstream: `syncResourceQuota`. */
  async #count(storeKey: string): Promise<void> {
    const { resources, client } = this.#context;
    const entry = await resources.store.get(storeKey);
    const quota = entry && readObject(resources.codec, entry);
    if (!quota) return;
    const limits = limitsOf(quota);
    const { hard, used: recorded } = readQuota(quota);
    const counted = await this.#calculator.usageOf(quota.metadata.namespace ?? "", limits);
    if (this.#recorded.delete(storeKey)) this.#unseen.set(storeKey, excess(recorded, counted));
    const total = addAmounts(counted, this.#unseen.get(storeKey) ?? NO_AMOUNTS);
    const used = onlyAmounts(new Map([...recorded, ...total]), (name) => limits.hard.has(name));
    this.#queue.addAfter(storeKey, RESYNC_MS);
    const { status } = quota;
    const isComplete = isObject(status) && isObject(status.hard) && isObject(status.used);
    if (isComplete && equalAmounts(hard, limits.hard) && equalAmounts(recorded, used)) return;
    const counts = { hard: writeAmounts(limits.hard), used: writeAmounts(used) };
    await client.update(this.resource, { ...quota, status: counts }, { subresource: "status" }).catch(unlessCode(404));
  }
}

/** Compat: the controller counts by `spec.hard` and copies it to `status.hard`, which the admission plugin enforces. */
function limitsOf(quota: KubeObject): Limits {
  const { spec } = quota;
  const hard = isObject(spec) && isObject(spec.hard) ? spec.hard : undefined;
  return { hard: readAmounts(hard), scopes: readQuota(quota).scopes };
}

/** How much more was recorded than counted. */
function excess(recorded: Amounts, counted: Amounts): Amounts {
  const more = [...recorded].map(([name, amount]) => {
    return [name, subtractQuantities(amount, counted.get(name) ?? countOf(0))] as const;
  });
  return new Map(more.filter(([, amount]) => amount.mantissa > 0n));
}
