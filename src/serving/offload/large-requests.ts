import { ApiError, internalError, requestEntityTooLarge, timeout } from "../../base/api/api-error.ts";
import type { Call } from "../../base/api/call.ts";
import type { ApiReply } from "../../base/api/reply.ts";
import type { Timer } from "../../base/util/clock.ts";
import type { Log } from "../../base/util/environment.ts";
import { type Admission, type FlowOf, flowOfUser, limitFlows } from "./admission.ts";
import { FairQueue, type Ticket } from "./fair-queue.ts";
import { type SentReply, type SentRequest, sendRequest } from "./messages.ts";
import { RequestThread, ThreadError, type ThreadOptions } from "./request-thread.ts";
import { StartDelay } from "./start-delay.ts";

/** Limits for requests in worker threads. */
export interface LargeRequestLimits {
  readonly threads: number;
  /** Additional threads for flows that no thread serves, so that they do not wait for the requests of other flows. */
  readonly threadsForOthers: number;
  /** Additional threads while requests wait for webhooks, so they do not block other requests. */
  readonly threadsAway: number;
  /** Maximum number of queued requests, and of their body bytes in total. */
  readonly waiting: number;
  readonly waitingBytes: number;
  /** The same limits for one flow. */
  readonly waitingPerFlow: number;
  readonly waitingBytesPerFlow: number;
  /** Idle time after which a thread ends. */
  readonly idleMs: number;
  /** Time for a thread to stop after its request is cancelled. Then the thread is terminated. */
  readonly patienceMs: number;
}

/** Options of `LargeRequests`. */
export interface LargeRequestsOptions extends ThreadOptions, LargeRequestLimits {
  /** Logs lost threads. */
  readonly log: Log;
  /** Default: one flow per user. */
  readonly flowOf?: FlowOf;
  /** Default: `waitingPerFlow` and `waitingBytesPerFlow`. */
  readonly admission?: Admission;
}

interface Job {
  readonly call: Call;
  readonly request: SentRequest;
  readonly reply: PromiseWithResolvers<SentReply | "displaced">;
}

/** Metrics: current threads and queued requests; started and lost requests since startup. */
interface Usage {
  readonly threads: number;
  readonly waiting: number;
  readonly carriedOut: number;
  readonly lost: number;
}

/** Compat: `tooManyRequests` of kube-apiserver's filters responds with plain text instead of a Status. */
const TOO_MANY_REQUESTS: ApiReply = {
  type: "raw",
  code: 429,
  headers: { "content-type": "text/plain; charset=utf-8", "x-content-type-options": "nosniff", "retry-after": "1" },
  body: "Too many requests, please try again later.\n",
};

/**
 * Runs large requests in worker threads, one request per thread at a time. Threads are started on demand. A thread that
 * runs out of memory, or does not stop after its request is cancelled, is terminated and replaced. Requests wait in a fair
 * queue: the requests of one user delay a request of another user by one request per thread at most.
 */
export class LargeRequests {
  readonly #options: LargeRequestsOptions;
  readonly #flowOf: FlowOf;
  readonly #admission: Admission;
  readonly #queue: FairQueue<Job>;
  readonly #starts: StartDelay;
  readonly #busy = new Set<RequestThread>();
  readonly #idle = new Map<RequestThread, Timer>();
  /** A thread that is starting and has no request yet. */
  #starting: RequestThread | undefined;
  #isClosed = false;
  #carriedOut = 0;
  #lost = 0;

  constructor(options: LargeRequestsOptions) {
    this.#options = options;
    const { threads, threadsAway, waiting: requests, waitingBytes: bytes } = options;
    this.#flowOf = options.flowOf ?? flowOfUser;
    this.#admission =
      options.admission ?? limitFlows({ requests: options.waitingPerFlow, bytes: options.waitingBytesPerFlow });
    // Requests that wait for webhooks are in service as well. One flow must not occupy all additional threads.
    const servedPerFlow = Math.max(threads, Math.ceil((threads + threadsAway) / 2));
    this.#queue = new FairQueue({ waiting: { requests, bytes }, servedPerFlow });
    this.#starts = new StartDelay(options.clock, () => this.#next());
  }

