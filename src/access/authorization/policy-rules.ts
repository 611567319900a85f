import type { Attributes } from "../../base/api/attributes.ts";
import type { PolicyRule } from "../../kinds/types/rbac.ts";

/** The attributes of a request that PolicyRules are compared with, computed once per decision. */
export interface RuleQuestion {
  readonly verb: string;
  readonly isResourceRequest: boolean;
  readonly path: string;
  readonly apiGroup: string;
  /** With its subresource: `pods/log`. */
  readonly resource: string;
  /** The subresource of any resource: `*` + `/log`. Empty without a subresource. */
  readonly anyResource: string;
  readonly name: string;
}

/** Computes the attributes that PolicyRules are compared with. */
export function questionOf(attributes: Attributes): RuleQuestion {
  const { verb, isResourceRequest, path, apiGroup, resource, subresource, name } = attributes;
  const hasSubresource = subresource !== "";
  return {
    verb,
    isResourceRequest,
    path,
    apiGroup,
    resource: hasSubresource ? `${resource}/${subresource}` : resource,
    anyResource: hasSubresource ? `*/${subresource}` : "",
    name,
  };
}

const ALL = "*";

/** A PolicyRule, prepared for many requests. Upstream: `RuleAllows`. */
export class CompiledRule {
  readonly source: PolicyRule;
  readonly #verbs: Matcher;
  readonly #apiGroups: Matcher;
  readonly #resources: Matcher;
  /** Undefined: all names are allowed. */
  readonly #names: ReadonlySet<string> | undefined;
  readonly #urls: readonly UrlPattern[];

  constructor(rule: PolicyRule) {
    this.source = rule;
    this.#verbs = matcher(rule.verbs);
    this.#apiGroups = matcher(rule.apiGroups);
    this.#resources = matcher(rule.resources);
    this.#names = rule.resourceNames?.length ? new Set(rule.resourceNames) : undefined;
    this.#urls = (rule.nonResourceURLs ?? []).map(urlPattern);
  }

  allows(question: RuleQuestion): boolean {
    if (!this.#verbs.has(question.verb)) return false;
    if (!question.isResourceRequest) return this.#urls.some((pattern) => matchesUrl(pattern, question.path));
    return (
      this.#apiGroups.has(question.apiGroup) &&
      this.#allowsResource(question) &&
      (this.#names === undefined || this.#names.has(question.name))
    );
  }

  #allowsResource({ resource, anyResource }: RuleQuestion): boolean {
    return this.#resources.has(resource) || (anyResource !== "" && this.#resources.has(anyResource));
  }
}

type Matcher = Pick<ReadonlySet<string>, "has">;

const EVERYTHING: Matcher = { has: () => true };

function matcher(values: readonly string[] | undefined): Matcher {
  return values?.includes(ALL) ? EVERYTHING : new Set(values);
}

interface UrlPattern {
  readonly text: string;
  readonly isPrefix: boolean;
}

/**
 * Compat: `NonResourceURLMatches` removes all trailing asterisks of a nonResourceURL, and uses the rest as a prefix.
 */
function urlPattern(url: string): UrlPattern {
  let end = url.length;
  while (end > 0 && url[end - 1] === ALL) end--;
  return { text: url.slice(0, end), isPrefix: end < url.length };
}

function matchesUrl({ text, isPrefix }: UrlPattern, path: string): boolean {
  return isPrefix ? path.startsWith(text) : path === text;
}
