import type { Rule } from "../../../kinds/types/admission-registration.ts";
import type { AdmissionRequest } from "../plugin.ts";

/** What rules are matched against: a resource of a group version, and the operation. */
export interface Matchable {
  readonly group: string;
  readonly version: string;
  /** The plural name. */
  readonly resource: string;
  readonly subresource: string;
  readonly operation: AdmissionRequest["operation"];
  readonly isNamespaced: boolean;
}

/** Whether the resource is namespaces, which count as cluster-scoped although their requests have a namespace. */
export function isNamespaces({ group, resource }: Pick<Matchable, "group" | "resource">): boolean {
  return group === "" && resource === "namespaces";
}

/** Whether a rule matches. Object names are not compared. Upstream: `rules.Matcher`. */
export function matchesRule(rule: Rule, wanted: Matchable): boolean {
  return (
    matchesScope(rule.scope, wanted) &&
    includes(rule.operations, wanted.operation) &&
    includes(rule.apiGroups, wanted.group) &&
    includes(rule.apiVersions, wanted.version) &&
    (rule.resources ?? []).some((text) => matchesResource(text, wanted))
  );
}

function includes(list: readonly string[] = [], wanted: string): boolean {
  return list.includes("*") || list.includes(wanted);
}

function matchesScope(scope = "*", wanted: Matchable): boolean {
  if (scope === "*") return true;
  const isCluster = !wanted.isNamespaced || isNamespaces(wanted);
  return scope === (isCluster ? "Cluster" : "Namespaced");
}

/** `pods` does not match subresources of pods; `pods/*` matches pods and their subresources. */
function matchesResource(text: string, { resource, subresource }: Matchable): boolean {
  const slash = text.indexOf("/");
  const [own, part] = slash < 0 ? [text, ""] : [text.slice(0, slash), text.slice(slash + 1)];
  return (own === "*" || own === resource) && (part === "*" || part === subresource);
}
