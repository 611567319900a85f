import type { MatchResources, Rule } from "../../../kinds/types/admission-registration.ts";
import type { Catalog, ServedResource } from "../../../resources/model/catalog.ts";
import type { ResourceDefinition } from "../../../resources/model/definition.ts";
import type { AdmissionRequest } from "../plugin.ts";
import { equivalentResources } from "./equivalent-resources.ts";
import { type Matchable, matchesRule } from "./rules.ts";

/** The requests that a webhook, policy or binding applies to, without selectors and conditions. */
export interface MatchCriteria {
  readonly rules: readonly Rule[];
  readonly excluded: readonly Rule[];
  /** Whether no rules means all requests, like in the matchResources of a binding. */
  readonly meansAll: boolean;
  /** `matchPolicy: Equivalent`. */
  readonly isEquivalent: boolean;
}

/** The criteria of a policy's matchConstraints, or of a binding's matchResources. */
export function criteriaOf({ resourceRules, excludeResourceRules, matchPolicy }: MatchResources = {}): MatchCriteria {
  return {
    rules: resourceRules ?? [],
    excluded: excludeResourceRules ?? [],
    meansAll: true,
    isEquivalent: matchPolicy === "Equivalent",
  };
}

/** GroupVersionKind. */
export interface KindName {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

/**
 * The version in which a webhook or policy sees the objects of a request: that of the request, or an equivalent one.
 */
export interface MatchedResource {
  readonly definition: ResourceDefinition;
  readonly group: string;
  readonly version: string;
  /** The plural name. */
  readonly resource: string;
  /** The kind of the objects. For a subresource with its own kind, that kind. */
  readonly kind: KindName;
}

/** An item that matches, and by which resource. */
export interface Match<Item> {
  readonly item: Item;
  readonly matched: MatchedResource;
}

interface Alternative {
  /** Undefined: any name matches. */
  readonly names: readonly string[] | undefined;
  readonly matched: MatchedResource;
}

interface Candidate<Item> {
  readonly item: Item;
  /** In order of precedence. */
  readonly alternatives: readonly Alternative[];
  readonly excludedNames: readonly string[];
}

interface Candidates<Item> {
  readonly list: readonly Candidate<Item>[];
  /** The final matches, if no rule restricts names. */
  readonly matches: readonly Match<Item>[] | undefined;
}

/** The part of a request that rules are matched against, without the object name. */
type Resourceful = Pick<AdmissionRequest, "resource" | "subresource" | "operation" | "namespace">;

const OPERATIONS: readonly AdmissionRequest["operation"][] = ["CREATE", "UPDATE", "DELETE", "CONNECT"];

/**
 * Maximum number of cached combinations of resource and operation. Usually there are fewer, unless custom kinds come
 * and go.
 */
const MAX_KEPT = 20_000;

/**
 * Finds the webhooks, policies or bindings whose rules match a request. The result for a resource and operation is
 * cached until the served kinds change, so items that do not match cost nothing.
 */
export class MatchIndex<Item extends { readonly criteria: MatchCriteria }> {
  readonly #catalog: Catalog;
  readonly #items: readonly Item[];
  #kinds: readonly ResourceDefinition[] = [];
  readonly #kept = new Map<string, Candidates<Item>>();

  constructor(catalog: Catalog, items: readonly Item[]) {
    this.#catalog = catalog;
    this.#items = items;
  }

