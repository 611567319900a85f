import type { KubeObject } from "../../../base/api/object.ts";
import { runTogether } from "../../../base/util/run-together.ts";
import type { ParamKind, PolicyBindingSpec, PolicySpec } from "../../../kinds/types/admission-registration.ts";
import type { ServedResource } from "../../../resources/model/catalog.ts";
import { storedResource } from "../../../resources/model/stored-resource.ts";
import { StoredIndex } from "../../../resources/read/stored-index.ts";
import type { Resources } from "../../../resources/resources.ts";
import { criteriaOf, type Match, type MatchCriteria, MatchIndex } from "../matching/match-index.ts";
import { Selectors } from "../matching/selectors.ts";
import type { AdmissionRequest } from "../plugin.ts";
import { paramResource } from "./params.ts";

const GROUP = "admissionregistration.k8s.io";

/** A binding, prepared for matching. */
export interface PolicyBinding {
  readonly name: string;
  readonly spec: PolicyBindingSpec;
  readonly criteria: MatchCriteria;
  readonly selectors: Selectors;
}

/** A policy, compiled on first use. */
class StoredPolicy<Evaluator> {
  readonly name: string;
  readonly spec: PolicySpec;
  readonly criteria: MatchCriteria;
  readonly #compile: (spec: PolicySpec, name: string) => Evaluator;
  #evaluator: Evaluator | undefined;
  #selectors: Selectors | undefined;

  constructor(policy: KubeObject, compile: (spec: PolicySpec, name: string) => Evaluator) {
    this.name = policy.metadata.name ?? "";
    this.spec = (policy.spec as PolicySpec | undefined) ?? {};
    this.criteria = criteriaOf(this.spec.matchConstraints);
    this.#compile = compile;
  }

  get selectors(): Selectors {
    this.#selectors ??= new Selectors(this.spec.matchConstraints);
    return this.#selectors;
  }

  get evaluator(): Evaluator {
    this.#evaluator ??= this.#compile(this.spec, this.name);
    return this.#evaluator;
  }
}

/** A policy with its bindings. Upstream: `PolicyHook`. */
export interface PolicyHook<Evaluator> {
  readonly criteria: MatchCriteria;
  readonly policy: Pick<StoredPolicy<Evaluator>, "name" | "spec" | "selectors" | "evaluator">;
  /** `failurePolicy: Ignore`. */
  readonly failsOpen: boolean;
  /** Whether it comes from a static manifest. Only such policies apply to policies and bindings. */
  readonly isFixed: boolean;
  readonly bindings: readonly PolicyBinding[];
  /** Whether it needs no lookups: there are no selectors and no params. */
  readonly isPlain: boolean;
  /** The bindings whose rules match a request. */
  boundTo(request: AdmissionRequest): readonly PolicyBinding[];
  /** The resource of paramKind. Undefined if there is none. Throws ConfigurationError. */
  paramResource(): ServedResource | undefined;
}

/** Plural names of policies and their bindings. */
export interface PolicyKinds {
  readonly policies: string;
  readonly bindings: string;
}

/**
 * All policies of one kind that have a binding, kept up to date by watches. Policies and bindings are sorted by name;
 * upstream has no order. Upstream: `policySource`.
 */
export class PolicySource<Evaluator> {
  readonly #resources: Resources;
  readonly #policies: StoredIndex<StoredPolicy<Evaluator>>;
  readonly #bindings: StoredIndex<PolicyBinding>;
  readonly #compile: (spec: PolicySpec, name: string) => Evaluator;
  #current: MatchIndex<PolicyHook<Evaluator>> | undefined;
  #fixed: readonly PolicyHook<Evaluator>[] = [];

