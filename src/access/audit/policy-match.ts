import type { Attributes } from "../../base/api/attributes.ts";
import type { UserInfo } from "../../base/api/user-info.ts";
import { trimRight } from "../../base/util/trim-right.ts";
import type { GroupResources, Level, Policy, PolicyRule, Stage } from "./policy.ts";

/** What is recorded of one request. Upstream: `RequestAuditConfig`. */
export interface RequestAudit {
  readonly level: Level;
  readonly omitStages: ReadonlySet<Stage>;
  readonly omitManagedFields: boolean;
}

/** Returns a function that applies the first matching rule of a policy to a request. Without one, the level is None. */
export function policyEvaluator(policy: Policy): (attributes: Attributes, user: UserInfo | undefined) => RequestAudit {
  const decided = (level: Level, rule?: PolicyRule): RequestAudit => ({
    level,
    omitStages: new Set([...policy.omitStages, ...(rule?.omitStages ?? [])]),
    omitManagedFields: rule?.omitManagedFields ?? policy.omitManagedFields,
  });
  const rules = policy.rules.map((rule) => ({ rule, audit: decided(rule.level, rule) }));
  const nothing = decided("None");
  return (attributes, user) => rules.find(({ rule }) => matches(rule, attributes, user))?.audit ?? nothing;
}

/** Compat: ruleMatches. `user` is undefined if authentication failed. */
function matches(rule: PolicyRule, attributes: Attributes, user: UserInfo | undefined): boolean {
  const { users, userGroups, verbs, namespaces, resources, nonResourceURLs } = rule;
  if (users.length > 0 && (user === undefined || !users.includes(user.name))) return false;
  if (userGroups.length > 0 && !user?.groups.some((group) => userGroups.includes(group))) return false;
  if (verbs.length > 0 && !verbs.includes(attributes.verb)) return false;
  if (namespaces.length > 0 || resources.length > 0) return matchesResource(rule, attributes);
  if (nonResourceURLs.length === 0) return true;
  return !attributes.isResourceRequest && nonResourceURLs.some((url) => matchesPath(url, attributes.path));
}

function matchesPath(url: string, path: string): boolean {
  return url === "*" || url === path || (url.endsWith("*") && path.startsWith(trimRight(url, "*")));
}

function matchesResource({ namespaces, resources }: PolicyRule, attributes: Attributes): boolean {
  if (!attributes.isResourceRequest) return false;
  if (namespaces.length > 0 && !namespaces.includes(attributes.namespace)) return false;
  return resources.length === 0 || resources.some((group) => matchesGroup(group, attributes));
}

function matchesGroup({ group, resources, resourceNames }: GroupResources, attributes: Attributes): boolean {
  const { apiGroup, resource, subresource, name } = attributes;
  if (group !== apiGroup && group !== "*") return false;
  if (resources.length === 0) return true;
  if (resourceNames.length > 0 && !resourceNames.includes(name)) return false;
  const full = subresource === "" ? resource : `${resource}/${subresource}`;
  return resources.some(
    (one) =>
      one === full || one === "*" || (subresource !== "" && one === `*/${subresource}`) || one === `${resource}/*`,
  );
}
