import { type FieldError, invalidField, notSupportedField, requiredField } from "../../../base/api/field-error.ts";
import type { JsonObject } from "../../../base/api/object.ts";
import { addAll } from "../../../base/util/add-all.ts";
import { labelName } from "../shared-rules/formats.ts";

/** ResourcePolicyRule and NonResourcePolicyRule of a FlowSchema. */
export interface PolicyRule extends JsonObject {
  verbs?: string[] | null;
  apiGroups?: string[] | null;
  resources?: string[] | null;
  clusterScope?: boolean;
  namespaces?: string[] | null;
  nonResourceURLs?: string[] | null;
}

const VERBS = ["create", "delete", "deletecollection", "get", "list", "patch", "proxy", "update", "watch"];

function verbErrors(rule: PolicyRule, path: string): FieldError[] {
  const at = `${path}.verbs`;
  const verbs = rule.verbs ?? [];
  if (verbs.length === 0) return [requiredField(at, "verbs must contain at least one value")];
  if (verbs.includes("*")) return aloneErrors(verbs, at, "verbs");
  return verbs.every((verb) => VERBS.includes(verb)) ? [] : [notSupportedField(at, verbs, VERBS)];
}

/** Rejects other items besides "*". */
function aloneErrors(list: readonly string[], path: string, what: string): FieldError[] {
  if (list.length === 1 || !list.includes("*")) return [];
  return [invalidField(path, list, `if '*' is present, must not specify other ${what}`)];
}

/** Validates a ResourcePolicyRule. */
export function resourceRuleErrors(rule: PolicyRule, path: string): FieldError[] {
  const errors = verbErrors(rule, path);
  const [groups, resources, namespaces] = [rule.apiGroups ?? [], rule.resources ?? [], rule.namespaces ?? []];
  if (groups.length === 0) {
    errors.push(requiredField(`${path}.apiGroups`, "resource rules must supply at least one api group"));
  } else addAll(errors, aloneErrors(groups, `${path}.apiGroups`, "api groups"));
  if (resources.length === 0) {
    errors.push(requiredField(`${path}.resources`, "resource rules must supply at least one resource"));
  } else addAll(errors, aloneErrors(resources, `${path}.resources`, "resources"));
  const at = `${path}.namespaces`;
  if (namespaces.length === 0 && !rule.clusterScope) {
    const text = "resource rules that are not cluster scoped must supply at least one namespace";
    return [...errors, requiredField(at, text)];
  }
  if (namespaces.includes("*")) return [...errors, ...aloneErrors(namespaces, at, "namespaces")];
  for (const [index, namespace] of namespaces.entries()) {
    const texts = labelName(namespace).map(
      (text) => `each member of this list must be '*' or a DNS-1123 label; ${text}`,
    );
    addAll(
      errors,
      texts.map((text) => invalidField(`${at}[${index}]`, namespace, text)),
    );
  }
  return errors;
}

/** Validates a NonResourcePolicyRule. */
export function nonResourceRuleErrors(rule: PolicyRule, path: string): FieldError[] {
  const errors = verbErrors(rule, path);
  const at = `${path}.nonResourceURLs`;
  const urls = rule.nonResourceURLs ?? [];
  if (urls.length === 0) return [...errors, requiredField(at, "nonResourceURLs must contain at least one value")];
  if (urls.includes("*")) return [...errors, ...aloneErrors(urls, at, "non-resource URLs")];
  for (const [index, url] of urls.entries()) {
    const text = urlProblem(url);
    if (text !== undefined) errors.push(invalidField(`${at}[${index}]`, url, text));
  }
  return errors;
}

function urlProblem(url: string): string | undefined {
  if (url === "") return "must not be empty";
  if (!url.startsWith("/")) return "must start with slash";
  if (url.includes(" ")) return "must not contain white-space";
  if (url.includes("//")) return "must not contain double slash";
  const star = url.indexOf("*");
  return star < 0 || (star === url.length - 1 && url.endsWith("/*"))
    ? undefined
    : "wildcard can only do suffix matching";
}
