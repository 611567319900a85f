import { ApiError } from "../../api/api-error.ts";
import type { Attributes, Authorizer } from "../../api/attributes.ts";
import type { UserInfo } from "../../api/user-info.ts";
import type { PolicyRule, Subject } from "../../types/rbac.ts";
import { applyingSubject, type KnownBinding } from "../authorization/bindings-by-subject.ts";
import { type CompiledRule, questionOf } from "../authorization/policy-rules.ts";
import type { Grant } from "../authorization/role-index.ts";

/** What a rule would have to say, besides what it says, to allow a request. */
export interface Lack {
  readonly what: "verb" | "apiGroup" | "resource" | "resourceName" | "namespace" | "path";
  readonly wanted: string;
  /** What the rule, or for a namespace its binding, has instead. Long lists are cut. */
  readonly has: readonly string[];
}

/** A rule, and how it comes to somebody. */
export interface ExplainedRule {
  readonly binding: { readonly kind: string; readonly name: string; readonly namespace?: string };
  readonly role: { readonly kind: string; readonly name: string; readonly namespace?: string };
  readonly subject: { readonly kind: string; readonly name: string; readonly namespace?: string };
  /** Which of the role's rules it is, from 0, and what it says. Long lists are cut. */
  readonly index: number;
  readonly rule: PolicyRule;
}

/** A rule that nearly allows a request. */
export interface NearRule extends ExplainedRule {
  readonly lacks: readonly Lack[];
}

/** Why a request is allowed or refused. */
export interface Explanation {
  readonly allowed: boolean;
  /** In the words of the authorizers. */
  readonly reason: string;
  /** The first rule that allows it. Absent: it is refused, or something else than a role allows it. */
  readonly allowedBy?: ExplainedRule;
  /** When it is refused: rules of the same user or groups, those that lack least first. */
  readonly nearest: readonly NearRule[];
  /** Bindings of the user that give nothing, such as those whose role is missing. */
  readonly errors: readonly string[];
}

/** Where grants are found. */
export interface GrantSource {
  grants(user: UserInfo, namespace: string): Iterable<Grant>;
  /** Those of other namespaces. */
  grantsElsewhere(user: UserInfo, namespace: string): Iterable<Grant>;
}

const MOST_NEAR = 5;
const MOST_ERRORS = 20;
const MOST_RULES = 50_000;
const MOST_VALUES = 20;

/** Explains what the authorizers decide by what roles say. */
export async function explain(
  authorizer: Authorizer,
  source: GrantSource,
  attributes: Attributes,
): Promise<Explanation> {
  const { decision, reason = "", error } = await authorizer.authorize(attributes);
  const allowed = decision === "allow";
  const told = error === undefined ? reason : [error, reason].filter((text) => text !== "").join(": ");
  if (allowed) {
    // Others than RBAC may have allowed it, whatever roles say.
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
    const wanted = namespace === "" ? "all of the cluster" : namespace;
    look(source.grantsElsewhere(user, namespace), [{ what: "namespace", wanted, has: [] }]);
  }
  return { nearest: near, errors: [...errors] };
}

/** Puts a rule behind those that lack as little; the last ones fall off. A binding that comes twice is taken once. */
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

/** How much is missing; of two rules that lack as much, the one about the same resource is nearer. */
function distance(lacks: readonly Lack[]): number {
  return lacks.length * 2 + (lacks.some(({ what }) => what === "resource") ? 1 : 0);
}

/** What a rule lacks. Undefined: it is about something else altogether. */
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

/** A rule without the ends of lists that are long. */
function shown(rule: PolicyRule): PolicyRule {
  const lists = Object.entries(rule).filter((entry): entry is [string, string[]] => Array.isArray(entry[1]));
  return Object.fromEntries(lists.map(([member, values]) => [member, cut(values)]));
}

function cut(values: readonly string[]): string[] {
  const kept = values.slice(0, MOST_VALUES);
  return values.length > MOST_VALUES ? [...kept, `… ${values.length - MOST_VALUES} more`] : kept;
}
