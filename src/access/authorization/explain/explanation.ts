import { ApiError } from "../../../base/api/api-error.ts";
import type { Attributes, Authorizer } from "../../../base/api/attributes.ts";
import type { UserInfo } from "../../../base/api/user-info.ts";
import type { PolicyRule, Subject } from "../../../kinds/types/rbac.ts";
import { applyingSubject, type KnownBinding } from "../bindings-by-subject.ts";
import { type CompiledRule, questionOf } from "../policy-rules.ts";
import type { Grant } from "../role-index.ts";

/** What a rule lacks to allow a request. */
export interface Lack {
  readonly what: "verb" | "apiGroup" | "resource" | "resourceName" | "namespace" | "path";
  readonly wanted: string;
  /** What the rule (for a namespace: its binding) has instead. Long lists are truncated. */
  readonly has: readonly string[];
}

/** A rule, and the binding and role that grant it. */
export interface ExplainedRule {
  readonly binding: { readonly kind: string; readonly name: string; readonly namespace?: string };
  readonly role: { readonly kind: string; readonly name: string; readonly namespace?: string };
  readonly subject: { readonly kind: string; readonly name: string; readonly namespace?: string };
  /** Index of the rule in the role, from 0, and the rule. Long lists are truncated. */
  readonly index: number;
  readonly rule: PolicyRule;
}

/** A rule that almost allows a request. */
export interface NearRule extends ExplainedRule {
  readonly lacks: readonly Lack[];
}

/** Why a request is allowed or denied. */
export interface Explanation {
  readonly allowed: boolean;
  /** The reason that the authorizers gave. */
  readonly reason: string;
  /** The first rule that allows the request. Absent if it is denied, or allowed by something else than a role. */
  readonly allowedBy?: ExplainedRule;
  /** If denied: rules of the same user or groups, those that lack least first. */
  readonly nearest: readonly NearRule[];
  /** Errors of the user's bindings, such as a missing role. */
  readonly errors: readonly string[];
}

/** Source of the rules granted to a user. */
export interface GrantSource {
  grants(user: UserInfo, namespace: string): Iterable<Grant>;
  /** Grants in other namespaces. */
  grantsElsewhere(user: UserInfo, namespace: string): Iterable<Grant>;
}

const MOST_NEAR = 5;
const MOST_ERRORS = 20;
const MOST_RULES = 50_000;
const MOST_VALUES = 20;

/** Explains the decision of the authorizers by the user's roles. */
export async function explain(
  authorizer: Authorizer,
  source: GrantSource,
  attributes: Attributes,
): Promise<Explanation> {
  const { decision, reason = "", error } = await authorizer.authorize(attributes);
  const allowed = decision === "allow";
  const told = error === undefined ? reason : [error, reason].filter((text) => text !== "").join(": ");
  if (allowed) {
    // Another authorizer than RBAC may have allowed it, regardless of roles.
    const allowedBy = reason.startsWith("RBAC: ") ? findAllowing(source, attributes) : undefined;
    return { allowed, reason: told, ...(allowedBy && { allowedBy }), nearest: [], errors: [] };
  }
  return { allowed, reason: told, ...findNearest(source, attributes) };
}

function findAllowing(source: GrantSource, attributes: Attributes): ExplainedRule | undefined {
  const question = questionOf(attributes);
  for (const { binding, rules } of source.grants(attributes.user, attributes.namespace)) {
    if (rules instanceof ApiError) continue;
    const index = rules.findIndex((rule) => rule.allows(question));
    if (index >= 0) return explained(binding, rules, index, attributes.user);
  }
  return undefined;
}

function findNearest(source: GrantSource, attributes: Attributes): Pick<Explanation, "nearest" | "errors"> {
  const { user, namespace } = attributes;
  const errors = new Set<string>();
  const near: NearRule[] = [];
  let seen = 0;
  const look = (grants: Iterable<Grant>, elsewhere: readonly Lack[]): void => {
    for (const { binding, rules } of grants) {
      if (rules instanceof ApiError) {
        if (errors.size < MOST_ERRORS) errors.add(rules.message);
        continue;
      }
      const isElsewhere = elsewhere.length > 0 ? [{ ...elsewhere[0], has: [binding.namespace] } as Lack] : [];
      for (const [index, rule] of rules.entries()) {
        if (++seen > MOST_RULES) return;
        const lacks = lacksOf(rule.source, attributes);
        if (lacks === undefined) continue;
        const all = [...lacks, ...isElsewhere];
        const last = near.at(-1);
        if (near.length < MOST_NEAR || !last || distance(all) < distance(last.lacks))
          insert(near, { ...explained(binding, rules, index, user), lacks: all });
      }
    }
  };
  look(source.grants(user, namespace), []);
  if (attributes.isResourceRequest) {
    const wanted = namespace === "" ? "*" : namespace;
    look(source.grantsElsewhere(user, namespace), [{ what: "namespace", wanted, has: [] }]);
  }
  return { nearest: near, errors: [...errors] };
}