  get usage(): Usage {
    const threads = this.#busy.size + this.#idle.size + (this.#starting ? 1 : 0);
    return { threads, waiting: this.#queue.load.requests, carriedOut: this.#carriedOut, lost: this.#lost };
  }

  /** Returns the 429 response if a call with a body of this size cannot be queued now. */
  reject(call: Call, bytes: number): ApiReply | undefined {
    const flow = this.#flowOf(call);
    const isAdmitted = this.#admission.admits(call, bytes, this.#queue.loadOf(flow));
    return isAdmitted && this.#queue.hasRoom(flow, bytes) ? undefined : TOO_MANY_REQUESTS;
  }

  /** Runs a call in a worker thread. `body`: its body, if there is one. Throws ApiError. */
  async carryOut(call: Call, body: Uint8Array | undefined): Promise<ApiReply> {
    const bytes = body?.length ?? 0;
    const rejection = this.reject(call, bytes);
    if (rejection) return rejection;
    if (this.#isClosed || call.signal.aborted) throw givenUp(call);
    const job: Job = { call, request: sendRequest(call, body), reply: Promise.withResolvers() };
    const { ticket, displaced } = this.#queue.add(this.#flowOf(call), job, bytes);
    for (const { reply } of displaced) reply.resolve("displaced");
    if (ticket === undefined) return TOO_MANY_REQUESTS;
    const abort = () => {
      this.#queue.remove(ticket);
      job.reply.reject(givenUp(call));
    };
    call.signal.addEventListener("abort", abort);
    this.#next();
    try {
      const reply = await job.reply.promise;
      if (reply === "displaced") return TOO_MANY_REQUESTS;
      if (reply.audit) call.audit?.take(reply.audit);
      return encoded(reply);
    } catch (error) {
      throw this.#refusalOf(error, job);
    } finally {
      call.signal.removeEventListener("abort", abort);
    }
  }

  /** Terminates all threads and rejects their requests. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#starts.close();
    for (const { call, reply } of this.#queue.clear()) reply.reject(givenUp(call));
    for (const timer of this.#idle.values()) timer.close();
    const threads = [...this.#busy, ...this.#idle.keys(), ...(this.#starting ? [this.#starting] : [])];
    await Promise.all(threads.map((thread) => thread.end()));
  }

  /** Assigns queued requests to idle or new threads. */
  #next(): void {
    const { threads, threadsForOthers } = this.#options;
    while (!this.#isClosed) {
      const away = this.#away();
      const working = this.#busy.size - away;
      const which = working < threads ? "any" : "fresh";
      const maxThreads = threads + (which === "fresh" ? threadsForOthers : 0);
      if (working >= maxThreads || !this.#queue.hasNext(which)) return;
      const mayStart = this.usage.threads < maxThreads + away;
      const thread = this.#idleThread() ?? (mayStart ? this.#start(which) : undefined);
      const ticket = thread && this.#queue.take(which);
      if (thread === undefined || ticket === undefined) return;
      this.#carriedOut += 1;
      void this.#run(thread, ticket);
    }
  }

  /** The number of threads that wait for webhooks, up to `threadsAway`. */
  #away(): number {
    let away = 0;
    for (const { isAway } of this.#busy) if (isAway) away += 1;
    return Math.min(away, this.#options.threadsAway);
  }

  #idleThread(): RequestThread | undefined {
    for (const [thread, timer] of this.#idle) {
      // A terminating thread still uses memory, so it counts until it has exited.
      if (thread.isEnding) continue;
      timer.close();
      this.#idle.delete(thread);
      return thread;
    }
    return undefined;
  }

  /**
   * Starts a thread. Returns undefined for "fresh": the request stays in the queue until a thread is ready, because
   * another thread may finish its request before the new one has started.
   */
  #start(which: "any" | "fresh"): RequestThread | undefined {
    if (this.#starting !== undefined || !this.#starts.mayStart()) return undefined;
    const thread: RequestThread = new RequestThread(this.#options, {
      ready: () => this.#ready(thread),
      wentAway: () => this.#next(),
      ended: (isFailure) => this.#forget(thread, isFailure),
    });
    if (which === "any") return thread;
    this.#starting = thread;
    return undefined;
  }

  #ready(thread: RequestThread): void {
    if (this.#starting !== thread) return;
    this.#starting = undefined;
    this.#rest(thread, this.#options.idleMs);
    this.#next();
  }

  #rest(thread: RequestThread, restMs: number): void {
    if (this.#isClosed) return;
    this.#idle.set(thread, this.#options.clock.setTimer(restMs, () => void thread.end()).unref());
  }

  async #run(thread: RequestThread, ticket: Ticket<Job>): Promise<void> {
    const { call, request, reply } = ticket.item;
    const { clock, idleMs, patienceMs, threads, threadsForOthers } = this.#options;
    this.#busy.add(thread);
    const begunMs = clock.monotonic();
    let usedMs: number | undefined;
    let patience: Timer | undefined;
    const stop = () => {
      thread.cancel();
      patience = clock
        .setTimer(patienceMs, () => {
          this.#reportLoss(ticket.item, "terminated a worker thread that did not stop after its request was cancelled");
          void thread.end();
        })
        .unref();
    };
    call.signal.addEventListener("abort", stop);
    try {
      const sent = await thread.run(request);
      usedMs = sent.usedMs;
      reply.resolve(sent);
      this.#starts.succeeded();
      this.#busy.delete(thread);
      const isSpare = this.#queue.load.requests === 0 && this.usage.threads >= threads + threadsForOthers;
      this.#rest(thread, isSpare ? 0 : idleMs);
    } catch (error) {
      reply.reject(error);
    } finally {
      patience?.close();
      call.signal.removeEventListener("abort", stop);
      // The processor time of a lost thread is unknown, so the elapsed time counts.
      this.#queue.done(ticket, usedMs ?? clock.monotonic() - begunMs);
      this.#next();
    }
  }

