import type { ApiError } from "../api/api-error.ts";
import type { Json } from "../api/object.ts";
import { getMember } from "../lib/members.ts";

/** By what the server refused an object. */
export interface RefusingRule {
  /** What sort of rule it is: a kind, an admission plugin, or a word of the API. */
  readonly type: string;
  /** Which one, where the answer tells. */
  readonly name?: string;
  /** By which binding a policy applies. */
  readonly binding?: string;
}

/** What was wrong with one field. */
export interface RefusalCause {
  readonly reason: string;
  readonly field: string;
  readonly message: string;
}

/** The answer of the server to an object that it refuses. */
export interface Refusal {
  /** The status code; 0 when the object was not even sent. */
  readonly code: number;
  readonly reason: string;
  readonly message: string;
  readonly causes: readonly RefusalCause[];
  readonly rule: RefusingRule;
}

/** Texts by which rules are known, with the names in them. The first that matches counts. */
const MESSAGES: readonly (readonly [type: string, pattern: RegExp])[] = [
  ["ValidatingAdmissionPolicy", /ValidatingAdmissionPolicy '(?<name>[^']*)' with binding '(?<binding>[^']*)'/],
  ["MutatingAdmissionPolicy", /MutatingAdmissionPolicy '(?<name>[^']*)' with binding '(?<binding>[^']*)'/],
  ["webhook", /webhook "(?<name>[^"]*)"/],
  ["ResourceQuota", /(?:exceeded|failed) quota: (?<name>[^,: ]*)/],
  ["PodSecurity", /violates PodSecurity "(?<name>[^"]*)"/],
  ["LimitRange", /\b(?:minimum|maximum) \S+ usage per |limit to request ratio per /],
  ["RBAC", /\bUser "[^"]*" cannot /],
  ["RBAC", /attempting to grant RBAC permissions not currently held/],
  ["schema", /: field not declared in schema$|^strict decoding error: /],
  ["Namespace", /^namespaces "(?<name>[^"]*)" not found$/],
  ["Namespace", /new content in namespace (?<name>\S+) because it is being terminated/],
  ["ServiceAccount", /error looking up service account (?<name>[^:\s]+)/],
];

const REASONS: Readonly<Record<string, string>> = {
  Invalid: "validation",
  BadRequest: "schema",
  Conflict: "field ownership",
  Forbidden: "admission",
};

/** What an error of the server says about a refusal. */
export function refusalOf({ code, status }: Pick<ApiError, "code" | "status">): Refusal {
  const { message = "", reason = "", details } = status;
  const causes = (details?.causes ?? []).map((cause) => ({
    reason: textOf(cause.reason),
    field: textOf(cause.field),
    message: textOf(cause.message),
  }));
  return { code, reason, message, causes, rule: ruleOf(message, reason) };
}

/** An object that is not sent: a client refuses it, too. */
export function refusedHere(type: string, message: string): Refusal {
  return { code: 0, reason: "", message, causes: [], rule: { type } };
}

/** The rule in words, e.g. `ResourceQuota "pods"`. */
export function printRule({ type, name, binding }: RefusingRule): string {
  const named = name === undefined ? type : `${type} ${JSON.stringify(name)}`;
  return binding === undefined ? named : `${named} by its binding ${JSON.stringify(binding)}`;
}

function ruleOf(message: string, reason: string): RefusingRule {
  for (const [type, pattern] of MESSAGES) {
    const found = pattern.exec(message);
    if (found) return { type, ...found.groups };
  }
  return { type: getMember(REASONS, reason) ?? (reason || "server") };
}

function textOf(value: Json | undefined): string {
  return typeof value === "string" ? value : "";
}
