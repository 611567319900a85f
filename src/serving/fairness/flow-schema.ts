import { isObject, type Json, type JsonObject, type KubeObject } from "../../base/api/object.ts";
import type { RequestInfo } from "../../base/api/request-info.ts";
import type { UserInfo } from "../../base/api/user-info.ts";

/** A FlowSchema, prepared for matching. */
export interface FlowSchema {
  readonly name: string;
  /** Empty if there is no such object, only the built-in one. */
  readonly uid: string;
  /** The name of its PriorityLevelConfiguration. */
  readonly level: string;
  readonly precedence: number;
  /** What tells its flows apart. Undefined: all its requests are one flow. */
  readonly distinguisher: "ByUser" | "ByNamespace" | undefined;
  readonly rules: readonly FlowRule[];
}

/** One member of `spec.rules`. */
export interface FlowRule {
  readonly subjects: readonly ((user: UserInfo) => boolean)[];
  readonly resourceRules: readonly ResourceRule[];
  readonly nonResourceRules: readonly NonResourceRule[];
}

interface ResourceRule {
  readonly verbs: Words;
  readonly groups: Words;
  readonly resources: Words;
  readonly namespaces: Words;
  readonly hasClusterScope: boolean;
}

interface NonResourceRule {
  readonly verbs: Words;
  readonly paths: readonly string[];
}

/** Words that match. Undefined: all. */
type Words = ReadonlySet<string> | undefined;

const ACCOUNT = "system:serviceaccount:";

/** Prepares a valid FlowSchema. */
export function readFlowSchema({ metadata, spec }: KubeObject): FlowSchema {
  const { priorityLevelConfiguration, matchingPrecedence, distinguisherMethod, rules } = isObject(spec) ? spec : {};
  const method = isObject(distinguisherMethod) ? distinguisherMethod.type : undefined;
  return {
    name: metadata.name ?? "",
    uid: metadata.uid ?? "",
    level: textOf(priorityLevelConfiguration, "name"),
    precedence: typeof matchingPrecedence === "number" ? matchingPrecedence : 0,
    distinguisher: method === "ByUser" || method === "ByNamespace" ? method : undefined,
    rules: objectsOf(rules).map(readRule),
  };
}

function readRule({ subjects, resourceRules, nonResourceRules }: JsonObject): FlowRule {
  return {
    subjects: objectsOf(subjects).flatMap((subject) => readSubject(subject) ?? []),
    resourceRules: objectsOf(resourceRules).map((rule) => ({
      verbs: wordsOf(rule.verbs),
      groups: wordsOf(rule.apiGroups),
      resources: wordsOf(rule.resources),
      namespaces: wordsOf(rule.namespaces),
      hasClusterScope: rule.clusterScope === true,
    })),
    nonResourceRules: objectsOf(nonResourceRules).map((rule) => ({
      verbs: wordsOf(rule.verbs),
      paths: textsOf(rule.nonResourceURLs),
    })),
  };
}

function readSubject({ kind, user, group, serviceAccount }: JsonObject): ((user: UserInfo) => boolean) | undefined {
  if (kind === "User" && isObject(user)) {
    const name = textOf(user, "name");
    return name === "*" ? () => true : (one) => one.name === name;
  }
  if (kind === "Group" && isObject(group)) {
    const name = textOf(group, "name");
    return name === "*" ? () => true : (one) => one.groups.includes(name);
  }
  if (kind !== "ServiceAccount" || !isObject(serviceAccount)) return undefined;
  const name = textOf(serviceAccount, "name");
  const prefix = `${ACCOUNT}${textOf(serviceAccount, "namespace")}:`;
  if (name === "*") return (one) => one.name.startsWith(prefix);
  return (one) => one.name === `${prefix}${name}`;
}

/** The order in which FlowSchemas are tried. Compat: `FlowSchemaSequence`. */
export function compareFlowSchemas(a: FlowSchema, b: FlowSchema): number {
  if (a.precedence !== b.precedence) return a.precedence - b.precedence;
  return a.name < b.name ? -1 : 1;
}

/** The rules of a FlowSchema that are about this user, whatever the request. */
export function rulesFor({ rules }: FlowSchema, user: UserInfo): readonly FlowRule[] {
  return rules.filter(({ subjects }) => subjects.some((matches) => matches(user)));
}

/** Whether the resource or path rules match a request. Its user is not looked at. Compat: `matchesPolicyRule`. */
export function matchesRequest({ resourceRules, nonResourceRules }: FlowRule, info: RequestInfo): boolean {
  if (!info.isResource) {
    for (const { verbs, paths } of nonResourceRules)
      if (has(verbs, info.verb) && hasPath(paths, info.path)) return true;
    return false;
  }
  const { verb, group, subresource, namespace } = info;
  const resource = subresource === "" ? info.resource : `${info.resource}/${subresource}`;
  for (const rule of resourceRules) {
    if (!has(rule.verbs, verb) || !has(rule.resources, resource) || !has(rule.groups, group)) continue;
    if (namespace === "" ? rule.hasClusterScope : has(rule.namespaces, namespace)) return true;
  }
  return false;
}

/** What tells the flow of a request apart from others of the same FlowSchema. */
export function distinguish({ distinguisher }: FlowSchema, user: UserInfo, { namespace }: RequestInfo): string {
  if (distinguisher === undefined) return "";
  return distinguisher === "ByUser" ? user.name : namespace;
}

function has(words: Words, word: string): boolean {
  return words === undefined || words.has(word);
}

/** Compat: `matchPolicyRuleNonResourceURL`. A path without `*` also stands for all paths below it. */
function hasPath(paths: readonly string[], path: string): boolean {
  return paths.some((one) => {
    if (one === "*" || one === path) return true;
    const prefix = one.endsWith("*") ? one.slice(0, -1) : one;
    return path.startsWith(prefix.endsWith("/") ? prefix : `${prefix}/`);
  });
}

/** Compat: `containsString`. `*` stands for everything only if it is alone. */
function wordsOf(value: Json | undefined): Words {
  const texts = textsOf(value);
  return texts.length === 1 && texts[0] === "*" ? undefined : new Set(texts);
}

function textsOf(value: Json | undefined): readonly string[] {
  return Array.isArray(value) ? value.filter((one) => typeof one === "string") : [];
}

function objectsOf(value: Json | undefined): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

function textOf(value: Json | undefined, member: string): string {
  const found = isObject(value) ? value[member] : undefined;
  return typeof found === "string" ? found : "";
}