  /** All items whose rules match, in order. */
  find(request: AdmissionRequest): readonly Match<Item>[] {
    if (this.#items.length === 0) return [];
    const { list, matches } = this.#candidates(request);
    if (matches) return matches;
    const found: Match<Item>[] = [];
    for (const { item, alternatives, excludedNames } of list) {
      if (excludedNames.includes(request.name)) continue;
      const hit = alternatives.find(({ names }) => names === undefined || names.includes(request.name));
      if (hit) found.push({ item, matched: hit.matched });
    }
    return found;
  }

  /** Whether an item may apply to any write to a resource or its subresource, regardless of operation and name. */
  concerns(resource: ServedResource, subresource: string): boolean {
    if (this.#items.length === 0) return false;
    return OPERATIONS.some((operation) =>
      ["", "any"].some((namespace) => {
        return this.#candidates({ resource, subresource, operation, namespace }).list.length > 0;
      }),
    );
  }

  #candidates(request: Resourceful): Candidates<Item> {
    const { definitions } = this.#catalog;
    if (this.#kinds !== definitions || this.#kept.size > MAX_KEPT) {
      this.#kinds = definitions;
      this.#kept.clear();
    }
    const { resource, subresource, operation, namespace } = request;
    const { apiVersion, definition } = resource;
    const scope = namespace === "" ? "" : "namespaced";
    const key = `${apiVersion}/${definition.plural}/${subresource}/${operation}/${scope}`;
    const known = this.#kept.get(key);
    if (known) return known;
    const worked = this.#work(request);
    this.#kept.set(key, worked);
    return worked;
  }

  #work({ resource, subresource, operation, namespace }: Resourceful): Candidates<Item> {
    const places = [resource, ...equivalentResources(this.#catalog, resource, subresource)].map((one) => ({
      matched: matchedResource(one, subresource),
      wanted: { ...wantedOf(one), subresource, operation, isNamespaced: namespace !== "" },
    }));
    const list: Candidate<Item>[] = [];
    for (const item of this.#items) {
      const { rules, excluded, meansAll, isEquivalent } = item.criteria;
      const exclusions = alternativesOf(excluded, places, isEquivalent);
      if (exclusions.some(({ names }) => names === undefined)) continue;
      const [first] = places;
      const all = meansAll && rules.length === 0 && first ? [{ names: undefined, matched: first.matched }] : undefined;
      const alternatives = all ?? alternativesOf(rules, places, isEquivalent);
      const excludedNames = exclusions.flatMap(({ names }) => names ?? []);
      if (alternatives.length > 0) list.push({ item, alternatives, excludedNames });
    }
    return { list, matches: list.every(isNameless) ? list.map(toMatch) : undefined };
  }
}

interface Place {
  readonly matched: MatchedResource;
  readonly wanted: Matchable;
}

/** All rules are tried on the resource itself before equivalent resources. Among these, earlier rules come first. */
function alternativesOf(rules: readonly Rule[], places: readonly Place[], isEquivalent: boolean): Alternative[] {
  const [own, ...others] = places;
  const found: Alternative[] = [];
  const attempt = (rule: Rule, { matched, wanted }: Place) => {
    if (!matchesRule(rule, wanted)) return;
    const { resourceNames = [] } = rule;
    found.push({ names: resourceNames.length === 0 ? undefined : resourceNames, matched });
  };
  if (own) for (const rule of rules) attempt(rule, own);
  if (isEquivalent) for (const rule of rules) for (const other of others) attempt(rule, other);
  return found;
}

function isNameless({ alternatives, excludedNames }: Candidate<unknown>): boolean {
  return excludedNames.length === 0 && alternatives[0]?.names === undefined;
}

function toMatch<Item>({ item, alternatives }: Candidate<Item>): Match<Item> {
  return { item, matched: (alternatives[0] as Alternative).matched };
}

function wantedOf({ definition, version }: ServedResource): Pick<Matchable, "group" | "version" | "resource"> {
  return { group: definition.group, version: version.name, resource: definition.plural };
}

function matchedResource(served: ServedResource, subresource: string): MatchedResource {
  const { definition, version, subresources } = served;
  const own = { group: definition.group, version: version.name, kind: definition.kind };
  const kind = subresource === "" ? undefined : subresources[subresource]?.kind;
  return { ...wantedOf(served), definition, kind: kind ? kindName(kind) : own };
}

function kindName({ group, version, kind }: KindName): KindName {
  return { group, version, kind };
}
