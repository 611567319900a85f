import type { NodeInfo } from "../node-info.ts";
import { type ChangingFilter, unresolvable, unschedulable } from "../plugin.ts";
import type { PodInfo } from "../pod-info.ts";
import { hasTopologyKeys, type SpreadConstraint } from "./spread-constraints.ts";

const NAME = "PodTopologySpread";
const REASON = "node(s) didn't match pod topology spread constraints";
const MISSING_LABEL = unresolvable(NAME, `${REASON} (missing required label)`);
const TOO_MANY = unschedulable(NAME, REASON);

/** How many matching Pods the domains of a constraint have. */
class Domains {
  readonly #counts: ReadonlyMap<string, number>;
  /** Counts that a simulation has changed. */
  readonly #changed: Map<string, number>;
  /** The domain with the fewest Pods, and the next one. */
  #lowest: readonly [Domain, Domain];

  constructor(counts: ReadonlyMap<string, number>, changed = new Map<string, number>(), lowest = lowestOf(counts)) {
    this.#counts = counts;
    this.#changed = changed;
    this.#lowest = lowest;
  }

  count(value: string): number {
    return this.#changed.get(value) ?? this.#counts.get(value) ?? 0;
  }

  /** The fewest Pods of a domain. 0 if there are fewer domains than `minDomains`. */
  fewest(minDomains: number): number {
    let { size } = this.#counts;
    for (const value of this.#changed.keys()) if (!this.#counts.has(value)) size += 1;
    return size < minDomains ? 0 : this.#lowest[0].count;
  }

  change(value: string, by: number): void {
    const count = this.count(value) + by;
    this.#changed.set(value, count);
    this.#lowest = withDomain(this.#lowest, { value, count });
  }

  copy(): Domains {
    return new Domains(this.#counts, new Map(this.#changed), this.#lowest);
  }
}

interface Domain {
  readonly value: string | undefined;
  readonly count: number;
}

const NONE: Domain = { value: undefined, count: Number.MAX_SAFE_INTEGER };

function lowestOf(counts: ReadonlyMap<string, number>): readonly [Domain, Domain] {
  let lowest: readonly [Domain, Domain] = [NONE, NONE];
  for (const [value, count] of counts) if (count < lowest[1].count) lowest = withDomain(lowest, { value, count });
  return lowest;
}

/** Two are enough, because a simulation changes the Pods of one node. Upstream: criticalPaths */
function withDomain([first, second]: readonly [Domain, Domain], domain: Domain): readonly [Domain, Domain] {
  const others = [first, second].filter(({ value }) => value !== domain.value);
  const [one = NONE, other = NONE] = others;
  if (others.length === 1) return domain.count > one.count ? [one, domain] : [domain, one];
  if (domain.count < one.count) return [domain, one];
  return domain.count < other.count ? [one, domain] : [one, other];
}

/** Rejects nodes whose domain would get more matching Pods than the fewest of a domain and `maxSkew`. */
export class SpreadFilter implements ChangingFilter {
  readonly #pod: PodInfo;
  readonly #constraints: readonly SpreadConstraint[];
  /** Of each constraint. */
  readonly #domains: readonly Domains[];
  /** 1 for each constraint that counts the Pod itself. */
  readonly #self: readonly number[];

  constructor(pod: PodInfo, constraints: readonly SpreadConstraint[], domains: readonly Domains[]) {
    this.#pod = pod;
    this.#constraints = constraints;
    this.#domains = domains;
    this.#self = constraints.map((constraint) => (constraint.matches(pod.pod.metadata.labels) ? 1 : 0));
  }

  check({ labels }: NodeInfo) {
    for (const [index, { topologyKey, minDomains, maxSkew }] of this.#constraints.entries()) {
      if (!Object.hasOwn(labels, topologyKey)) return MISSING_LABEL;
      const domains = this.#domains[index];
      if (domains === undefined) continue;
      const count = domains.count(labels[topologyKey] ?? "") + (this.#self[index] ?? 0);
      if (count - domains.fewest(minDomains) > maxSkew) return TOO_MANY;
    }
    return undefined;
  }

  copy(): SpreadFilter {
    const domains = this.#domains.map((one) => one.copy());
    return new SpreadFilter(this.#pod, this.#constraints, domains);
  }

  addPod(pod: PodInfo, node: NodeInfo): void {
    this.#change(pod, node, 1);
  }

  removePod(pod: PodInfo, node: NodeInfo): void {
    this.#change(pod, node, -1);
  }

  #change(pod: PodInfo, { node, labels }: NodeInfo, by: number): void {
    if (node === undefined || pod.namespace !== this.#pod.namespace) return;
    if (!hasTopologyKeys(labels, this.#constraints)) return;
    for (const [index, constraint] of this.#constraints.entries()) {
      if (!constraint.matches(pod.pod.metadata.labels) || !constraint.includes(node)) continue;
      this.#domains[index]?.change(labels[constraint.topologyKey] ?? "", by);
    }
  }
}

/** Counts the matching Pods of all domains. */
export function spreadFilter(
  pod: PodInfo,
  constraints: readonly SpreadConstraint[],
  nodes: readonly NodeInfo[],
): SpreadFilter {
  const eligible = nodes.filter(({ labels }) => hasTopologyKeys(labels, constraints));
  const domains = constraints.map((constraint) => {
    const counts = new Map<string, number>();
    for (const node of eligible) {
      if (node.node === undefined || !constraint.includes(node.node)) continue;
      const value = node.labels[constraint.topologyKey] ?? "";
      counts.set(value, (counts.get(value) ?? 0) + constraint.countPods(node));
    }
    return new Domains(counts);
  });
  return new SpreadFilter(pod, constraints, domains);
}
