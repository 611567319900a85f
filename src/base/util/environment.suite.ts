import { AsyncLocalStorage } from "node:async_hooks";
import { setImmediate as nextTurn } from "node:timers/promises";
import { type Clock, sleepOn, type Timer } from "./clock.ts";
import type { Environment } from "./environment.ts";
import { seededRandom } from "./seeded-random.ts";

interface Pending {
  atMs: number;
  readonly order: number;
  readonly periodMs: number | undefined;
  readonly call: () => void;
}

/** A clock that stands still until a test advances it. */
export class ManualClock implements Clock {
  #nowMs: number;
  #passedMs = 0;
  #order = 0;
  readonly #pending = new Set<Pending>();

  constructor(nowMs: number = Date.UTC(2026, 0, 1)) {
    this.#nowMs = nowMs;
  }

  now(): number {
    return this.#nowMs + this.#passedMs;
  }

  monotonic(): number {
    return this.#passedMs;
  }

  setTimer(delayMs: number, call: () => void): Timer {
    return this.#add(delayMs, undefined, call);
  }

  setInterval(periodMs: number, call: () => void): Timer {
    return this.#add(periodMs, periodMs, call);
  }

  sleep(delayMs: number, signal?: AbortSignal): Promise<void> {
    return sleepOn(this, delayMs, signal);
  }

  /** The number of pending timers. */
  get timerCount(): number {
    return this.#pending.size;
  }

  /**
   * Advances the time and fires due timers in order. Before each timer and at the end, all pending microtasks and
   * immediates run, so that timers they set within this time fire as well.
   */
  async advance(ms: number): Promise<void> {
    const endMs = this.#passedMs + ms;
    for (;;) {
      await settle();
      const [next] = [...this.#pending].sort((a, b) => a.atMs - b.atMs || a.order - b.order);
      if (next === undefined || next.atMs > endMs) break;
      this.#passedMs = Math.max(this.#passedMs, next.atMs);
      if (next.periodMs === undefined) this.#pending.delete(next);
      else next.atMs += Math.max(1, next.periodMs);
      next.call();
    }
    this.#passedMs = endMs;
    await settle();
  }

  /** Sets the wall clock. The monotonic time does not change. */
  set(nowMs: number): void {
    this.#nowMs = nowMs - this.#passedMs;
  }

  /** As with the timers of Node, the call has the async context of the code that set the timer. */
  #add(delayMs: number, periodMs: number | undefined, given: () => void): Timer {
    const call = AsyncLocalStorage.bind(given);
    const pending: Pending = { atMs: this.#passedMs + Math.max(0, delayMs), order: this.#order++, periodMs, call };
    this.#pending.add(pending);
    const timer: Timer = { close: () => this.#pending.delete(pending), unref: () => timer };
    return timer;
  }
}

/** The maximum number of event loop turns that in-memory work takes before it waits for time or I/O. */
const TURNS = 20;

/** Resolves when all work that does not wait for time or I/O has finished. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < TURNS; turn += 1) await nextTurn();
}

/** One line of a log. */
export interface LogLine {
  readonly level: "error" | "warn" | "info";
  readonly text: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

/** An environment for tests: manual clock, seeded random numbers, and recorded log lines. */
export interface DrivenEnvironment extends Environment {
  readonly clock: ManualClock;
  readonly lines: LogLine[];
}

/** Creates a test environment. */
export function drivenEnvironment(seed = 1): DrivenEnvironment {
  const lines: LogLine[] = [];
  const logAt =
    (level: LogLine["level"]) =>
    (text: string, fields: LogLine["fields"] = {}): void =>
      void lines.push({ level, text, fields });
  const log = { error: logAt("error"), warn: logAt("warn"), info: logAt("info") };
  return { clock: new ManualClock(), random: seededRandom(seed), log, lines };
}
