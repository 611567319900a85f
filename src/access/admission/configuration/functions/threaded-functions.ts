import path from "node:path";
import { pathToFileURL } from "node:url";
import type { Worker } from "node:worker_threads";
import type { Clock, Timer } from "../../../../base/util/clock.ts";
import type { Rule } from "../../../../kinds/types/admission-registration.ts";
import {
  ALL_WRITES,
  FunctionFailure,
  type FunctionHost,
  type FunctionName,
  type FunctionOutcome,
  type SentCall,
} from "../../functions/module.ts";
import type { FromFunctions } from "./messages.ts";

/** Limits of admission functions. */
export interface FunctionLimits {
  /** For one call, measured from when the thread is ready. */
  readonly timeoutMs: number;
  readonly memoryBytes: number;
}

/** Default limits. */
export const FUNCTION_LIMITS: FunctionLimits = { timeoutMs: 5000, memoryBytes: 256 * 1024 * 1024 };

const LOADING_MS = 30_000;
const LOOK_EVERY_MS = 50;
/** V8 may crash the whole process if a thread reaches its own heap limit, so this limit is far above `memoryBytes`. */
const HARD_LIMIT_MB = 2048;
const PROGRAM = new URL(
  import.meta.url.endsWith(".ts") ? "./function-thread.ts" : "./function-thread.js",
  import.meta.url,
);

interface Waiting extends PromiseWithResolvers<FunctionOutcome> {
  readonly name: FunctionName;
  readonly call: SentCall;
  timer?: Timer;
  /** How many threads exited while it was pending. */
  exits: number;
}

/**
 * Runs the functions of a file in a separate thread. If a call takes too long or too much memory, the thread is
 * terminated: that call fails, and other pending calls are repeated in a new thread.
 */
export class ThreadedFunctions implements FunctionHost {
  readonly title: string;
  rules: readonly Rule[] = ALL_WRITES;
  functions: readonly FunctionName[] = [];
  readonly #file: string;
  readonly #clock: Clock;
  readonly #limits: FunctionLimits;
  readonly #waiting = new Map<number, Waiting>();
  #worker: Worker | undefined;
  #lastId = 0;
  #isLoaded = false;
  #isClosed = false;

  private constructor(file: string, clock: Clock, limits: FunctionLimits) {
    this.#file = file;
    this.title = path.basename(file);
    this.#clock = clock;
    this.#limits = limits;
  }

  /** Loads a file. Rejects with a message that names the file. */
  static async load(file: string, clock: Clock, limits: FunctionLimits = FUNCTION_LIMITS): Promise<ThreadedFunctions> {
    const made = new ThreadedFunctions(file, clock, limits);
    const loaded = Promise.withResolvers<Extract<FromFunctions, { type: "loaded" }>>();
    made.#start(loaded);
    const timer = clock.setTimer(LOADING_MS, () => loaded.reject(new Error(`not loaded within ${LOADING_MS} ms`)));
    try {
      const { rules, functions } = await loaded.promise;
      if (functions.length === 0) throw new Error("exports neither mutate nor validate");
      if (rules !== undefined) made.rules = rules;
      made.functions = functions;
      return made;
    } catch (error) {
      made.close();
      throw new Error(`admission ${file}: ${error instanceof Error ? error.message : String(error)}`);
    } finally {
      timer.close();
    }
  }

