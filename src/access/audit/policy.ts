import {
  type FieldError,
  invalidField,
  notSupportedField,
  printFieldError,
  requiredField,
} from "../../base/api/field-error.ts";
import { dns1123Subdomain } from "../../base/api/names.ts";
import {
  type ConfigurationKinds,
  listOf,
  MissingKindError,
  readConfigurationFile,
  struct,
  TEXT,
  YES_OR_NO,
} from "../../data/encoding/configuration-file.ts";

/** How much of a request is recorded, in increasing order. */
export const LEVELS = ["None", "Metadata", "Request", "RequestResponse"] as const;
/** One of `LEVELS`. */
export type Level = (typeof LEVELS)[number];

/** Stages of a request at which events are recorded. */
export const STAGES = ["RequestReceived", "ResponseStarted", "ResponseComplete", "Panic"] as const;
/** One of `STAGES`. */
export type Stage = (typeof STAGES)[number];

/** Resources of a group that a rule applies to. */
export interface GroupResources {
  readonly group: string;
  readonly resources: readonly string[];
  readonly resourceNames: readonly string[];
}

/** What is recorded of which requests. An empty list matches everything. */
export interface PolicyRule {
  readonly level: Level;
  readonly users: readonly string[];
  readonly userGroups: readonly string[];
  readonly verbs: readonly string[];
  readonly resources: readonly GroupResources[];
  readonly namespaces: readonly string[];
  readonly nonResourceURLs: readonly string[];
  readonly omitStages: readonly Stage[];
  /** If omitted, the setting of the policy applies. */
  readonly omitManagedFields?: boolean;
}

/** An audit.k8s.io/v1 Policy. */
export interface Policy {
  readonly rules: readonly PolicyRule[];
  readonly omitStages: readonly Stage[];
  readonly omitManagedFields: boolean;
}

const TEXTS = listOf(TEXT);

const RULE = struct("v1.PolicyRule", {
  level: TEXT,
  users: TEXTS,
  userGroups: TEXTS,
  verbs: TEXTS,
  resources: listOf(struct("v1.GroupResources", { group: TEXT, resources: TEXTS, resourceNames: TEXTS })),
  namespaces: TEXTS,
  nonResourceURLs: TEXTS,
  omitStages: TEXTS,
  omitManagedFields: YES_OR_NO,
});

const KINDS: ConfigurationKinds = {
  group: "audit.k8s.io",
  versions: ["v1"],
  schemas: new Map([
    [
      "Policy",
      struct("v1.Policy", {
        ...{ apiVersion: TEXT, kind: TEXT, metadata: {} },
        ...{ rules: listOf(RULE), omitStages: TEXTS, omitManagedFields: YES_OR_NO },
      }),
    ],
  ]),
};

/** As in the file, where empty members may be absent. */
type Written<Part> = { readonly [Name in keyof Part]?: Part[Name] | null };

interface WrittenRule extends Omit<Written<PolicyRule>, "resources"> {
  readonly resources?: readonly Written<GroupResources>[] | null;
}

interface WrittenPolicy extends Omit<Written<Policy>, "rules"> {
  readonly rules?: readonly WrittenRule[] | null;
}

/**
 * Parses `--audit-policy-file`. Throws an Error with kube-apiserver's message if it is invalid. Compat: like
 * `LoadPolicyFromBytes`, unknown members only cause a warning.
 */
export function parsePolicy(bytes: Uint8Array, file: string, warn: (text: string) => void): Policy {
  const failed = (reason: string) => new Error(`loading audit policy file: ${reason}: from file ${file}`);
  const policy = completed(decode(bytes, failed, warn));
  const errors = validatePolicy(policy).map(printFieldError);
  if (errors.length > 0) throw failed(errors.length === 1 ? (errors[0] ?? "") : `[${errors.join(", ")}]`);
  if (policy.rules.length === 0) throw failed("loaded illegal policy with 0 rules");
  return policy;
}

