import { isObject, type KubeObject } from "../../../../base/api/object.ts";
import { type Amounts, readAmounts } from "../../../../base/api/resource-amounts.ts";

/** ScopedResourceSelectorRequirement of core/v1. */
export interface Scope {
  readonly scopeName: string;
  readonly operator: string;
  readonly values: readonly string[];
}

/** A ResourceQuota in force: `status.hard`, not its spec, determines the limits. */
export interface Quota {
  readonly name: string;
  readonly hard: Amounts;
  readonly used: Amounts;
  readonly scopes: readonly Scope[];
}

/** Parses a stored ResourceQuota. */
export function readQuota({ metadata, spec, status }: KubeObject): Quota {
  const { hard, used } = isObject(status) ? status : {};
  return {
    name: metadata.name ?? "",
    hard: readAmounts(isObject(hard) ? hard : undefined),
    used: readAmounts(isObject(used) ? used : undefined),
    scopes: isObject(spec) ? scopesOf(spec) : [],
  };
}

function scopesOf({ scopes, scopeSelector }: { [member: string]: unknown }): Scope[] {
  const names = Array.isArray(scopes) ? scopes : [];
  const expressions =
    isObject(scopeSelector) && Array.isArray(scopeSelector.matchExpressions) ? scopeSelector.matchExpressions : [];
  return [
    ...names.map((name) => ({ scopeName: String(name), operator: "Exists", values: [] })),
    ...expressions.filter(isObject).map(({ scopeName, operator, values }) => ({
      scopeName: String(scopeName),
      operator: String(operator),
      values: Array.isArray(values) ? values.map(String) : [],
    })),
  ];
}

/** Whether one of several names, or their absence, matches a ScopedResourceSelectorRequirement. */
export function matchesNames({ operator, values }: Scope, names: readonly string[]): boolean {
  const isOne = (name: string) => values.includes(name);
  switch (operator) {
    case "Exists":
      return names.length > 0;
    case "DoesNotExist":
      return names.length === 0;
    case "In":
      return names.some(isOne);
    case "NotIn":
      return names.length === 0 || names.some((name) => !isOne(name));
    default:
      return false;
  }
}