  run(name: FunctionName, call: SentCall): Promise<FunctionOutcome> {
    const waiting: Waiting = { ...Promise.withResolvers<FunctionOutcome>(), name, call, exits: 0 };
    this.#lastId += 1;
    if (this.#worker === undefined && !this.#isClosed) this.#start();
    this.#send(this.#lastId, waiting);
    return waiting.promise;
  }

  /** Terminates the thread. Pending calls fail. */
  close(): void {
    this.#isClosed = true;
    void this.#worker?.terminate();
    for (const id of [...this.#waiting.keys()]) this.#fail(id, "the server is shutting down");
  }

  #send(id: number, waiting: Waiting): void {
    this.#waiting.set(id, waiting);
    const { name, call } = waiting;
    this.#limit(id, waiting);
    this.#worker?.postMessage({ id, name, call });
  }

  /** While the thread is starting, the timeout of loading applies instead. */
  #limit(id: number, waiting: Waiting): void {
    const timeoutMs = this.#isLoaded ? this.#limits.timeoutMs : LOADING_MS;
    waiting.timer?.close();
    waiting.timer = this.#clock.setTimer(timeoutMs, () => {
      this.#fail(id, `${waiting.name}: took longer than ${timeoutMs} ms`);
      this.#restart();
    });
  }

  #fail(id: number, text: string): void {
    const waiting = this.#take(id);
    waiting?.reject(new FunctionFailure(`admission function of ${this.title} failed: ${text}`));
  }

  #take(id: number): Waiting | undefined {
    const waiting = this.#waiting.get(id);
    waiting?.timer?.close();
    this.#waiting.delete(id);
    return waiting;
  }

  /** A function may have called process.exit(). The calls that were pending are repeated once. */
  #exited(): void {
    for (const [id, waiting] of [...this.#waiting]) {
      waiting.exits += 1;
      if (waiting.exits > 1) this.#fail(id, `${waiting.name}: the thread exited`);
    }
    this.#worker = undefined;
    if (this.#waiting.size > 0) this.#restart();
  }

  /** Starts a new thread, and sends it the pending calls. */
  #restart(): void {
    void this.#worker?.terminate();
    if (this.#isClosed) return;
    this.#start();
    for (const [id, waiting] of [...this.#waiting]) this.#send(id, waiting);
  }

  #start(loading?: PromiseWithResolvers<Extract<FromFunctions, { type: "loaded" }>>): void {
    // Not imported statically: a server without functions starts without it.
    const { Worker } = process.getBuiltinModule("node:worker_threads");
    const worker = new Worker(PROGRAM, {
      workerData: { file: pathToFileURL(path.resolve(this.#file)).href },
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: HARD_LIMIT_MB },
    });
    worker.unref();
    this.#worker = worker;
    this.#isLoaded = false;
    const look = this.#clock.setInterval(LOOK_EVERY_MS, () => void this.#look(worker)).unref();
    worker.on("message", (message: FromFunctions) => {
      if (this.#worker === worker) this.#hear(message, loading);
    });
    worker.on("error", (error) => {
      loading?.reject(error);
      if (this.#worker === worker) this.#failAll("the thread crashed");
    });
    worker.on("exit", () => {
      look.close();
      loading?.reject(new Error("the thread exited while loading"));
      if (this.#worker === worker && !this.#isClosed && this.functions.length > 0) this.#exited();
    });
  }

  #hear(message: FromFunctions, loading: PromiseWithResolvers<Extract<FromFunctions, { type: "loaded" }>> | undefined) {
    if (message.type === "loaded") {
      this.#isLoaded = true;
      for (const [id, waiting] of this.#waiting) this.#limit(id, waiting);
      loading?.resolve(message);
    } else if (message.type === "broken") {
      this.#failAll(message.text);
      loading?.reject(new Error(message.text));
    } else if (message.type === "done") this.#take(message.id)?.resolve(message.outcome);
    else this.#fail(message.id, message.text);
  }

  async #look(worker: Worker): Promise<void> {
    if (this.#waiting.size === 0) return;
    try {
      const { used_heap_size: heap, external_memory: buffers } = await worker.getHeapStatistics();
      if (heap + buffers <= this.#limits.memoryBytes || this.#worker !== worker) return;
      this.#failAll("exceeded the memory limit");
      this.#restart();
    } catch {
      // The thread has exited meanwhile. Its exit event handles that.
    }
  }

  #failAll(text: string): void {
    for (const [id, { name }] of [...this.#waiting]) this.#fail(id, `${name}: ${text}`);
  }
}
