import type { Worker } from "node:worker_threads";
import type { Clock } from "../../lib/clock.ts";
import type { Log } from "../../lib/environment.ts";
import { answerQuestion, type SharedParts } from "./asking.ts";
import { type FromThread, givenAway, type SentReply, type SentRequest, type ToThread } from "./messages.ts";
import type { ThreadData } from "./thread.ts";

/** What threads are started with, and whom they ask. */
export interface ThreadOptions extends ThreadData {
  readonly parts: SharedParts;
  /** Gets what they log. */
  readonly lines: Log;
  readonly clock: Clock;
  /** Size of objects and buffers at which a thread is ended. */
  readonly maxMemoryBytes: number;
}

/** Why a thread ended while somebody waited for it. */
export class ThreadError extends Error {
  readonly reason: "memory" | "cancelled" | "failure";

  constructor(reason: ThreadError["reason"], cause?: unknown) {
    super(`a thread for large requests ended: ${reason}`, { cause });
    this.name = "ThreadError";
    this.reason = reason;
  }
}

/**
 * The hard limit of a thread, in MB. V8 does not always survive it: where one allocation is larger than what Node adds when
 * the limit is near, such as that of a growing Map, the whole process ends. So it is far above `maxMemoryBytes`.
 */
const HARD_LIMIT_MB = 4096;
/** How often the memory of a thread that works is looked at. */
const LOOK_EVERY_MS = 50;

/** The compiled file has another ending than its source. */
const PROGRAM = new URL(import.meta.url.endsWith(".ts") ? "./thread.ts" : "./thread.js", import.meta.url);

/** A thread that carries out one request at a time. */
export class RequestThread {
  readonly #worker: Worker;
  readonly #options: ThreadOptions;
  #waiting: PromiseWithResolvers<SentReply> | undefined;
  #isOver = false;
  #isEnding = false;
  #isLooking = false;
  #isAway = false;
  readonly #wentAway: () => void;

  /** `ended` is told once, when the thread is no more; `wentAway` whenever its request begins to wait for others. */
  constructor(options: ThreadOptions, ended: () => void, wentAway: () => void) {
    this.#options = options;
    this.#wentAway = wentAway;
    const workerData: ThreadData = { options: options.options, kinds: options.kinds, issuer: options.issuer };
    // Not imported: a server without large requests starts without it.
    const { Worker } = process.getBuiltinModule("node:worker_threads");
    this.#worker = new Worker(PROGRAM, {
      workerData,
      // Flags of the process such as --test or --cpu-prof are not meant for it.
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: HARD_LIMIT_MB },
    });
    // A process that has nothing else to do must not wait for it.
    this.#worker.unref();
    this.#worker.on("message", (message: FromThread) => this.#hear(message));
    this.#worker.on("error", (error: NodeJS.ErrnoException) => {
      this.#isEnding = true;
      this.#fail(new ThreadError(error.code === "ERR_WORKER_OUT_OF_MEMORY" ? "memory" : "failure", error));
    });
    this.#worker.on("exit", () => {
      this.#isOver = true;
      this.#isEnding = true;
      this.#fail(new ThreadError("failure"));
      ended();
    });
  }

  /** It answers no further request. */
  get isEnding(): boolean {
    return this.#isEnding;
  }

  /** Its request waits for somebody outside of the server. */
  get isAway(): boolean {
    return this.#isAway;
  }

  /** Rejects with ThreadError when the thread ends before it has answered. */
  async run(request: SentRequest): Promise<SentReply> {
    this.#waiting = Promise.withResolvers();
    const { promise } = this.#waiting;
    this.#post({ type: "request", request }, givenAway([request.body]));
    const timer = this.#options.clock.setInterval(LOOK_EVERY_MS, () => void this.#look()).unref();
    try {
      return await promise;
    } finally {
      timer.close();
    }
  }

  /** Asks it to stop working on its request. */
  cancel(): void {
    this.#post({ type: "cancel" });
  }

  /** Ends it, whatever it is doing. */
  async end(): Promise<void> {
    await this.#end(new ThreadError("cancelled"));
  }

  /** Ends the thread when it has taken too much memory. It is interrupted for that, and need not come to an end first. */
  async #look(): Promise<void> {
    if (this.#isLooking) return;
    this.#isLooking = true;
    try {
      const { used_heap_size: heap, external_memory: buffers } = await this.#worker.getHeapStatistics();
      if (heap + buffers <= this.#options.maxMemoryBytes || this.#waiting === undefined) return;
      await this.#end(new ThreadError("memory"));
    } catch {
      // It has ended in the meantime, and tells so itself.
    } finally {
      this.#isLooking = false;
    }
  }

  async #end(error: ThreadError): Promise<void> {
    this.#isEnding = true;
    this.#fail(error);
    await this.#worker.terminate();
  }

  #post(message: ToThread, given: readonly ArrayBuffer[] = []): void {
    if (!this.#isOver) this.#worker.postMessage(message, given);
  }

  #fail(error: ThreadError): void {
    this.#waiting?.reject(error);
    this.#waiting = undefined;
  }

  #hear(message: FromThread): void {
    switch (message.type) {
      case "ask":
        void answerQuestion(this.#options.parts, message).then((answer) => this.#post(answer));
        break;
      case "away":
        this.#isAway = message.isAway;
        if (message.isAway) this.#wentAway();
        break;
      case "log":
        this.#options.lines[message.level](message.text, message.fields);
        break;
      case "reply":
        this.#waiting?.resolve(message.reply);
        this.#waiting = undefined;
        break;
    }
  }
}
