import type { AdmissionTrace } from "../../../base/api/admission-trace.ts";
import { ApiError, badRequest, methodNotAllowed } from "../../../base/api/api-error.ts";
import { type Authorizer, resourceAttributes } from "../../../base/api/attributes.ts";
import { MAX_BODY_BYTES } from "../../../base/api/body-limits.ts";
import type { Call } from "../../../base/api/call.ts";
import { pathSegment } from "../../../base/api/names.ts";
import { isObject, type Json, type JsonObject } from "../../../base/api/object.ts";
import type { ApiReply } from "../../../base/api/reply.ts";
import type { UserInfo } from "../../../base/api/user-info.ts";
import { DecodeError, parseJson } from "../../../data/encoding/json/json.ts";
import type { Catalog } from "../../../resources/model/catalog.ts";
import { pathOf } from "../../../resources/model/resource-path.ts";
import { type AdmissionExplanation, printAdmission } from "./print.ts";
import { type MayRead, redact } from "./redact.ts";
import { Trace } from "./trace.ts";

/** Path of the endpoint. No Kubernetes client uses this path. */
export const EXPLAIN_ADMISSION_PATH = "/binnacle/admission/explain";

/** A write to be explained. */
export interface TriedWrite {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  readonly body: Json;
  /** The caller. The Impersonate-* headers name the user of the write. */
  readonly user: UserInfo;
  readonly signal: AbortSignal;
  readonly trace: AdmissionTrace;
}

/** Options of the endpoint. */
export interface ExplainAdmissionOptions {
  readonly catalog: Catalog;
  readonly authorizer: Authorizer;
  /** Sends a write through the whole request pipeline of the server. */
  readonly send: (write: TriedWrite) => Promise<ApiReply>;
}

/**
 * POST /binnacle/admission/explain takes `{object, operation, user, groups, namespace}` and returns what admission does
 * with that write, step by step. The write is a dry run through the whole request pipeline. It runs as `user`, which
 * the caller must be allowed to impersonate.
 */
export function explainAdmissionEndpoint(
  options: ExplainAdmissionOptions,
): (call: Call) => Promise<ApiReply | undefined> {
  return async (call) => {
    if (call.request.path !== EXPLAIN_ADMISSION_PATH) return undefined;
    if (call.request.method !== "POST") throw methodNotAllowed();
    const asked = readQuestion(await readBody(call));
    const explanation = await explainWrite(options, call, asked);
    const value = { ...explanation, text: printAdmission(explanation) };
    return { type: "document", code: 200, value: value as unknown as Json };
  };
}

interface Question {
  readonly operation: keyof typeof OPERATIONS;
  readonly object: JsonObject;
  readonly namespace: string;
  readonly user: string;
  readonly groups: readonly string[];
}

/** HTTP method and description of an operation. */
const OPERATIONS = {
  create: { method: "POST", says: "creates" },
  update: { method: "PUT", says: "updates" },
  apply: { method: "PATCH", says: "applies" },
  delete: { method: "DELETE", says: "deletes" },
} as const;

async function readBody(call: Call): Promise<JsonObject> {
  try {
    const body = parseJson(await call.request.readBody(MAX_BODY_BYTES));
    if (isObject(body)) return body;
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error;
  }
  throw badRequest("the body must be a JSON object");
}

function readQuestion({ operation = "create", object, namespace = "", user = "", groups = [] }: JsonObject): Question {
  if (typeof operation !== "string" || !Object.hasOwn(OPERATIONS, operation)) {
    throw badRequest(`operation must be one of ${Object.keys(OPERATIONS).join(", ")}`);
  }
  if (!isObject(object)) throw badRequest("object must be an object");
  if (typeof user !== "string" || typeof namespace !== "string") throw badRequest("user and namespace must be strings");
  if (!Array.isArray(groups) || !groups.every((group) => typeof group === "string")) {
    throw badRequest("groups must be a list of strings");
  }
  return { operation: operation as Question["operation"], object, namespace, user, groups };
}

