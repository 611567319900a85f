import type { PolicyRule } from "./rbac.ts";

/**
 * A rule with one verb and one resource of one group, optionally with one name; or with one verb and one
 * nonResourceURL.
 */
export type RuleAtom = PolicyRule;

/**
 * The parts of `others` that the owner's rules do not cover, in atoms. Upstream: `Covers`. A single rule of the owner
 * must cover an atom. Undefined if there are more than `limit` atoms: a rule is the product of its lists.
 */
export function uncoveredRules(
  owner: readonly PolicyRule[],
  wanted: readonly PolicyRule[],
  limit = Number.POSITIVE_INFINITY,
): RuleAtom[] | undefined {
  if (wanted.reduce((sum, rule) => sum + countAtoms(rule), 0) > limit) return undefined;
  const covering = owner.map((rule) => new CoveringRule(rule));
  const uncovered: RuleAtom[] = [];
  for (const rule of wanted) {
    for (const atom of atomsOf(rule)) {
      if (!covering.some((one) => one.covers(atom))) uncovered.push(atom);
    }
  }
  return uncovered;
}

function countAtoms({
  apiGroups = [],
  resources = [],
  verbs = [],
  resourceNames = [],
  nonResourceURLs = [],
}: PolicyRule) {
  const names = Math.max(1, resourceNames.length);
  return verbs.length * (apiGroups.length * resources.length * names + nonResourceURLs.length);
}

/** Compat: the order of `BreakdownRule`. */
function* atomsOf(rule: PolicyRule): Generator<RuleAtom> {
  const { apiGroups = [], resources = [], verbs = [], resourceNames = [], nonResourceURLs = [] } = rule;
  for (const group of apiGroups) {
    for (const resource of resources) {
      for (const verb of verbs) {
        const atom = { apiGroups: [group], resources: [resource], verbs: [verb] };
        if (resourceNames.length === 0) yield atom;
        for (const name of resourceNames) yield { ...atom, resourceNames: [name] };
      }
    }
  }
  for (const url of nonResourceURLs) {
    for (const verb of verbs) yield { nonResourceURLs: [url], verbs: [verb] };
  }
}

const ALL = "*";

class CoveringRule {
  readonly #verbs: ReadonlySet<string>;
  readonly #apiGroups: ReadonlySet<string>;
  readonly #resources: ReadonlySet<string>;
  readonly #names: ReadonlySet<string>;
  readonly #urls: readonly string[];

  constructor({ verbs, apiGroups, resources, resourceNames, nonResourceURLs }: PolicyRule) {
    this.#verbs = new Set(verbs);
    this.#apiGroups = new Set(apiGroups);
    this.#resources = new Set(resources);
    this.#names = new Set(resourceNames);
    this.#urls = nonResourceURLs ?? [];
  }

  covers({ verbs, apiGroups, resources, resourceNames, nonResourceURLs }: RuleAtom): boolean {
    return (
      hasOrAll(this.#verbs, verbs?.[0]) &&
      hasOrAll(this.#apiGroups, apiGroups?.[0]) &&
      this.#coversResource(resources?.[0]) &&
      (this.#names.size === 0 || (resourceNames !== undefined && this.#names.has(resourceNames[0] ?? ""))) &&
      this.#coversUrl(nonResourceURLs?.[0])
    );
  }

  #coversResource(resource: string | undefined): boolean {
    if (hasOrAll(this.#resources, resource)) return true;
    const slash = resource?.indexOf("/") ?? -1;
    return slash >= 0 && this.#resources.has(`*${resource?.slice(slash)}`);
  }

  #coversUrl(url: string | undefined): boolean {
    return url === undefined || this.#urls.some((own) => coversUrl(own, url));
  }
}

/** Whether a set has a value or "*". An atom without values is always covered. */
function hasOrAll(set: ReadonlySet<string>, value: string | undefined): boolean {
  return value === undefined || set.has(ALL) || set.has(value);
}

function coversUrl(own: string, url: string): boolean {
  if (own === url) return true;
  let end = own.length;
  while (end > 0 && own[end - 1] === ALL) end--;
  return end < own.length && url.startsWith(own.slice(0, end));
}
