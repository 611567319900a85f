import path from "node:path";
import { pathToFileURL } from "node:url";
import type { Worker } from "node:worker_threads";
import {
  ALL_WRITES,
  FunctionFailure,
  type FunctionHost,
  type FunctionName,
  type FunctionOutcome,
  type SentCall,
} from "../../../admission/functions/module.ts";
import type { Clock, Timer } from "../../../lib/clock.ts";
import type { Rule } from "../../../types/admission-registration.ts";
import type { FromFunctions } from "./messages.ts";

/** How much functions may take. */
export interface FunctionLimits {
  /** For one call, from the moment at which the thread is free for it. */
  readonly timeoutMs: number;
  readonly memoryBytes: number;
}

/** What functions are given unless told otherwise. */
export const FUNCTION_LIMITS: FunctionLimits = { timeoutMs: 5000, memoryBytes: 256 * 1024 * 1024 };

const LOADING_MS = 30_000;
const LOOK_EVERY_MS = 50;
/** V8 may take the whole process down with a thread that reaches its own limit, so that this one is far above. */
const HARD_LIMIT_MB = 2048;
const PROGRAM = new URL(
  import.meta.url.endsWith(".ts") ? "./function-thread.ts" : "./function-thread.js",
  import.meta.url,
);

interface Waiting extends PromiseWithResolvers<FunctionOutcome> {
  readonly name: FunctionName;
  readonly call: SentCall;
  timer?: Timer;
}

/**
 * Runs the functions of a file in a thread of its own. One that takes too long, or too much memory, costs the thread its
 * life: that call fails, and those that waited beside it are made again in a new thread.
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

  /** Loads a file. Rejects when that fails, with a sentence that names the file. */
  static async load(file: string, clock: Clock, limits: FunctionLimits = FUNCTION_LIMITS): Promise<ThreadedFunctions> {
    const made = new ThreadedFunctions(file, clock, limits);
    const loaded = Promise.withResolvers<Extract<FromFunctions, { type: "loaded" }>>();
    made.#start(loaded);
    const timer = clock.setTimer(LOADING_MS, () => loaded.reject(new Error(`is not loaded within ${LOADING_MS} ms`)));
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
    const waiting: Waiting = { ...Promise.withResolvers<FunctionOutcome>(), name, call };
    this.#lastId += 1;
    this.#send(this.#lastId, waiting);
    return waiting.promise;
  }

  /** Ends the thread; calls that wait fail. */
  close(): void {
    this.#isClosed = true;
    void this.#worker?.terminate();
    for (const id of [...this.#waiting.keys()]) this.#fail(id, "the server is being closed");
  }

  #send(id: number, waiting: Waiting): void {
    this.#waiting.set(id, waiting);
    const { name, call } = waiting;
    this.#limit(id, waiting);
    this.#worker?.postMessage({ id, name, call });
  }

  /** The time that a thread takes to start does not count, as long as it starts at all. */
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

  /** A new thread, which is given what the old one still had to do. */
  #restart(): void {
    void this.#worker?.terminate();
    if (this.#isClosed) return;
    this.#start();
    for (const [id, waiting] of [...this.#waiting]) this.#send(id, waiting);
  }

  #start(loading?: PromiseWithResolvers<Extract<FromFunctions, { type: "loaded" }>>): void {
    // Not imported: a server without functions starts without it.
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
      if (this.#worker === worker) this.#failAll("the thread has ended");
    });
    worker.on("exit", () => {
      look.close();
      loading?.reject(new Error("ended while it was loaded"));
      if (this.#worker === worker && !this.#isClosed && !loading) this.#restart();
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
      this.#failAll("took too much memory");
      this.#restart();
    } catch {
      // It has ended in the meantime, and tells so itself.
    }
  }

  #failAll(text: string): void {
    for (const [id, { name }] of [...this.#waiting]) this.#fail(id, `${name}: ${text}`);
  }
}
