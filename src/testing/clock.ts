import { type Clock, sleepOn, type Timer } from "../lib/clock.ts";

/** A span of time. A number is milliseconds. */
export type Span =
  | number
  | {
      readonly days?: number;
      readonly hours?: number;
      readonly minutes?: number;
      readonly seconds?: number;
      readonly ms?: number;
    };

/** Milliseconds of a span. Throws when it is none. */
export function spanMs(span: Span): number {
  const parts = typeof span === "number" ? { ms: span } : span;
  const { days = 0, hours = 0, minutes = 0, seconds = 0, ms = 0 } = parts;
  const total = ((days * 24 + hours) * 60 + minutes) * 60_000 + seconds * 1000 + ms;
  if (!Number.isFinite(total) || total < 0) {
    throw new RangeError(`expected milliseconds or { hours: 24 }, 0 or more, got ${JSON.stringify(span)}`);
  }
  return total;
}

interface Pending {
  atMs: number;
  readonly order: number;
  readonly periodMs: number | undefined;
  readonly call: () => void;
}

/** What a clock was like at a moment. */
export interface ClockState {
  readonly nowMs: number;
  readonly isRunning: boolean;
}

/**
 * All time of a control plane. While it runs, time passes as it does outside; while it stands still, only `advance` lets
 * time pass. Timers become due in either case.
 */
export class DrivenClock implements Clock {
  /** What `now` was when `#passedMs` was 0. */
  readonly #startMs: number;
  #passedMs = 0;
  /** The real time at which `#passedMs` was true; undefined while the clock stands still. */
  #runsSince: number | undefined;
  #order = 0;
  #isAdvancing = false;
  #alarm: NodeJS.Timeout | undefined;
  /** In order of time. */
  readonly #pending: Pending[] = [];
  readonly #settle: () => Promise<void>;

  /** `settle` resolves when everything that waits for nothing but its turn has gone on. */
  constructor({ nowMs, isRunning }: ClockState, settle: () => Promise<void>) {
    this.#startMs = nowMs;
    this.#runsSince = isRunning ? performance.now() : undefined;
    this.#settle = settle;
  }

  now(): number {
    return Math.floor(this.#startMs + this.monotonic());
  }

  monotonic(): number {
    return this.#runsSince === undefined ? this.#passedMs : this.#passedMs + performance.now() - this.#runsSince;
  }

  setTimer(delayMs: number, call: () => void): Timer {
    return this.#add(delayMs, undefined, call);
  }

  setInterval(periodMs: number, call: () => void): Timer {
    return this.#add(periodMs, Math.max(1, periodMs), call);
  }

  sleep(delayMs: number, signal?: AbortSignal): Promise<void> {
    return sleepOn(this, delayMs, signal);
  }

  get isRunning(): boolean {
    return this.#runsSince !== undefined;
  }

  save(): ClockState {
    return { nowMs: this.now(), isRunning: this.isRunning };
  }

  /** Time stands still from now on. */
  stop(): void {
    this.#passedMs = this.monotonic();
    this.#runsSince = undefined;
    clearTimeout(this.#alarm);
  }

  /** Time passes as it does outside from now on. */
  run(): void {
    this.#passedMs = this.monotonic();
    this.#runsSince = performance.now();
    this.#schedule();
  }

  /** Lets time pass at once: calls what becomes due in order of time, each when what the last one caused has happened. */
  async advance(span: Span): Promise<void> {
    if (this.#isAdvancing) throw new Error("the clock is being advanced: await the first advance() before the next");
    this.#isAdvancing = true;
    const wasRunning = this.isRunning;
    this.stop();
    try {
      const endMs = this.#passedMs + spanMs(span);
      await this.#settle();
      for (let next = this.#pending[0]; next !== undefined && next.atMs <= endMs; next = this.#pending[0]) {
        this.#passedMs = Math.max(this.#passedMs, next.atMs);
        this.#fireDue();
        await this.#settle();
      }
      this.#passedMs = endMs;
      await this.#settle();
    } finally {
      this.#isAdvancing = false;
      if (wasRunning) this.run();
    }
  }

  /** Forgets all timers. */
  close(): void {
    this.stop();
    this.#pending.length = 0;
  }

  #fireDue(): void {
    const nowMs = this.monotonic();
    for (let next = this.#pending[0]; next !== undefined && next.atMs <= nowMs; next = this.#pending[0]) {
      this.#pending.shift();
      if (next.periodMs !== undefined) {
        next.atMs += next.periodMs;
        this.#insert(next);
      }
      next.call();
    }
  }

  #add(delayMs: number, periodMs: number | undefined, call: () => void): Timer {
    const atMs = this.monotonic() + Math.max(0, delayMs);
    const pending: Pending = { atMs, order: this.#order++, periodMs, call };
    this.#insert(pending);
    this.#schedule();
    const timer: Timer = {
      close: () => {
        const index = this.#pending.indexOf(pending);
        if (index >= 0) this.#pending.splice(index, 1);
      },
      unref: () => timer,
    };
    return timer;
  }

  #insert(pending: Pending): void {
    const isLater = (one: Pending) =>
      one.atMs > pending.atMs || (one.atMs === pending.atMs && one.order > pending.order);
    const index = this.#pending.findIndex(isLater);
    this.#pending.splice(index < 0 ? this.#pending.length : index, 0, pending);
  }

  /** Wakes up when the first timer is due, if time passes by itself. */
  #schedule(): void {
    clearTimeout(this.#alarm);
    const next = this.#pending[0];
    if (next === undefined || this.#runsSince === undefined) return;
    const delayMs = Math.min(Math.max(0, Math.ceil(next.atMs - this.monotonic())), 2 ** 31 - 1);
    this.#alarm = setTimeout(() => {
      this.#fireDue();
      this.#schedule();
    }, delayMs).unref();
  }
}
