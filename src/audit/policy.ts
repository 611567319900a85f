import {
  type FieldError,
  invalidField,
  notSupportedField,
  printFieldError,
  requiredField,
} from "../api/field-error.ts";
import { dns1123Subdomain } from "../api/names.ts";
import { isObject, type Json, type JsonObject } from "../api/object.ts";
import { DecodeError } from "../encoding/json/json.ts";
import { decodeYaml } from "../encoding/yaml/yaml.ts";

/** How much is written down about a request, in rising order. */
export const LEVELS = ["None", "Metadata", "Request", "RequestResponse"] as const;
/** One of `LEVELS`. */
export type Level = (typeof LEVELS)[number];

/** When something is written down about a request. */
export const STAGES = ["RequestReceived", "ResponseStarted", "ResponseComplete", "Panic"] as const;
/** One of `STAGES`. */
export type Stage = (typeof STAGES)[number];

/** Which resources of a group a rule is about. */
export interface GroupResources {
  readonly group: string;
  readonly resources: readonly string[];
  readonly resourceNames: readonly string[];
}

/** What of which requests is written down. An empty list matches everything. */
export interface PolicyRule {
  readonly level: Level;
  readonly users: readonly string[];
  readonly userGroups: readonly string[];
  readonly verbs: readonly string[];
  readonly resources: readonly GroupResources[];
  readonly namespaces: readonly string[];
  readonly nonResourceURLs: readonly string[];
  readonly omitStages: readonly Stage[];
  /** Absent: as the policy says. */
  readonly omitManagedFields?: boolean;
}

/** An audit.k8s.io/v1 Policy. */
export interface Policy {
  readonly rules: readonly PolicyRule[];
  readonly omitStages: readonly Stage[];
  readonly omitManagedFields: boolean;
}

const API_VERSION = "audit.k8s.io/v1";
const STRINGS = ["users", "userGroups", "verbs", "namespaces", "nonResourceURLs", "omitStages"];
const POLICY_MEMBERS = ["kind", "apiVersion", "metadata", "rules", "omitStages", "omitManagedFields"];
const RULE_MEMBERS = ["level", "resources", "omitManagedFields", ...STRINGS];

/**
 * Reads the text of `--audit-policy-file`. Throws an Error in kube-apiserver's words when it cannot be used. Compat: as
 * LoadPolicyFromBytes does, members that nobody knows are only warned of.
 */
export function parsePolicy(bytes: Uint8Array, file: string, warn: (text: string) => void): Policy {
  try {
    return readPolicy(decode(bytes), warn);
  } catch (error) {
    if (!(error instanceof PolicyError)) throw error;
    throw new Error(`loading audit policy file: ${error.message}: from file ${file}`);
  }
}

class PolicyError extends Error {}

function decode(bytes: Uint8Array): JsonObject {
  try {
    const { value } = decodeYaml(bytes);
    if (isObject(value)) return value;
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error;
    throw new PolicyError(`failed decoding: yaml: ${error.message}`);
  }
  throw new PolicyError("failed decoding: couldn't get version/kind; json parse error");
}

function readPolicy(value: JsonObject, warn: (text: string) => void): Policy {
  const { kind = "", apiVersion = "" } = value;
  if (kind === "") throw new PolicyError("failed decoding: Object 'Kind' is missing");
  if (apiVersion === "") throw new PolicyError("failed decoding: Object 'apiVersion' is missing");
  if (kind !== "Policy" || apiVersion !== API_VERSION) {
    throw new PolicyError(`failed decoding: no kind "${kind}" is registered for version "${apiVersion}"`);
  }
  const reader = new Reader();
  const policy = {
    rules: reader.objects(value, "rules", "").map(([rule, path]) => readRule(reader, rule, path)),
    omitStages: reader.strings(value, "omitStages", "") as Stage[],
    omitManagedFields: reader.boolean(value, "omitManagedFields", "") ?? false,
  };
  reader.known(value, "", POLICY_MEMBERS);
  if (reader.unknown.length > 0) {
    const texts = reader.unknown.map((path) => `unknown field "${path}"`).join(", ");
    warn(`Audit policy contains errors, falling back to lenient decoding: strict decoding error: ${texts}`);
  }
  const errors = validatePolicy(policy).map(printFieldError);
  if (errors.length > 0) throw new PolicyError(errors.length === 1 ? (errors[0] ?? "") : `[${errors.join(", ")}]`);
  if (policy.rules.length === 0) throw new PolicyError("loaded illegal policy with 0 rules");
  return policy;
}

function readRule(reader: Reader, rule: JsonObject, path: string): PolicyRule {
  reader.known(rule, path, RULE_MEMBERS);
  const strings = (member: string): string[] => reader.strings(rule, member, path);
  const omitManagedFields = reader.boolean(rule, "omitManagedFields", path);
  return {
    level: reader.string(rule, "level", path) as Level,
    users: strings("users"),
    userGroups: strings("userGroups"),
    verbs: strings("verbs"),
    namespaces: strings("namespaces"),
    nonResourceURLs: strings("nonResourceURLs"),
    omitStages: strings("omitStages") as Stage[],
    resources: reader.objects(rule, "resources", path).map(([entry, at]) => {
      reader.known(entry, at, ["group", "resources", "resourceNames"]);
      return {
        group: reader.string(entry, "group", at),
        resources: reader.strings(entry, "resources", at),
        resourceNames: reader.strings(entry, "resourceNames", at),
      };
    }),
    ...(omitManagedFields !== undefined && { omitManagedFields }),
  };
}

/** Takes values of a decoded file for what they must be; null and absent are the same. */
class Reader {
  readonly unknown: string[] = [];

  known(object: JsonObject, path: string, members: readonly string[]): void {
    for (const name of Object.keys(object)) if (!members.includes(name)) this.unknown.push(join(path, name));
  }

  string(object: JsonObject, member: string, path: string): string {
    const value = object[member] ?? "";
    return typeof value === "string" ? value : wrongType(join(path, member), "a string");
  }

  boolean(object: JsonObject, member: string, path: string): boolean | undefined {
    const value = object[member] ?? undefined;
    if (value === undefined || typeof value === "boolean") return value;
    return wrongType(join(path, member), "a boolean");
  }

  strings(object: JsonObject, member: string, path: string): string[] {
    return this.#list(object, member, path).map(([value, at]) => {
      return typeof value === "string" ? value : wrongType(at, "a string");
    });
  }

  objects(object: JsonObject, member: string, path: string): [JsonObject, string][] {
    return this.#list(object, member, path).map(([value, at]) => {
      return isObject(value) ? [value, at] : wrongType(at, "an object");
    });
  }

  #list(object: JsonObject, member: string, path: string): [Json, string][] {
    const at = join(path, member);
    const value = object[member] ?? [];
    if (!Array.isArray(value)) return wrongType(at, "a list");
    return value.map((item, index) => [item, `${at}[${index}]`]);
  }
}

const join = (path: string, member: string): string => (path === "" ? member : `${path}.${member}`);

function wrongType(path: string, expected: string): never {
  throw new PolicyError(`failed decoding: ${path} must be ${expected}`);
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
