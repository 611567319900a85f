import type { Rule } from "../../types/admission-registration.ts";
import type { AdmissionRequest } from "../plugin.ts";

/** What rules are about: one resource of one group version, and what is done with it. */
export interface Matchable {
  readonly group: string;
  readonly version: string;
  /** The plural name. */
  readonly resource: string;
  readonly subresource: string;
  readonly operation: AdmissionRequest["operation"];
  readonly isNamespaced: boolean;
}

/** Whether a request is about Namespaces themselves, which are cluster-scoped although they have a namespace. */
export function isNamespaces({ group, resource }: Pick<Matchable, "group" | "resource">): boolean {
  return group === "" && resource === "namespaces";
}

/** Whether a rule names this. Names of objects are not looked at. Upstream: `rules.Matcher`. */
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

/** `pods` means no subresource of pods, `pods/*` means the pods as well. */
function matchesResource(text: string, { resource, subresource }: Matchable): boolean {
  const slash = text.indexOf("/");
  const [own, part] = slash < 0 ? [text, ""] : [text.slice(0, slash), text.slice(slash + 1)];
  return (own === "*" || own === resource) && (part === "*" || part === subresource);
}
