import assert from "node:assert/strict";
import { once } from "node:events";
import { Session } from "node:inspector";
import WebSocket from "ws";
import { Meter } from "../../src/base/util/meter.ts";
import type { RunningProcess } from "./process.ts";

/** What counts: calls of functions and runs of blocks of our own code. Test code does not. */
const OWN_CODE = /^file:.*\/src\/(?!.*\.(?:test|suite)\.ts$)/;

const START = [
  ["Profiler.enable", {}],
  ["Profiler.startPreciseCoverage", { callCount: true, detailed: true }],
] as const;
const TAKE = "Profiler.takePreciseCoverage";

interface Coverage {
  readonly result: readonly {
    readonly url: string;
    readonly functions: readonly { readonly ranges: readonly { readonly count: number }[] }[];
  }[];
}

function stepsOf({ result }: Coverage): number {
  let steps = 0;
  for (const { url, functions } of result) {
    if (!OWN_CODE.test(url)) continue;
    for (const { ranges } of functions) for (const { count } of ranges) steps += count;
  }
  return steps;
}

/**
 * A unit of the meter is about 0.1 µs, and a step a few nanoseconds. Steps that are small, such as those of a loop over
 * characters, may share a unit.
 */
export const STEPS_PER_UNIT = 40;
/** Steps that need no unit: they do not add up to a millisecond. */
const FREE_STEPS = 2000;

/** The units of the meter that a function charges. */
export function unitsOf(run: (meter: Meter) => void): number {
  const meter = new Meter(Number.MAX_SAFE_INTEGER);
  run(meter);
  return Number.MAX_SAFE_INTEGER - meter.left;
}

/**
 * Counts the steps that code in src/ takes: each call of a function and each run of a block, such as the body of a
 * loop. Every machine counts the same, however busy it is. Steps inside of V8 (regular expressions, sorting) do not
 * count. V8 counts blocks only in functions that it compiles after the start, so create one counter per test file,
 * before the code runs for the first time, and name the file `*.hostile.test.ts`, which gives it a process of its own.
 */
export class StepCounter {
  readonly #session = new Session();

  constructor() {
    this.#session.connect();
    for (const [method, params] of START) this.#post(method, params);
  }

  /** The number of steps that a function takes. */
  count(run: () => void): number {
    this.#post(TAKE);
    run();
    return stepsOf(this.#post(TAKE) as Coverage);
  }

  /** Fails unless an input of four times the size takes about four times the steps. */
  assertLinear(run: (size: number) => void, size: number, what = String(run)): void {
    run(size);
    const [one, four] = [this.count(() => run(size)), this.count(() => run(4 * size))];
    assert.ok(four <= 6 * one + 1000, `${one} steps for size ${size}, ${four} for four times the size: ${what}`);
  }

  /** Fails unless an input of four times the size is charged for the additional steps that it takes. */
  assertCharged(run: (size: number, meter: Meter) => void, size: number, what: string): void {
    const unmetered = new Meter(Number.POSITIVE_INFINITY);
    for (const warm of [size, 4 * size]) run(warm, unmetered);
    const steps = this.count(() => run(4 * size, unmetered)) - this.count(() => run(size, unmetered));
    const units = unitsOf((meter) => run(4 * size, meter)) - unitsOf((meter) => run(size, meter));
    const isCharged = steps <= STEPS_PER_UNIT * units + FREE_STEPS;
    assert.ok(isCharged, `${what}: ${steps} more steps for four times the size, but ${units} more units`);
  }

  #post(method: string, params: object = {}): unknown {
    let answer: unknown;
    this.#session.post(method, params, (error, result) => {
      if (error !== null) throw error;
      answer = result;
    });
    return answer;
  }
}

/** Steps of a server's main thread and of all its other threads. */
export interface ThreadSteps {
  readonly main: number;
  readonly others: number;
}

/** A part of the inspector's messages. https://chromedevtools.github.io/devtools-protocol/v8/ */
interface Message {
  readonly id?: number;
  readonly method?: string;
  readonly params?: { readonly sessionId: string; readonly message: string };
  readonly result?: unknown;
  readonly error?: { readonly message: string };
}

/** Counts the steps of another process, which was started with `StepObserver.FLAGS`, and of its threads. */
export class StepObserver {
  static readonly FLAGS: readonly string[] = ["--inspect=127.0.0.1:0"];
  readonly #socket: WebSocket;
  readonly #answers = new Map<string, PromiseWithResolvers<unknown>>();
  readonly #workers = new Map<string, Promise<unknown>>();
  #lastId = 0;

  private constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.on("message", (data) => this.#receive(JSON.parse(String(data)), ""));
  }

  static async attach(process: RunningProcess): Promise<StepObserver> {
    const url = /ws:\/\/\S+/.exec(process.output())?.[0] ?? assert.fail("the process has no inspector");
    const socket = new WebSocket(url, { maxPayload: 1 << 30 });
    await once(socket, "open");
    const observer = new StepObserver(socket);
    for (const [method, params] of START) await observer.#post("", method, params);
    await observer.#post("", "NodeWorker.enable", { waitForDebuggerOnStart: true });
    return observer;
  }

  /** The steps since the last call. */
  async take(): Promise<ThreadSteps> {
    await Promise.all(this.#workers.values());
    const take = async (session: string) => stepsOf((await this.#post(session, TAKE)) as Coverage);
    const [main, ...others] = await Promise.all(["", ...this.#workers.keys()].map(take));
    return { main: main ?? 0, others: others.reduce((sum, steps) => sum + steps, 0) };
  }

  close(): void {
    this.#socket.terminate();
  }

  /** Sends a command to a thread: the main thread's session is "". */
  async #post(session: string, method: string, params: object = {}): Promise<unknown> {
    const id = ++this.#lastId;
    const answer = Promise.withResolvers<unknown>();
    this.#answers.set(`${session} ${id}`, answer);
    const message = JSON.stringify({ id, method, params });
    if (session === "") this.#socket.send(message);
    else await this.#post("", "NodeWorker.sendMessageToWorker", { sessionId: session, message });
    return answer.promise;
  }

  #receive({ id, method, params, result, error }: Message, session: string): void {
    if (method === "NodeWorker.receivedMessageFromWorker" && params)
      this.#receive(JSON.parse(params.message), params.sessionId);
    if (method === "NodeWorker.attachedToWorker" && params)
      this.#workers.set(params.sessionId, this.#startWorker(params.sessionId));
    if (method === "NodeWorker.detachedFromWorker" && params) this.#workers.delete(params.sessionId);
    const answer = this.#answers.get(`${session} ${id}`);
    this.#answers.delete(`${session} ${id}`);
    if (error) answer?.reject(new Error(error.message));
    else answer?.resolve(result);
  }

  async #startWorker(session: string): Promise<void> {
    for (const [method, params] of START) await this.#post(session, method, params);
    await this.#post(session, "Runtime.runIfWaitingForDebugger");
  }
}
