import type { ApiRequest, Call } from "../../../base/api/call.ts";
import type { ApiReply } from "../../../base/api/reply.ts";
import type { UserInfo } from "../../../base/api/user-info.ts";
import type { Clock } from "../../../base/util/clock.ts";
import type { Environment } from "../../../base/util/environment.ts";
import type { Answer } from "../../../serving/http/listener.ts";
import { type CallRequest, callAsClient } from "../../../serving/pipeline/in-process.ts";
import type { ServingParts } from "../../server/phases/serving-parts.ts";

/** How clients in this process reach a server. */
export interface Connection extends Pick<Environment, "clock" | "log"> {
  /** The user of clients that name no other. */
  readonly administrator: UserInfo;
  /** Throws ApiError. */
  call(request: CallRequest): Promise<ApiReply>;
}

/** The requests of the embedding program that a server has not answered completely. */
export class OpenRequests {
  /** Whether each of them is a watch or another stream. */
  readonly #open = new Map<ApiRequest, boolean>();
  #isClosed = false;
  #emptied: (() => void) | undefined;

  /** Tracks the requests that pass. */
  track(answer: Answer): Answer {
    return async (request) => {
      this.#begin(request);
      const reply = await answer(request);
      if (reply.isLongRunning) this.#stream(request);
      return reply;
    };
  }

  /** Tracks the calls that pass. */
  trackCalls(handler: (call: Call) => Promise<ApiReply>): (call: Call) => Promise<ApiReply> {
    return async (call) => {
      this.#begin(call.request);
      const reply = await handler(call);
      if (reply.type === "watch" || reply.type === "stream") this.#stream(call.request);
      return reply;
    };
  }

  /** Accepts no more requests, ends streams, and waits at most `graceMs` for all others. */
  async close(graceMs: number, clock: Clock): Promise<void> {
    this.#isClosed = true;
    for (const [request, isStream] of this.#open) if (isStream) this.#abort(request);
    if (this.#open.size === 0) return;
    const emptied = new AbortController();
    this.#emptied = () => emptied.abort();
    await clock.sleep(graceMs, emptied.signal);
    for (const request of this.#open.keys()) this.#abort(request);
  }

  #begin(request: ApiRequest): void {
    if (this.#isClosed) throw new Error("the server is closed");
    this.#open.set(request, false);
    request.whenFinished(() => this.#end(request));
  }

  #stream(request: ApiRequest): void {
    if (this.#isClosed) this.#abort(request);
    else if (this.#open.has(request)) this.#open.set(request, true);
  }

  #abort(request: ApiRequest): void {
    this.#end(request);
    request.abort(new Error("the server is closed"));
  }

  #end(request: ApiRequest): void {
    this.#open.delete(request);
    if (this.#open.size === 0) this.#emptied?.();
  }
}

/** Connects to a server that this process has started. */
export function connect(
  { embedded }: Pick<ServingParts, "embedded">,
  { clock, random, log }: Environment,
  administrator: UserInfo,
  open: OpenRequests,
): Connection {
  const handler = open.trackCalls(async (call) => embedded.handler(call));
  return { clock, log, administrator, call: (request) => callAsClient(handler, request, random) };
}
