import type { AdmissionTrace } from "../api/admission-trace.ts";
import { ApiError } from "../api/api-error.ts";
import type { ApiRequest, Call, Handler, Outcome, RequestBody } from "../api/call.ts";
import type { Json } from "../api/object.ts";
import type { ApiReply, WatchEvent } from "../api/reply.ts";
import { parseRequestInfo } from "../api/request-info.ts";
import type { UserInfo } from "../api/user-info.ts";
import type { Random } from "../lib/random.ts";
import { RequestCall } from "./call.ts";
import { givenBody } from "./read-body.ts";

/** What a part of this process wants to ask the server. */
export interface CallRequest {
  readonly method: string;
  /** Without the query. */
  readonly path: string;
  readonly query?: URLSearchParams;
  /** Names in lower case. Patches need their content-type; the field manager is taken from user-agent. */
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  /** Given away: verbs may keep parts of it. Absent: there is no body. */
  readonly body?: Json;
  readonly user: UserInfo;
  /** Ends watches, and whatever else can be ended. */
  readonly signal?: AbortSignal;
  /** Hears what would stand in Warning headers, also of a refusal. */
  readonly warn?: (text: string) => void;
  /** Hears what admission does with the call. */
  readonly trace?: AdmissionTrace;
}

/**
 * A call that comes from this process: no socket, no bytes. For a handler composed with `keepUser`. Nobody tells when it
 * is finished; `callInProcess` does.
 */
export function makeCall(wanted: CallRequest, random: Random): Call {
  return callOf(new InProcessRequest(wanted), wanted, random);
}

/**
 * Asks a handler composed with `keepUser` from within the process. The call is finished when the reply is there; a watch,
 * when its events have ended.
 */
export async function callInProcess(handler: Handler, wanted: CallRequest, random: Random): Promise<ApiReply> {
  const request = new InProcessRequest(wanted);
  const call = callOf(request, wanted, random);
  try {
    const reply = await handler(call);
    if (reply.type === "watch") return { ...reply, events: finishing(reply.events, request) };
    request.finish({ code: codeOfReply(reply), bytes: 0 });
    return reply;
  } catch (error) {
    request.finish({ code: codeOf(error), bytes: 0, error });
    throw error;
  } finally {
    if (wanted.warn) for (const text of call.warnings) wanted.warn(text);
  }
}

function callOf(request: InProcessRequest, wanted: CallRequest, random: Random): Call {
  const info = parseRequestInfo(request.method, request.path, request.query);
  const body = async (): Promise<RequestBody> => givenBody(wanted.body);
  const call = new RequestCall({ request, info, user: wanted.user, body }, random);
  const { trace } = wanted;
  if (trace) {
    call.trace = trace;
    trace.follow(call);
  }
  return call;
}

function codeOfReply(reply: ApiReply): number {
  if (reply.type === "status") return reply.status.code ?? 200;
  return "code" in reply ? reply.code : 200;
}

function codeOf(error: unknown): number {
  return error instanceof ApiError ? error.code : 500;
}

async function* finishing(
  events: AsyncIterable<readonly WatchEvent[]>,
  request: InProcessRequest,
): AsyncGenerator<readonly WatchEvent[]> {
  try {
    yield* events;
  } finally {
    request.finish({ code: 200, bytes: 0 });
  }
}

class InProcessRequest implements ApiRequest {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: ApiRequest["headers"];
  readonly authority: string;
  readonly remoteAddress = undefined;
  readonly remotePort = undefined;
  readonly certificateChain = [];
  readonly upgrade = "";
  readonly #body: Json | undefined;
  readonly #given: AbortSignal | undefined;
  readonly #own = new AbortController();
  readonly #listeners: ((outcome: Outcome) => void)[] = [];
  #signal: AbortSignal | undefined;
  #outcome: Outcome | undefined;

  constructor({ method, path, query, headers, body, signal }: CallRequest) {
    this.method = method;
    this.path = path;
    this.query = query ?? new URLSearchParams();
    this.headers = headers ?? {};
    this.authority = String(headers?.host ?? "");
    this.#body = body;
    this.#given = signal;
  }

  get uri(): string {
    return this.query.size === 0 ? this.path : `${this.path}?${this.query}`;
  }

  get signal(): AbortSignal {
    this.#signal ??= this.#given ? AbortSignal.any([this.#given, this.#own.signal]) : this.#own.signal;
    return this.#signal;
  }

  abort(reason?: unknown): void {
    this.#own.abort(reason);
  }

  async readBody(): Promise<Uint8Array> {
    return givenBody(this.#body).bytes;
  }

  async *bodyStream(): AsyncGenerator<Uint8Array> {
    if (this.#body !== undefined) yield givenBody(this.#body).bytes;
  }

  whenFinished(listener: (outcome: Outcome) => void): void {
    if (this.#outcome) listener(this.#outcome);
    else this.#listeners.push(listener);
  }

  finish(outcome: Outcome): void {
    this.#outcome = outcome;
    for (const listener of this.#listeners) listener(outcome);
  }
}
