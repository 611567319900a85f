import v8 from "node:v8";
import vm from "node:vm";
import { parentPort, workerData } from "node:worker_threads";
import type { RoleRights } from "../../actions/role-escalation.ts";
import { ApiError } from "../../api/api-error.ts";
import type { Authorizer } from "../../api/attributes.ts";
import type { Call, Handler } from "../../api/call.ts";
import type { Identities } from "../../api/identity.ts";
import type { ApiReply } from "../../api/reply.ts";
import type { RequestInfo } from "../../api/request-info.ts";
import type { TokenIssuer } from "../../api/token-issuer.ts";
import { AuditNotebook } from "../../audit/notebook.ts";
import type { EncodedReply } from "../../encoding/reply/encoded-reply.ts";
import { jsonBody } from "../../encoding/reply/reply.ts";
import { systemClock } from "../../lib/clock.ts";
import type { Log } from "../../lib/environment.ts";
import { systemRandom } from "../../lib/random.ts";
import { type AnswerContext, answer } from "../../pipeline/answer.ts";
import { answerErrors } from "../../pipeline/answer-errors.ts";
import { route } from "../../pipeline/router.ts";
import type { RulesObserver } from "../admission/dynamic-admission.ts";
import { carefulLog } from "../careful-log.ts";
import { type ObjectOptions, objectHandler, objectParts } from "../object-parts.ts";
import { pathFacts } from "../path-facts.ts";
import { Questions, remotePart } from "./asking.ts";
import { type FromThread, givenAway, ownBytes, type SentReply, type SentRequest, type ToThread } from "./messages.ts";
import { RemoteStore, type SharedStore, STORE_METHODS } from "./remote-store.ts";
import { type KindNames, type KindOptions, threadKinds } from "./thread-kinds.ts";
import { ThreadRequest } from "./thread-request.ts";

/** Every entry that arrives is a new one, so that what was made of another is of no use. */
const KEPT_VIEWS = 1;

/** More than this and garbage is collected between requests: it would count for the next one (`maxMemoryBytes`). */
const LEFT_BEHIND_BYTES = 128 * 1024 * 1024;

/** What a thread is started with. */
export interface ThreadData {
  readonly options: ObjectOptions;
  readonly kinds: KindOptions;
  readonly issuer: IssuerLimits;
}

/** What a thread knows of the issuer of tokens: all but its key. */
export type IssuerLimits = Omit<TokenIssuer, "sign">;

/**
 * The program of a thread that carries out large requests: the kinds, admission and verbs of the server once more, over
 * a store that is asked by messages. It answers one request after the other.
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
  const report = (error: unknown, call: Call) => log.error("request failed", { err: error, path: call.request.path });
  const { kindOf } = pathFacts(catalog, isOpen);
  const forms = { now: () => systemClock.now(), random: systemRandom, report, schemaOf: parts.schemaOf, kindOf };
  const handler = answerErrors(report)(later.stage(route({ catalog, objects, endpoints: [], isOpen })));
  let current: ThreadRequest | undefined;

  const carryOut = async (sent: SentRequest): Promise<void> => {
    const request = new ThreadRequest(sent);
    current = request;
    const notebook = sent.audit && new AuditNotebook(sent.audit);
    const reply = await answer(forms, (call) => noting(handler, assume(call, sent, notebook), forms), request);
    const finished = { ...(await collect(reply)), audit: notebook?.notes };
    current = undefined;
    post({ type: "reply", reply: finished }, givenAway(finished.chunks));
    if (process.memoryUsage().heapUsed > LEFT_BEHIND_BYTES) collectGarbage();
  };

  parentPort?.on("message", (message: ToThread) => {
    if (message.type === "answer") questions.answered(message);
    else if (message.type === "cancel") current?.abort();
    else void carryOut(message.request);
  });
}

/** V8's own `gc`, which contexts have that were made after its flag was set. */
function collectGarbage(): void {
  v8.setFlagsFromString("--expose-gc");
  vm.runInNewContext("gc()");
}

/** The call of a request that has passed the stages already. */
function assume(call: Call, { user, warnings }: SentRequest, notebook: AuditNotebook | undefined): Call {
  call.user = user;
  call.audit = notebook;
  for (const text of warnings) call.warnings.push(text);
  return call;
}

/** Notes how a call is answered, if that is to be written down. */
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
async function collect({ status, headers, body }: EncodedReply): Promise<SentReply> {
  if (typeof body === "string") return { status, headers, chunks: [ownBytes(Buffer.from(body))], isStream: false };
  if (body instanceof Uint8Array) return { status, headers, chunks: [ownBytes(body)], isStream: false };
  const chunks: Uint8Array[] = [];
  for await (const chunk of body) chunks.push(ownBytes(chunk));
  return { status, headers, chunks, isStream: true };
}

/** What is logged here is written by the server's own thread. */
function postedLog(post: (message: FromThread) => void): Log {
  const line = (level: keyof Log) => (text: string, fields: Parameters<Log["info"]>[1]) =>
    post({ type: "log", level, text, fields: fields ?? {} });
  return { error: line("error"), warn: line("warn"), info: line("info") };
}

work(workerData as ThreadData);
