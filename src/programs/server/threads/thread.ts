import v8 from "node:v8";
import vm from "node:vm";
import { parentPort, workerData } from "node:worker_threads";
import type { RulesObserver } from "../../../access/admission/configuration/dynamic-admission.ts";
import { AuditNotebook } from "../../../access/audit/notebook.ts";
import { ApiError } from "../../../base/api/api-error.ts";
import type { Authorizer } from "../../../base/api/attributes.ts";
import type { Call, Handler } from "../../../base/api/call.ts";
import type { Identities } from "../../../base/api/identity.ts";
import type { ApiReply } from "../../../base/api/reply.ts";
import type { RequestInfo } from "../../../base/api/request-info.ts";
import type { TokenIssuer } from "../../../base/api/token-issuer.ts";
import { carefulLog } from "../../../base/log/careful-log.ts";
import { systemClock } from "../../../base/util/clock.ts";
import type { Log } from "../../../base/util/environment.ts";
import { systemRandom } from "../../../base/util/random.ts";
import type { EncodedReply } from "../../../data/encoding/reply/encoded-reply.ts";
import { jsonBody } from "../../../data/encoding/reply/reply.ts";
import type { RoleRights } from "../../../kinds/types/role-rights.ts";
import { Questions, remotePart } from "../../../serving/offload/asking.ts";
import {
  type FromThread,
  givenAway,
  ownBytes,
  type SentReply,
  type SentRequest,
  type ToThread,
} from "../../../serving/offload/messages.ts";
import { RemoteStore, type SharedStore, STORE_METHODS } from "../../../serving/offload/remote-store.ts";
import { type AnswerContext, answer } from "../../../serving/pipeline/answer.ts";
import { answerErrors, logUnexpected } from "../../../serving/pipeline/answer-errors.ts";
import { pathFacts } from "../../../serving/pipeline/path-facts.ts";
import { route } from "../../../serving/pipeline/router.ts";
import { type ObjectOptions, objectHandler, objectParts } from "../object-parts.ts";
import { type KindNames, type KindOptions, threadKinds } from "./thread-kinds.ts";
import { ThreadRequest } from "./thread-request.ts";

/** Entries arrive as copies, so cached views of earlier ones are useless. */
const KEPT_VIEWS = 1;

/** Garbage is collected after a request that leaves more than this: it would count for the next one (`maxMemoryBytes`). */
const LEFT_BEHIND_BYTES = 128 * 1024 * 1024;

/** The start data of a thread. */
export interface ThreadData {
  readonly options: ObjectOptions;
  readonly kinds: KindOptions;
  readonly issuer: IssuerLimits;
}

/** The token issuer without its key. */
export type IssuerLimits = Omit<TokenIssuer, "sign">;

/**
 * The program of a worker thread: the kinds, admission and verbs of the server, on a store that is accessed by messages. It runs one
 * request at a time.
 */