function decode(bytes: Uint8Array, failed: (reason: string) => Error, warn: (text: string) => void): WrittenPolicy {
  const lenient = (problem: string) =>
    warn(`Audit policy contains errors, falling back to lenient decoding: ${problem}`);
  try {
    return readConfigurationFile(Buffer.from(bytes).toString(), KINDS, lenient).value as WrittenPolicy;
  } catch (error) {
    // Compat: `LoadPolicyFromBytes` decodes into a Policy, so a file without a kind counts as one.
    if (error instanceof MissingKindError) {
      throw failed("unknown group version field audit.k8s.io/__internal, Kind=Policy in policy");
    }
    throw failed(`failed decoding: ${error instanceof Error ? error.message : error}`);
  }
}

function completed({ rules, omitStages, omitManagedFields }: WrittenPolicy): Policy {
  return {
    rules: (rules ?? []).map(completedRule),
    omitStages: omitStages ?? [],
    omitManagedFields: omitManagedFields ?? false,
  };
}

function completedRule({ level, resources, omitManagedFields, ...lists }: WrittenRule): PolicyRule {
  return {
    level: level ?? ("" as Level),
    users: lists.users ?? [],
    userGroups: lists.userGroups ?? [],
    verbs: lists.verbs ?? [],
    namespaces: lists.namespaces ?? [],
    nonResourceURLs: lists.nonResourceURLs ?? [],
    omitStages: lists.omitStages ?? [],
    resources: (resources ?? []).map((one) => ({
      group: one.group ?? "",
      resources: one.resources ?? [],
      resourceNames: one.resourceNames ?? [],
    })),
    ...(typeof omitManagedFields === "boolean" && { omitManagedFields }),
  };
}

function validatePolicy({ omitStages, rules }: Policy): FieldError[] {
  return [...stageErrors(omitStages, "omitStages"), ...rules.flatMap((rule, at) => ruleErrors(rule, `rules[${at}]`))];
}

/** Compat: validatePolicyRule. */
function ruleErrors(rule: PolicyRule, path: string): FieldError[] {
  const { level, nonResourceURLs, resources, namespaces, omitStages } = rule;
  const errors: FieldError[] = [];
  if ((level as string) === "") errors.push(requiredField(`${path}.level`));
  else if (!LEVELS.includes(level)) errors.push(notSupportedField(`${path}.level`, level, LEVELS));
  for (const [index, url] of nonResourceURLs.entries())
    errors.push(...urlErrors(url, `${path}.nonResourceURLs[${index}]`));
  for (const one of resources) errors.push(...resourceErrors(one, `${path}.resources`));
  errors.push(...stageErrors(omitStages, `${path}.omitStages`));
  if (nonResourceURLs.length > 0 && (resources.length > 0 || namespaces.length > 0)) {
    const text = "rules cannot apply to both regular resources and non-resource URLs";
    errors.push(invalidField(`${path}.nonResourceURLs`, nonResourceURLs, text));
  }
  return errors;
}

function urlErrors(url: string, path: string): FieldError[] {
  if (url === "*") return [];
  const errors: FieldError[] = [];
  const start = "non-resource URL rules must begin with a '/' character";
  if (!url.startsWith("/")) errors.push(invalidField(path, url, start));
  const end = "non-resource URL wildcards '*' must be the final character of the rule";
  if (url.slice(0, -1).includes("*")) errors.push(invalidField(path, url, end));
  return errors;
}

function resourceErrors({ group, resources, resourceNames }: GroupResources, path: string): FieldError[] {
  const errors: FieldError[] = [];
  const problems = group === "" || group === "*" ? [] : dns1123Subdomain(group, "characters");
  if (problems.length > 0) errors.push(invalidField(`${path}.group`, group, problems.join(",")));
  if (resourceNames.length > 0 && resources.length === 0) {
    const text = "using resourceNames requires at least one resource";
    errors.push(invalidField(`${path}.resourceNames`, resourceNames, text));
  }
  return errors;
}

function stageErrors(stages: readonly string[], path: string): FieldError[] {
  const text = `allowed stages are ${STAGES.join(",")}`;
  return stages.flatMap((stage, index) => {
    return (STAGES as readonly string[]).includes(stage) ? [] : [invalidField(`${path}[${index}]`, stage, text)];
  });
}
