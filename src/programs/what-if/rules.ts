import type { ApiError } from "../../base/api/api-error.ts";
import type { Json } from "../../base/api/object.ts";
import { getMember } from "../../base/util/members.ts";

/** What denied an object. */
export interface RefusingRule {
  /** A kind, an admission plugin, or a reason of the API. */
  readonly type: string;
  /** Its name, if the response contains it. */
  readonly name?: string;
  /** The binding of a policy. */
  readonly binding?: string;
}

/** A problem with one field. */
export interface RefusalCause {
  readonly reason: string;
  readonly field: string;
  readonly message: string;
}

/** The response of the server to an object that it denies. */
export interface Refusal {
  /** The status code; 0 if the object was not sent. */
  readonly code: number;
  readonly reason: string;
  readonly message: string;
  readonly causes: readonly RefusalCause[];
  readonly rule: RefusingRule;
}

const ACCOUNT = "error looking up service account ";

/** How to recognize a rule in a message. */
interface Telltale {
  readonly type: string;
  /** Texts that the message contains. */
  readonly says: readonly string[];
  /** Text before the name of the rule. The name ends before one of the characters in `nameEnd`. */
  readonly name?: string;
  readonly nameEnd?: string;
  /** Text before the name of the binding. */
  readonly binding?: string;
}

/** The first match wins. */
const TELLTALES: readonly Telltale[] = [
  ...["ValidatingAdmissionPolicy", "MutatingAdmissionPolicy"].map((type) => ({
    ...{ type, says: [`${type} '`, "' with binding '"] },
    ...{ name: `${type} '`, nameEnd: "'", binding: "' with binding '" },
  })),
  { type: "webhook", says: ['webhook "'], name: 'webhook "', nameEnd: '"' },
  { type: "ResourceQuota", says: ["exceeded quota: "], name: "exceeded quota: ", nameEnd: ",: " },
  { type: "ResourceQuota", says: ["failed quota: "], name: "failed quota: ", nameEnd: ",: " },
  { type: "PodSecurity", says: ['violates PodSecurity "'], name: 'violates PodSecurity "', nameEnd: '"' },
  { type: "LimitRange", says: ["imum ", " usage per "] },
  { type: "LimitRange", says: ["limit to request ratio per "] },
  { type: "RBAC", says: ['User "', '" cannot '] },
  { type: "RBAC", says: ["attempting to grant RBAC permissions not currently held"] },
  { type: "schema", says: [": field not declared in schema"] },
  { type: "schema", says: ["strict decoding error: "] },
  { type: "Namespace", says: ['namespaces "', '" not found'], name: 'namespaces "', nameEnd: '"' },
  { type: "Namespace", says: ["because it is being terminated"], name: "new content in namespace ", nameEnd: " " },
  { type: "ServiceAccount", says: [ACCOUNT], name: ACCOUNT, nameEnd: ": " },
];

const REASONS: Readonly<Record<string, string>> = {
  Invalid: "validation",
  BadRequest: "schema",
  Conflict: "field ownership",
  Forbidden: "admission",
};

/** Converts an error of the server. */
export function refusalOf({ code, status }: Pick<ApiError, "code" | "status">): Refusal {
  const { message = "", reason = "", details } = status;
  const causes = (details?.causes ?? []).map((cause) => ({
    reason: textOf(cause.reason),
    field: textOf(cause.field),
    message: textOf(cause.message),
  }));
  return { code, reason, message, causes, rule: ruleOf(message, reason) };
}

/** An object that clients reject before they send it. */
export function refusedHere(type: string, message: string): Refusal {
  return { code: 0, reason: "", message, causes: [], rule: { type } };
}

/** The rule as text, e.g. `ResourceQuota pods` or `policy replicas (binding replicas)`. */
export function printRule({ type, name, binding }: RefusingRule): string {
  if (binding !== undefined) return `policy ${name} (binding ${binding})`;
  return name === undefined ? type : `${type} ${name}`;
}

function ruleOf(message: string, reason: string): RefusingRule {
  const known = TELLTALES.find(({ says }) => says.every((part) => message.includes(part)));
  if (!known) return { type: getMember(REASONS, reason) ?? (reason || "server") };
  const name = nameBehind(message, known.name, known.nameEnd);
  const binding = nameBehind(message, known.binding, known.nameEnd);
  return { type: known.type, ...(name !== undefined && { name }), ...(binding !== undefined && { binding }) };
}

function nameBehind(message: string, mark: string | undefined, end = ""): string | undefined {
  const at = mark === undefined ? -1 : message.indexOf(mark);
  if (mark === undefined || at < 0) return undefined;
  const rest = message.slice(at + mark.length);
  const ends = [...end].map((character) => rest.indexOf(character)).filter((index) => index >= 0);
  return rest.slice(
    0,
    ends.reduce((one, other) => Math.min(one, other), rest.length),
  );
}

function textOf(value: Json | undefined): string {
  return typeof value === "string" ? value : "";
}
