import { getMember } from "../util/members.ts";
import type { LabelRequirement, LabelSelector } from "./label-selector.ts";
import { isObject, type Json, type JsonObject } from "./object.ts";

const OPERATORS: Readonly<Record<string, LabelRequirement["operator"]>> = {
  In: "in",
  NotIn: "notin",
  Exists: "exists",
  DoesNotExist: "!",
};

/**
 * The requirements of a LabelSelector object `{matchLabels, matchExpressions}`, sorted by key. Undefined if it is
 * malformed. A missing selector has no requirements, although in Kubernetes it selects nothing.
 */
export function readSelectorObject(selector: Json | undefined): LabelSelector | undefined {
  const { matchLabels, matchExpressions } = isObject(selector) ? selector : {};
  const requirements = readLabelMap(matchLabels);
  for (const expression of Array.isArray(matchExpressions) ? matchExpressions : []) {
    const requirement = isObject(expression) ? readExpression(expression) : undefined;
    if (requirement === undefined) return undefined;
    requirements.push(requirement);
  }
  return requirements.sort(byKey);
}

/** The requirements of a map of labels, sorted by key. */
export function readLabelMap(labels: Json | undefined): LabelRequirement[] {
  const entries = isObject(labels) ? Object.entries(labels) : [];
  return entries.map(([key, value]): LabelRequirement => ({ key, operator: "=", values: [String(value)] })).sort(byKey);
}

function readExpression({ key, operator, values }: JsonObject): LabelRequirement | undefined {
  const known = getMember(OPERATORS, String(operator));
  const texts = Array.isArray(values) ? values.map(String) : [];
  const wantsValues = known === "in" || known === "notin";
  if (known === undefined || texts.length > 0 !== wantsValues) return undefined;
  return { key: String(key ?? ""), operator: known, values: texts };
}

function byKey(a: LabelRequirement, b: LabelRequirement): number {
  return a.key < b.key ? -1 : a.key > b.key ? 1 : 0;
}

/** Prints requirements in the syntax of `labelSelector`. */
export function printLabelSelector(selector: LabelSelector): string {
  return selector.map(printRequirement).join(",");
}

function printRequirement({ key, operator, values }: LabelRequirement): string {
  switch (operator) {
    case "exists":
      return key;
    case "!":
      return `!${key}`;
    case "in":
    case "notin":
      return `${key} ${operator} (${[...values].sort().join(",")})`;
    case "gt":
      return `${key}>${values[0]}`;
    case "lt":
      return `${key}<${values[0]}`;
    default:
      return `${key}${operator}${values[0]}`;
  }
}
