import { isInScope } from "../../../../access/admission/plugins/resource-quota/check.ts";
import type { Evaluator } from "../../../../access/admission/plugins/resource-quota/evaluator.ts";
import { isCounted, QuotaEvaluators } from "../../../../access/admission/plugins/resource-quota/evaluators.ts";
import type { Quota } from "../../../../access/admission/plugins/resource-quota/quota.ts";
import type { KubeObject } from "../../../../base/api/object.ts";
import type { Quantity } from "../../../../base/api/quantity.ts";
import { type Amounts, addAmounts, countOf, NO_AMOUNTS, onlyAmounts } from "../../../../base/api/resource-amounts.ts";
import type { ServedResource } from "../../../../resources/model/catalog.ts";
import type { ResourceDefinition, Verb } from "../../../../resources/model/definition.ts";
import type { Resources } from "../../../../resources/resources.ts";
import type { StoredKinds } from "../../../../resources/stored-kinds.ts";

/** The limits of a ResourceQuota and its scopes. */
export type Limits = Pick<Quota, "hard" | "scopes">;

/** Compat: `GetQuotableResources`: the verbs of kinds that can be counted. */
const REQUIRED_VERBS: readonly Verb[] = ["create", "list", "watch", "delete"];

/** Computes the usage of ResourceQuotas from the stored objects, with the evaluators of the admission plugin. */
export class UsageCalculator {
  readonly #resources: Resources;
  readonly #kinds: StoredKinds;
  readonly #evaluators: QuotaEvaluators;

  constructor(resources: Resources, kinds: StoredKinds) {
    this.#resources = resources;
    this.#kinds = kinds;
    this.#evaluators = new QuotaEvaluators(resources.access);
  }

  /** The usage of all limited resources that some kind can use. Upstream: `quota.CalculateUsage`. */
  async usageOf(namespace: string, limits: Limits): Promise<Amounts> {
    let total: Amounts = NO_AMOUNTS;
    for (const resource of this.#kinds.all()) {
      const evaluator = await this.#trackerOf(resource.definition, limits);
      if (!evaluator) continue;
      const tracked = [...limits.hard.keys()].filter((name) => evaluator.tracks(name));
      total = addAmounts(total, new Map(tracked.map((name) => [name, countOf(0)])));
      total = addAmounts(total, await this.#usageOfKind(resource, evaluator, namespace, limits));
    }
    return onlyAmounts(total, (name) => limits.hard.has(name));
  }

  /** Whether objects of a kind can use a limited resource. */
  async tracks(definition: ResourceDefinition, limits: Limits): Promise<boolean> {
    return (await this.#trackerOf(definition, limits)) !== undefined;
  }

  /** What one object uses of the limited resources. */
  async usageOfObject(definition: ResourceDefinition, object: KubeObject, limits: Limits): Promise<Amounts> {
    const evaluator = await this.#evaluators.for(definition, object);
    if (!isInScope(limits, evaluator, object)) return NO_AMOUNTS;
    return onlyAmounts(evaluator.usage(object), (name) => limits.hard.has(name));
  }

  async #trackerOf(definition: ResourceDefinition, { hard }: Limits): Promise<Evaluator | undefined> {
    if (!isQuotable(definition)) return undefined;
    const evaluator = await this.#evaluators.for(definition);
    return [...hard.keys()].some((name) => evaluator.tracks(name)) ? evaluator : undefined;
  }

  async #usageOfKind(
    { definition }: ServedResource,
    { fixedUsage }: Evaluator,
    namespace: string,
    limits: Limits,
  ): Promise<Amounts> {
    const { store, keys, access } = this.#resources;
    if (fixedUsage) {
      // Such a kind matches no scope.
      if (limits.scopes.length > 0) return NO_AMOUNTS;
      const { entries, remaining } = await store.list(keys.prefix(definition, namespace), { limit: 1 });
      return times(fixedUsage, entries.length + remaining);
    }
    let total: Amounts = NO_AMOUNTS;
    for (const object of await access.list(definition.group, definition.plural, namespace)) {
      total = addAmounts(total, await this.usageOfObject(definition, object, limits));
    }
    return total;
  }
}

function isQuotable(definition: ResourceDefinition): boolean {
  const { scope, verbs } = definition;
  return scope === "Namespaced" && REQUIRED_VERBS.every((verb) => verbs.includes(verb)) && isCounted(definition);
}

function times(amounts: Amounts, count: number): Amounts {
  const factor = BigInt(count);
  const multiply = ({ mantissa, exponent, format }: Quantity) => ({ mantissa: mantissa * factor, exponent, format });
  return new Map([...amounts].map(([name, amount]) => [name, multiply(amount)]));
}