/**
 * Inserts a rule after those with the same distance, and drops the last one if there are too many. A binding that
 * occurs twice is inserted once.
 */
function insert(near: NearRule[], next: NearRule): void {
  const isSame = (one: NearRule): boolean =>
    one.index === next.index &&
    one.binding.kind === next.binding.kind &&
    one.binding.name === next.binding.name &&
    one.binding.namespace === next.binding.namespace;
  if (near.some(isSame)) return;
  const at = near.findIndex((one) => distance(one.lacks) > distance(next.lacks));
  near.splice(at < 0 ? near.length : at, 0, next);
  near.length = Math.min(near.length, MOST_NEAR);
}

/** How much is missing. Of two rules that lack equally much, the one for the same resource is closer. */
function distance(lacks: readonly Lack[]): number {
  return lacks.length * 2 + (lacks.some(({ what }) => what === "resource") ? 1 : 0);
}

/** What a rule lacks. Undefined if the rule is unrelated. */
function lacksOf(rule: PolicyRule, attributes: Attributes): Lack[] | undefined {
  const { verb, apiGroup, name, path, isResourceRequest } = attributes;
  const lacks: Lack[] = [];
  const check = (what: Lack["what"], wanted: string, has: readonly string[] = [], isThere = includes(has, wanted)) => {
    if (!isThere) lacks.push({ what, wanted, has: cut(has) });
    return isThere;
  };
  const hasVerb = check("verb", verb, rule.verbs);
  if (!isResourceRequest) {
    const urls = rule.nonResourceURLs ?? [];
    const hasPath = check(
      "path",
      path,
      urls,
      urls.some((url) => covers(url, path)),
    );
    return urls.length > 0 && (hasVerb || hasPath) ? lacks : undefined;
  }
  if (!rule.resources?.length) return undefined;
  const { resource, anyResource } = questionOf(attributes);
  const isCovered = includes(rule.resources, resource) || (anyResource !== "" && rule.resources.includes(anyResource));
  const hasGroup = check("apiGroup", apiGroup, rule.apiGroups);
  const hasResource = check("resource", resource, rule.resources, isCovered);
  const names = rule.resourceNames ?? [];
  if (names.length > 0) check("resourceName", name, names, name !== "" && names.includes(name));
  return hasResource || (hasVerb && hasGroup) ? lacks : undefined;
}

const includes = (values: readonly string[], wanted: string): boolean =>
  values.includes("*") || values.includes(wanted);
const covers = (url: string, path: string): boolean =>
  url === path || (url.endsWith("*") && path.startsWith(url.slice(0, -1)));

function explained(
  binding: KnownBinding,
  rules: readonly CompiledRule[],
  index: number,
  user: UserInfo,
): ExplainedRule {
  const { kind, name, namespace, roleRef } = binding;
  const subject: Subject = applyingSubject(binding, user) ?? {};
  const isOfNamespace = roleRef.kind === "Role";
  return {
    binding: { kind, name, ...(namespace !== "" && { namespace }) },
    role: { ...roleRef, ...(isOfNamespace && { namespace }) },
    subject: {
      ...{ kind: subject.kind ?? "", name: subject.name ?? "" },
      ...(subject.kind === "ServiceAccount" && { namespace: subject.namespace || namespace }),
    },
    index,
    rule: shown(rules[index]?.source ?? {}),
  };
}

/** A copy of the rule with truncated lists. */
function shown(rule: PolicyRule): PolicyRule {
  const lists = Object.entries(rule).filter((entry): entry is [string, string[]] => Array.isArray(entry[1]));
  return Object.fromEntries(lists.map(([member, values]) => [member, cut(values)]));
}

function cut(values: readonly string[]): string[] {
  const kept = values.slice(0, MOST_VALUES);
  return values.length > MOST_VALUES ? [...kept, `… ${values.length - MOST_VALUES} more`] : kept;
}
