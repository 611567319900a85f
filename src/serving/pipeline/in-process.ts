import type { AdmissionTrace } from "../../base/api/admission-trace.ts";
import { ApiError } from "../../base/api/api-error.ts";
import type { ApiRequest, Call, Handler, Outcome, RequestBody } from "../../base/api/call.ts";
import type { Json } from "../../base/api/object.ts";
import type { ApiReply, WatchEvent } from "../../base/api/reply.ts";
import { parseRequestInfo, type RequestInfo } from "../../base/api/request-info.ts";
import type { UserInfo } from "../../base/api/user-info.ts";
import type { Random } from "../../base/util/random.ts";
import { RequestCall, UNKNOWN_USER } from "./call.ts";
import { givenBody, TooLarge } from "./read-body.ts";

/** A request from within this process. */
export interface CallRequest {
  readonly method: string;
  /** Without the query. */
  readonly path: string;
  readonly query?: URLSearchParams;
  /** Header names in lower case. Patches need a content-type; the field manager is derived from user-agent. */
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  /** Ownership passes to the server: verbs may keep parts of it. Optional. If omitted, the request has no body. */
  readonly body?: Json;
  readonly user: UserInfo;
  /** Aborts the call, for example a watch. */
  readonly signal?: AbortSignal;
  /** Receives the texts of Warning headers, also if the request is rejected. */
  readonly warn?: (text: string) => void;
  /** Records what admission does with the call. */
  readonly trace?: AdmissionTrace;
  /** Whether the call is too large for this thread. For a handler that offloads. Optional. If omitted, it never is. */
  readonly isLarge?: IsLargeCall | undefined;
}

/** Whether a call with this body would block the event loop. */
export type IsLargeCall = (info: RequestInfo, body: Json | undefined) => boolean;

/**
 * Creates a call from within this process, without socket or encoding. For a handler composed with `keepUser`. Its
 * `whenFinished` listeners are never called; use `callInProcess` if they matter.
 */
export function makeCall(wanted: CallRequest, random: Random): Call {
  return callOf(new InProcessRequest(wanted), wanted.user, wanted, random);
}

/**
 * Calls a handler composed with `keepUser` from within the process. The call finishes when the handler replies. A watch
 * finishes when its events end.
 */
export function callInProcess(handler: Handler, wanted: CallRequest, random: Random): Promise<ApiReply> {
  return run(handler, wanted.user, wanted, random);
}

/**
 * Like `callInProcess`, but for a handler composed with `takeStatedUser`. Earlier stages see an anonymous call, like that of a
 * client.
 */
export function callAsClient(handler: Handler, wanted: CallRequest, random: Random): Promise<ApiReply> {
  return run(handler, UNKNOWN_USER, wanted, random);
}

async function run(handler: Handler, user: UserInfo, wanted: CallRequest, random: Random): Promise<ApiReply> {
  const request = new InProcessRequest(wanted);
  const call = callOf(request, user, wanted, random);
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

function callOf(request: InProcessRequest, user: UserInfo, wanted: CallRequest, random: Random): Call {
  const info = parseRequestInfo(request.method, request.path, request.query);
  const body = async (): Promise<RequestBody> => {
    if (wanted.isLarge?.(info, wanted.body)) throw new TooLarge();
    return givenBody(wanted.body);
  };
  const call = new RequestCall({ request, info, user, body }, random);
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
  readonly user: UserInfo;
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

  constructor({ method, path, query, headers, body, user, signal }: CallRequest) {
    this.method = method;
    this.user = user;
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