async function explainWrite(
  { catalog, authorizer, send }: ExplainAdmissionOptions,
  call: Call,
  asked: Question,
): Promise<AdmissionExplanation> {
  const trace = new Trace();
  const { user: caller, signal } = call;
  const { type, ...write } = writeOf(catalog, asked);
  const ended = await outcome(send({ ...write, user: caller, signal, trace }));
  // The impersonation itself was denied, so the error concerns the caller, not the write.
  if (ended.error && asked.user !== "" && !trace.isImpersonated) throw ended.error;
  const mayRead: MayRead = async ({ group: apiGroup, resource, namespace = "", name }) => {
    const attributes = resourceAttributes(caller, { verb: "get", apiGroup, resource, namespace, name });
    return (await authorizer.authorize(attributes)).decision === "allow";
  };
  const steps = await redact(trace.steps, mayRead);
  return {
    request: `${asked.user || caller.name} ${OPERATIONS[asked.operation].says} ${type}`,
    verdict: ended.error ? "refused" : "allowed",
    code: ended.code,
    ...(ended.error && { message: ended.error.message, refusedBy: refusedBy(trace, ended.error) }),
    warnings: [...trace.warnings],
    steps,
  };
}

async function outcome(reply: Promise<ApiReply>): Promise<{ readonly code: number; readonly error?: ApiError }> {
  try {
    const given = await reply;
    return { code: "code" in given ? given.code : 200 };
  } catch (error) {
    if (error instanceof ApiError) return { code: error.code, error };
    throw error;
  }
}

function writeOf(catalog: Catalog, { operation, object, namespace: given, user, groups }: Question) {
  const { apiVersion, kind } = object;
  const served = catalog.findKind(String(apiVersion ?? ""), String(kind ?? ""));
  if (!served)
    throw badRequest(`kind ${JSON.stringify(kind)} of apiVersion ${JSON.stringify(apiVersion)} is not served`);
  const { group, plural, scope } = served.definition;
  const metadata = isObject(object.metadata) ? object.metadata : {};
  const isNamespaced = scope === "Namespaced";
  const namespace = isNamespaced ? given || segment(metadata.namespace) || "default" : "";
  const name = operation === "create" ? "" : segment(metadata.name);
  if (operation !== "create" && name === "") throw badRequest("metadata.name is required to update, apply or delete");
  const query = new URLSearchParams({ dryRun: "All" });
  if (operation !== "delete") query.set("fieldManager", "explain-admission");
  if (operation === "apply") query.set("force", "true");
  const shownName = name || segment(metadata.name) || `${segment(metadata.generateName)}…`;
  return {
    type: `${plural}${group === "" ? "" : `.${group}`} ${isNamespaced ? `${namespace}/` : ""}${shownName}`,
    method: OPERATIONS[operation].method,
    path: pathOf(served, { namespace: segment(namespace), name }),
    query,
    headers: {
      "content-type": operation === "apply" ? "application/apply-patch+yaml" : "application/json",
      ...(user !== "" && { "impersonate-user": headerValue(user) }),
      ...(groups.length > 0 && { "impersonate-group": groups.map(headerValue) }),
    },
    body: operation === "delete" ? { kind: "DeleteOptions", apiVersion: "v1" } : object,
  };
}

/** A name as a path segment. Throws 400 for a name that would change the path. */
function segment(value: Json | undefined): string {
  if (value === undefined || value === null) return "";
  if (typeof value !== "string") throw badRequest("names must be strings");
  const [problem] = pathSegment(value);
  if (problem !== undefined) throw badRequest(`name ${JSON.stringify(value)} ${problem}`);
  return value;
}

/** Header values are bytes, so UTF-8 is passed as Latin-1. */
const headerValue = (text: string): string => Buffer.from(text).toString("latin1");

function refusedBy({ steps, phase, isPassed }: Trace, { code }: ApiError): string {
  const denied = steps.at(-1)?.outcome === "denied" ? steps.at(-1) : undefined;
  if (denied && !isPassed) {
    const note = denied.notes.find((one) => one.outcome === "denied" || one.outcome === "failed");
    return note ? `${denied.plugin}, ${note.type} ${note.name}` : denied.plugin;
  }
  if (phase === undefined) return code === 403 ? "authorization, before admission" : "the server, before admission";
  return phase === "mutating" ? "the validation of the object, after mutating admission" : "the store, after admission";
}
