import type { Worker } from "node:worker_threads";
import type { Clock } from "../../base/util/clock.ts";
import type { Log } from "../../base/util/environment.ts";
import { answerQuestion, type SharedParts } from "./asking.ts";
import { type FromThread, givenAway, type SentReply, type SentRequest, type ToThread } from "./messages.ts";

/** Options of worker threads. */
export interface ThreadOptions {
  /** The file that a thread runs. */
  readonly program: URL;
  /** Passed to the thread as its `workerData`. */
  readonly data: unknown;
  readonly parts: SharedParts;
  /** Receives their log lines. */
  readonly lines: Log;
  readonly clock: Clock;
  /** Memory limit (heap and buffers) above which a thread is terminated. */
  readonly maxMemoryBytes: number;
}

/** Why a thread ended before it replied. */
export class ThreadError extends Error {
  readonly reason: "memory" | "cancelled" | "failure";

  constructor(reason: ThreadError["reason"], cause?: unknown) {
    super(`worker thread for large requests ended: ${reason}`, { cause });
    this.name = "ThreadError";
    this.reason = reason;
  }
}

/**
 * The hard heap limit of a thread, in MB. V8 does not always survive it: if one allocation exceeds what Node adds near
 * the limit, such as that of a growing Map, the whole process ends. Therefore it is far above `maxMemoryBytes`.
 */
const HARD_LIMIT_MB = 4096;
/** Interval between memory checks of a busy thread. */
const LOOK_EVERY_MS = 50;

/** Receives what happens to a thread. */
export interface ThreadListener {
  /** The thread has loaded its program. */
  ready(): void;
  /** Its request begins to wait for something outside of the server. */
  wentAway(): void;
  /** Called once, when the thread has ended. `isFailure`: by itself, for a reason other than memory. */
  ended(isFailure: boolean): void;
}

/** A thread that carries out one request at a time. */
export class RequestThread {
  readonly #worker: Worker;
  readonly #options: ThreadOptions;
  #waiting: PromiseWithResolvers<SentReply> | undefined;
  #isOver = false;
  #isEnding = false;
  #isLooking = false;
  #isAway = false;
  #isFailure = true;
  readonly #listener: ThreadListener;

  constructor(options: ThreadOptions, listener: ThreadListener) {
    this.#options = options;
    this.#listener = listener;
    // Not imported: a server without large requests starts without it.
    const { Worker } = process.getBuiltinModule("node:worker_threads");
    this.#worker = new Worker(options.program, {
      workerData: options.data,
      // Flags of the process such as --test or --cpu-prof are not meant for it.
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: HARD_LIMIT_MB },
    });
    // The thread must not keep the process running.
    this.#worker.unref();
    this.#worker.on("message", (message: FromThread) => this.#hear(message));
    this.#worker.on("error", (error: NodeJS.ErrnoException) => {
      const isMemory = error.code === "ERR_WORKER_OUT_OF_MEMORY";
      if (isMemory) this.#isFailure = false;
      this.#isEnding = true;
      this.#fail(new ThreadError(isMemory ? "memory" : "failure", error));
    });
    this.#worker.on("exit", () => {
      this.#isOver = true;
      this.#isEnding = true;
      this.#fail(new ThreadError("failure"));
      listener.ended(this.#isFailure);
    });
  }

  /** The thread accepts no further requests. */
  get isEnding(): boolean {
    return this.#isEnding;
  }

  /** Its request waits for an external server, such as a webhook. */
  get isAway(): boolean {
    return this.#isAway;
  }

  /** Runs a request. Rejects with ThreadError if the thread ends before it replies. */
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

  /** Asks the thread to stop working on its request. */
  cancel(): void {
    this.#post({ type: "cancel" });
  }

  /** Terminates the thread. */
  async end(): Promise<void> {
    await this.#end(new ThreadError("cancelled"));
  }

  /** Terminates the thread if it uses too much memory. This works even while the thread is computing. */
  async #look(): Promise<void> {
    if (this.#isLooking) return;
    this.#isLooking = true;
    try {
      const { used_heap_size: heap, external_memory: buffers } = await this.#worker.getHeapStatistics();
      if (heap + buffers <= this.#options.maxMemoryBytes || this.#waiting === undefined) return;
      await this.#end(new ThreadError("memory"));
    } catch {
      // The thread has ended in the meantime, which the "exit" listener handles.
    } finally {
      this.#isLooking = false;
    }
  }

  async #end(error: ThreadError): Promise<void> {
    if (!this.#isEnding) this.#isFailure = false;
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
        if (message.isAway) this.#listener.wentAway();
        break;
      case "log":
        this.#options.lines[message.level](message.text, message.fields);
        break;
      case "ready":
        this.#listener.ready();
        break;
      case "reply":
        this.#waiting?.resolve(message.reply);
        this.#waiting = undefined;
        break;
    }
  }
}
