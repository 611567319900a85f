import { ApiError, internalError, requestEntityTooLarge, timeout } from "../../api/api-error.ts";
import type { Call } from "../../api/call.ts";
import type { ApiReply } from "../../api/reply.ts";
import type { Timer } from "../../lib/clock.ts";
import type { Log } from "../../lib/environment.ts";
import { type SentReply, type SentRequest, sendRequest } from "./messages.ts";
import { RequestThread, ThreadError, type ThreadOptions } from "./request-thread.ts";

/** How much may be under way in other threads. */
export interface LargeRequestLimits {
  readonly threads: number;
  /** How many more there may be while requests wait for webhooks: these must not keep others from being carried out. */
  readonly threadsAway: number;
  /** How many requests may wait for a thread, and how large their bodies may be together. */
  readonly waiting: number;
  readonly waitingBytes: number;
  /** After so long without a request a thread ends. */
  readonly idleMs: number;
  /** So long a thread may take to stop after its request is given up; then it is ended. */
  readonly patienceMs: number;
}

/** What carrying out large requests depends on. */
export interface LargeRequestsOptions extends ThreadOptions, LargeRequestLimits {
  /** Hears of threads that were lost. */
  readonly log: Log;
}

interface Job {
  readonly call: Call;
  readonly request: SentRequest;
  readonly reply: PromiseWithResolvers<SentReply>;
}

/** What becomes of large requests: threads and waiting requests of now, and since the start those begun and lost. */
interface Usage {
  readonly threads: number;
  readonly waiting: number;
  readonly carriedOut: number;
  readonly lost: number;
}

/** Compat: `tooManyRequests` of kube-apiserver's filters answers in plain text, and not with a Status. */
const TOO_MANY_REQUESTS: ApiReply = {
  type: "raw",
  code: 429,
  headers: { "content-type": "text/plain; charset=utf-8", "x-content-type-options": "nosniff", "retry-after": "1" },
  body: "Too many requests, please try again later.\n",
};

/**
 * Carries out requests in other threads, each of which works on one at a time. There is no thread until the first
 * request comes. One that runs out of memory, or does not stop when its request is given up, is ended and replaced.
 */
export class LargeRequests {
  readonly #options: LargeRequestsOptions;
  readonly #waiting: Job[] = [];
  readonly #busy = new Set<RequestThread>();
  readonly #idle = new Map<RequestThread, Timer>();
  #waitingBytes = 0;
  #isClosed = false;
  #carriedOut = 0;
  #lost = 0;

  constructor(options: LargeRequestsOptions) {
    this.#options = options;
  }

  get usage(): Usage {
    const threads = this.#busy.size + this.#idle.size;
    return { threads, waiting: this.#waiting.length, carriedOut: this.#carriedOut, lost: this.#lost };
  }

  /** The reply to a call, whose body has been read. Throws ApiError. */
  async carryOut(call: Call, body: Uint8Array | undefined): Promise<ApiReply> {
    const { waiting, waitingBytes } = this.#options;
    const bytes = body?.length ?? 0;
    if (this.#waiting.length >= waiting || this.#waitingBytes + bytes > waitingBytes) return TOO_MANY_REQUESTS;
    if (this.#isClosed || call.signal.aborted) throw givenUp(call);
    const job: Job = { call, request: sendRequest(call, body), reply: Promise.withResolvers() };
    const abort = () => this.#abandon(job);
    call.signal.addEventListener("abort", abort);
    this.#waiting.push(job);
    this.#waitingBytes += bytes;
    this.#next();
    try {
      const reply = await job.reply.promise;
      if (reply.audit) call.audit?.take(reply.audit);
      return encoded(reply);
    } catch (error) {
      throw this.#refusalOf(error, job);
    } finally {
      call.signal.removeEventListener("abort", abort);
    }
  }

  /** Ends all threads and gives up what they work on. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const job of this.#waiting.splice(0)) job.reply.reject(givenUp(job.call));
    for (const timer of this.#idle.values()) timer.close();
    await Promise.all([...this.#busy, ...this.#idle.keys()].map((thread) => thread.end()));
  }

  /** Gives the request that has waited longest to a thread that is idle, or to a new one. */
  #next(): void {
    const [job] = this.#waiting;
    const thread = job && this.#takeThread();
    if (job === undefined || thread === undefined) return;
    this.#leave(job);
    this.#carriedOut += 1;
    void this.#run(thread, job);
  }

  #leave(job: Job): boolean {
    const at = this.#waiting.indexOf(job);
    if (at === -1) return false;
    this.#waiting.splice(at, 1);
    this.#waitingBytes -= job.request.body?.length ?? 0;
    return true;
  }

  #takeThread(): RequestThread | undefined {
    for (const [thread, timer] of this.#idle) {
      // One that is ending stays until it is gone, and its memory counts.
      if (thread.isEnding) continue;
      timer.close();
      this.#idle.delete(thread);
      return thread;
    }
    if (this.#isClosed || !this.#hasRoom()) return undefined;
    const thread: RequestThread = new RequestThread(
      this.#options,
      () => this.#forget(thread),
      () => this.#next(),
    );
    return thread;
  }

  /** Whether there may be another thread, since not all have something to do. */
  #hasRoom(): boolean {
    const { threads, threadsAway } = this.#options;
    const away = [...this.#busy].filter(({ isAway }) => isAway).length;
    return this.usage.threads < threads + Math.min(away, threadsAway);
  }

  async #run(thread: RequestThread, job: Job): Promise<void> {
    const { call, request, reply } = job;
    const { clock, idleMs, patienceMs } = this.#options;
    this.#busy.add(thread);
    let patience: Timer | undefined;
    const stop = () => {
      thread.cancel();
      patience = clock
        .setTimer(patienceMs, () => {
          this.#reportLoss(job, "a thread was ended that worked on a large request after it was given up");
          void thread.end();
        })
        .unref();
    };
    call.signal.addEventListener("abort", stop);
    try {
      reply.resolve(await thread.run(request));
      this.#busy.delete(thread);
      const isSpare = this.#waiting.length === 0 && this.usage.threads >= this.#options.threads;
      const restMs = isSpare ? 0 : idleMs;
      if (!this.#isClosed) this.#idle.set(thread, clock.setTimer(restMs, () => void thread.end()).unref());
    } catch (error) {
      reply.reject(error);
    } finally {
      patience?.close();
      call.signal.removeEventListener("abort", stop);
      this.#next();
    }
  }

  /** A thread is no more: there is room for another. */
  #forget(thread: RequestThread): void {
    this.#busy.delete(thread);
    this.#idle.get(thread)?.close();
    this.#idle.delete(thread);
    this.#next();
  }

  /** The client of a job, or the deadline, does not wait any longer. */
  #abandon(job: Job): void {
    this.#leave(job);
    job.reply.reject(givenUp(job.call));
  }

  #refusalOf(error: unknown, job: Job): ApiError {
    if (error instanceof ApiError) return error;
    if (error instanceof ThreadError && error.reason === "cancelled") return givenUp(job.call);
    this.#reportLoss(job, "a large request was lost with the thread that worked on it", error);
    const { request } = job;
    if (error instanceof ThreadError && error.reason === "memory" && request.method !== "GET") {
      return requestEntityTooLarge("the request takes more memory than one request may use");
    }
    return internalError("the request could not be carried out", error);
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
  // As one: three megabytes are encrypted in as many milliseconds.
  return { type: "encoded", code: status, headers, body: first };
}

async function* streamOf(chunks: Iterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  yield* chunks;
}