  constructor(
    resources: Resources,
    { policies, bindings }: PolicyKinds,
    compile: (spec: PolicySpec, name: string) => Evaluator,
  ) {
    this.#resources = resources;
    this.#compile = compile;
    const { store, keys, codec, catalog } = resources;
    const prefix = (plural: string) => keys.prefix(storedResource(catalog, GROUP, plural).definition);
    const changed = () => {
      this.#current = undefined;
    };
    this.#policies = new StoredIndex({
      store,
      prefix: prefix(policies),
      read: (entry) => new StoredPolicy(codec.read(entry), compile),
      changed,
    });
    this.#bindings = new StoredIndex({
      store,
      prefix: prefix(bindings),
      read: (entry) => readBinding(codec.read(entry)),
      changed,
    });
  }

  /** Sets the policies from static manifests. They have their own bindings and come before all others. */
  setFixed(policies: readonly KubeObject[], bindings: readonly KubeObject[]): void {
    const own = policies.map((policy) => new StoredPolicy(policy, this.#compile));
    this.#fixed = this.#hooks(own, bindings.map(readBinding), true);
    this.#current = undefined;
  }

  /** The policies whose rules match. */
  find(request: AdmissionRequest): readonly Match<PolicyHook<Evaluator>>[] {
    return this.#index.find(request);
  }

  /** Whether a policy may apply to writes of a resource or its subresource. */
  concerns(resource: ServedResource, subresource: string): boolean {
    return this.#index.concerns(resource, subresource);
  }

  get #index(): MatchIndex<PolicyHook<Evaluator>> {
    this.#current ??= new MatchIndex(this.#resources.catalog, [...this.#fixed, ...this.#stored()]);
    return this.#current;
  }

  /** The paramKinds of all stored policies in force. */
  paramKinds(): ParamKind[] {
    return this.#stored().flatMap(({ policy: { spec } }) => (spec.paramKind ? [spec.paramKind] : []));
  }

  /** Watches the store until the signal aborts. Rejects if a watch fails; it may be called again then. */
  async run(signal: AbortSignal): Promise<void> {
    const indexes = [this.#policies, this.#bindings];
    await runTogether(
      indexes.map((index) => (own) => index.run(own)),
      signal,
    );
  }

  /** Resolves when everything that is stored now has been loaded. */
  async loaded(signal: AbortSignal): Promise<void> {
    await Promise.all([this.#policies.loaded(signal), this.#bindings.loaded(signal)]);
  }

  #stored(): PolicyHook<Evaluator>[] {
    return this.#hooks(this.#policies.items.values(), this.#bindings.items.values(), false);
  }

  #hooks(
    policies: Iterable<StoredPolicy<Evaluator>>,
    bindings: Iterable<PolicyBinding>,
    isFixed: boolean,
  ): PolicyHook<Evaluator>[] {
    const byPolicy = new Map<string, PolicyBinding[]>();
    for (const binding of byName(bindings)) {
      const { policyName = "" } = binding.spec;
      const list = byPolicy.get(policyName) ?? [];
      byPolicy.set(policyName, list);
      list.push(binding);
    }
    return byName(policies).flatMap((policy) => {
      const bound = byPolicy.get(policy.name);
      return bound ? [{ ...this.#hookOf(policy, bound), isFixed }] : [];
    });
  }

  #hookOf(policy: StoredPolicy<Evaluator>, bindings: readonly PolicyBinding[]): Omit<PolicyHook<Evaluator>, "isFixed"> {
    const { paramKind, failurePolicy } = policy.spec;
    const meansAll = bindings.every(({ spec }) => spec.matchResources === undefined);
    const index = meansAll ? undefined : new MatchIndex(this.#resources.catalog, bindings);
    return {
      criteria: policy.criteria,
      policy,
      failsOpen: failurePolicy === "Ignore",
      bindings,
      isPlain:
        paramKind === undefined && policy.selectors.areEmpty && bindings.every(({ selectors }) => selectors.areEmpty),
      boundTo: (request) => index?.find(request).map(({ item }) => item) ?? bindings,
      paramResource: () => paramKind && paramResource(this.#resources, paramKind),
    };
  }
}

function readBinding({ metadata, spec = {} }: KubeObject): PolicyBinding {
  const { matchResources } = spec as PolicyBindingSpec;
  return {
    name: metadata.name ?? "",
    spec: spec as PolicyBindingSpec,
    criteria: criteriaOf(matchResources),
    selectors: new Selectors(matchResources),
  };
}

function byName<Item extends { readonly name: string }>(items: Iterable<Item>): Item[] {
  return [...items].sort((a, b) => (a.name < b.name ? -1 : 1));
}
