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

/** A clock that stands still until a test lets time pass. */
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

  /** How many timers are set. */
  get timerCount(): number {
    return this.#pending.size;
  }

  /**
   * Lets time pass: calls what becomes due in order of time. Before each call and at the end, everything that waits for
   * nothing but its turn goes on, so that what it sets in turn becomes due within this time, too.
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

  /** The machine's clock is set to another time; how much time passes is not touched by that. */
  set(nowMs: number): void {
    this.#nowMs = nowMs - this.#passedMs;
  }

  #add(delayMs: number, periodMs: number | undefined, call: () => void): Timer {
    const pending: Pending = { atMs: this.#passedMs + Math.max(0, delayMs), order: this.#order++, periodMs, call };
    this.#pending.add(pending);
    const timer: Timer = { close: () => this.#pending.delete(pending), unref: () => timer };
    return timer;
  }
}

/** Turns of the event loop that work in memory takes at most before it waits for time or for somebody else. */
const TURNS = 20;

/** Resolves when everything that does not wait for time or for the outside world has gone on. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < TURNS; turn += 1) await nextTurn();
}

/** One line of a log. */
export interface LogLine {
  readonly level: "error" | "warn" | "info";
  readonly text: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

/** An environment that a test drives: time stands still, chance repeats itself, and what is said is kept. */
export interface DrivenEnvironment extends Environment {
  readonly clock: ManualClock;
  readonly lines: LogLine[];
}

/** Makes such an environment. */
export function drivenEnvironment(seed = 1): DrivenEnvironment {
  const lines: LogLine[] = [];
  const say =
    (level: LogLine["level"]) =>
    (text: string, fields: LogLine["fields"] = {}): void =>
      void lines.push({ level, text, fields });
  const log = { error: say("error"), warn: say("warn"), info: say("info") };
  return { clock: new ManualClock(), random: seededRandom(seed), log, lines };
}