  /** Removes a thread that has exited, which makes room for another. */
  #forget(thread: RequestThread, isFailure: boolean): void {
    if (isFailure) this.#starts.failed();
    if (this.#starting === thread) this.#starting = undefined;
    this.#busy.delete(thread);
    this.#idle.get(thread)?.close();
    this.#idle.delete(thread);
    this.#next();
  }

  #refusalOf(error: unknown, job: Job): ApiError {
    if (error instanceof ApiError) return error;
    if (error instanceof ThreadError && error.reason === "cancelled") return givenUp(job.call);
    this.#reportLoss(job, "large request failed because its worker thread ended", error);
    const { request } = job;
    if (error instanceof ThreadError && error.reason === "memory" && request.method !== "GET") {
      return requestEntityTooLarge("the request exceeds the memory limit of a single request");
    }
    return internalError("running the request failed", error);
  }

  #reportLoss({ request }: Job, text: string, error?: unknown): void {
    this.#lost += 1;
    this.#options.log.error(text, { path: request.path, ...(error === undefined ? {} : { err: error }) });
  }
}

function givenUp({ signal }: Call): ApiError {
  const reason: unknown = signal.reason;
  return reason instanceof ApiError ? reason : timeout("request did not complete within the allotted timeout");
}

function encoded({ status, headers, chunks, isStream }: SentReply): ApiReply {
  const [first = new Uint8Array()] = chunks;
  if (isStream) return { type: "encoded", code: status, headers, body: streamOf(chunks) };
  // Sent as one buffer, because encrypting 3 MB takes only about 3 ms.
  return { type: "encoded", code: status, headers, body: first };
}

async function* streamOf(chunks: Iterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  yield* chunks;
}