function work({ options, kinds: kindOptions, issuer: limits }: ThreadData): void {
  const post = (message: FromThread, given: ArrayBuffer[] = []) => parentPort?.postMessage(message, given);
  const questions = new Questions(post);
  const store = new RemoteStore(remotePart<SharedStore, keyof SharedStore>(questions.ask, "store", STORE_METHODS));
  const authorizer = remotePart<Authorizer, "authorize">(questions.ask, "authorizer", ["authorize"]);
  const identities = remotePart<Identities, keyof Identities>(questions.ask, "identities", [
    "authenticateToken",
    "authorize",
    "rulesFor",
  ]);
  const issuer = { ...limits, ...remotePart<TokenIssuer, "sign">(questions.ask, "issuer", ["sign"]) };
  const held = remotePart<RoleRights, "heldRules" | "rulesOfRole">(questions.ask, "rights", [
    "heldRules",
    "rulesOfRole",
  ]);
  const rights: RoleRights = { authorizer, ...held };
  const environment = { clock: systemClock, random: systemRandom };
  const parts = objectParts({ ...options, keptViews: KEPT_VIEWS }, store, environment, issuer, () => rights);
  const { resources } = parts;
  const { catalog } = resources;
  const log = carefulLog(postedLog(post));
  const observer = remotePart<RulesObserver, keyof RulesObserver>(questions.ask, "observer", [
    "called",
    "failedOpen",
    "conditionsEvaluated",
    "validated",
    "mutated",
  ]);
  const names = remotePart<KindNames, "resourceOf">(questions.ask, "names", ["resourceOf"]);
  const away = (isAway: boolean) => post({ type: "away", isAway });
  const later = threadKinds({ options: kindOptions, resources, authorizer, observer, names, log, away });
  const { open, plugins: dynamic } = later;
  const objects = objectHandler(options, parts, { authorizer, identities }, undefined, { open, dynamic });
  const isOpen = open && ((info: RequestInfo) => open.takes(info));
  const report = logUnexpected(log);
  const { kindOf } = pathFacts(catalog, isOpen);
  const forms = { now: () => systemClock.now(), random: systemRandom, report, schemaOf: parts.schemaOf, kindOf };
  const handler = answerErrors(report)(later.stage(route({ catalog, objects, endpoints: [], isOpen })));
  let current: ThreadRequest | undefined;

  const carryOut = async (sent: SentRequest): Promise<void> => {
    const request = new ThreadRequest(sent);
    const begun = process.threadCpuUsage();
    current = request;
    const notebook = sent.audit && new AuditNotebook(sent.audit);
    const reply = await answer(forms, (call) => noting(handler, assume(call, sent, notebook), forms), request);
    const encoded = await collect(reply);
    const finished: SentReply = { ...encoded, audit: notebook?.notes, usedMs: usedSince(begun) };
    current = undefined;
    post({ type: "reply", reply: finished }, givenAway(finished.chunks));
    if (process.memoryUsage().heapUsed > LEFT_BEHIND_BYTES) collectGarbage();
  };

  parentPort?.on("message", (message: ToThread) => {
    if (message.type === "answer") questions.answered(message);
    else if (message.type === "cancel") current?.abort();
    else void carryOut(message.request);
  });
  post({ type: "ready" });
}

/** Processor time of this thread, in milliseconds. */
function usedSince(begun: NodeJS.CpuUsage): number {
  const { user, system } = process.threadCpuUsage(begun);
  return (user + system) / 1000;
}

/** Calls V8's `gc`. Only contexts created after the flag was set have it. */
function collectGarbage(): void {
  v8.setFlagsFromString("--expose-gc");
  vm.runInNewContext("gc()");
}

/** Applies the results of the pipeline stages that ran in the main thread. */
function assume(call: Call, { user, warnings }: SentRequest, notebook: AuditNotebook | undefined): Call {
  call.user = user;
  call.audit = notebook;
  for (const text of warnings) call.warnings.push(text);
  return call;
}

/** Records the response for the audit log, if needed. */
async function noting(handler: Handler, call: Call, forms: Pick<AnswerContext, "now" | "schemaOf">): Promise<ApiReply> {
  const { audit: notebook, request } = call;
  if (!(notebook instanceof AuditNotebook)) return handler(call);
  try {
    const reply = await handler(call);
    if (reply.type === "status") notebook.notes.status = reply.status;
    const json = notebook.keeps.responses && jsonBody(request, reply, { warnings: [], auditId: "", ...forms });
    if (json) await notebook.answeredWith(json);
    return reply;
  } catch (error) {
    if (error instanceof ApiError && error.code !== 406) {
      notebook.notes.status = error.status;
      await notebook.answeredWith(JSON.stringify(error.status));
    }
    throw error;
  }
}

/** Nothing that is carried out here answers with an endless stream: those that are streams are being compressed. */
async function collect({ status, headers, body }: EncodedReply): Promise<Omit<SentReply, "usedMs">> {
  if (typeof body === "string") return { status, headers, chunks: [ownBytes(Buffer.from(body))], isStream: false };
  if (body instanceof Uint8Array) return { status, headers, chunks: [ownBytes(body)], isStream: false };
  const chunks: Uint8Array[] = [];
  for await (const chunk of body) chunks.push(ownBytes(chunk));
  return { status, headers, chunks, isStream: true };
}

/** Sends log lines to the main thread. */
function postedLog(post: (message: FromThread) => void): Log {
  const line = (level: keyof Log) => (text: string, fields: Parameters<Log["info"]>[1]) =>
    post({ type: "log", level, text, fields: fields ?? {} });
  return { error: line("error"), warn: line("warn"), info: line("info") };
}

work(workerData as ThreadData);
