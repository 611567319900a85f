import type { ExplainedRule, Explanation } from "./explanation.ts";

/** The request in words: `alice … get pods in namespace dev`. */
export interface Asked {
  readonly user: string;
  readonly verb: string;
  readonly what: string;
  readonly where: string;
}

/** Formats an explanation for people. */
export function printExplanation({ user, verb, what, where }: Asked, explanation: Explanation): string {
  const { allowed, reason, allowedBy, nearest, errors } = explanation;
  const may = allowed ? "may" : "may not";
  const lines = [`${user} ${may} ${verb} ${what}${where === "" ? "" : ` ${where}`}.`];
  if (allowedBy) lines.push(printRule(allowedBy));
  else if (reason !== "") lines.push(`  ${reason}`);
  else if (allowed) lines.push("  Allowed without a role: by the group system:masters, or by an authorization mode.");
  if (!allowed) lines.push(nearest.length === 0 ? "No rule is similar." : "Closest rules:");
  for (const rule of nearest) {
    lines.push(printRule(rule));
    for (const { what: lack, wanted, has } of rule.lacks) {
      const title = LACKS[lack];
      lines.push(`    missing ${title} ${wanted === "" ? '""' : wanted} (has ${list(has)})`);
    }
  }
  for (const error of errors) lines.push(`  ${error}`);
  return `${lines.join("\n")}\n`;
}

const LACKS = {
  verb: "verb",
  apiGroup: "API group",
  resource: "resource",
  resourceName: "name",
  namespace: "namespace",
  path: "path",
} as const;

function printRule({ binding, role, subject, index, rule }: ExplainedRule): string {
  const named = ({ kind, name, namespace }: ExplainedRule["binding"]): string =>
    `${kind} ${namespace === undefined ? name : `${namespace}/${name}`}`;
  const { verbs = [], apiGroups = [], resources = [], resourceNames = [], nonResourceURLs = [] } = rule;
  const names = resourceNames.length === 0 ? "" : `, only ${list(resourceNames)}`;
  const about = resources.length > 0 ? `${list(resources)} of ${list(apiGroups)}${names}` : list(nonResourceURLs);
  const given = `  ${named(binding)} gives ${named(role)} to ${named(subject)}`;
  return `${given}\n    rule ${index + 1}: ${list(verbs)} on ${about}`;
}

function list(values: readonly string[]): string {
  return values.length === 0 ? "nothing" : values.map((value) => (value === "" ? '""' : value)).join(", ");
}
