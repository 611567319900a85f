import { type Clock, sleepOn, type Timer } from "../../base/util/clock.ts";
import { getMember } from "../../base/util/members.ts";
import { suggestion } from "../../base/util/suggestion.ts";

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

/** Milliseconds of each unit. */
const UNITS: Readonly<Record<string, number>> = {
  days: 86_400_000,
  hours: 3_600_000,
  minutes: 60_000,
  seconds: 1000,
  ms: 1,
};

/** Converts a span to milliseconds. Throws TypeError for an unknown unit, RangeError if it is negative or not finite. */
export function spanMs(span: Span): number {
  const parts = Object.entries(typeof span === "number" ? { ms: span } : span);
  const total = parts.reduce((sum, [unit, count = 0]) => sum + count * msOf(unit), 0);
  if (!Number.isFinite(total) || total < 0) {
    throw new RangeError(`expected milliseconds or { hours: 24 }, 0 or more, got ${JSON.stringify(span)}`);
  }
  return total;
}

function msOf(unit: string): number {
  const ms = getMember(UNITS, unit);
  if (ms !== undefined) return ms;
  const known = Object.keys(UNITS);
  const hint = suggestion(unit, known) || `; known units: ${known.join(", ")}`;
  throw new TypeError(`unknown time unit ${JSON.stringify(unit)}${hint}`);
}

interface Pending {
  atMs: number;
  readonly order: number;
  readonly periodMs: number | undefined;
  readonly call: () => void;
}

/** State of a clock. */
export interface ClockState {
  readonly nowMs: number;
  readonly isRunning: boolean;
}

/**
 * The clock of a control plane. While it runs, it follows real time; while it is stopped, only `advance` changes it.
 * Timers fire in both cases.
 */
export class DrivenClock implements Clock {
  /** The value of `now` when `#passedMs` was 0. */
  readonly #startMs: number;
  #passedMs = 0;
  /** Real time at which `#passedMs` was set; undefined while the clock is stopped. */
  #runsSince: number | undefined;
  #order = 0;
  #isAdvancing = false;
  #alarm: NodeJS.Timeout | undefined;
  /** Ordered by time. */
  readonly #pending: Pending[] = [];
  readonly #settle: () => Promise<void>;

  /** `settle` resolves when all work that does not wait for the clock is done. */
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

  /** Whether the clock runs, and a timer fires in the next `ms` milliseconds. */
  isDueWithin(ms: number): boolean {
    const next = this.#pending[0];
    return this.isRunning && next !== undefined && next.atMs <= this.monotonic() + ms;
  }

  /** Stops the clock. */
  stop(): void {
    this.#passedMs = this.monotonic();
    this.#runsSince = undefined;
    clearTimeout(this.#alarm);
  }

  /** Makes the clock follow real time from now on. */
  run(): void {
    this.#passedMs = this.monotonic();
    this.#runsSince = performance.now();
    this.#schedule();
  }

  /** Advances the clock: fires due timers in order of time, each after the effects of the previous one have settled. */
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

  /** Drops all timers. */
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
    return handleOf(() => {
      const index = this.#pending.indexOf(pending);
      if (index >= 0) this.#pending.splice(index, 1);
    });
  }

  #insert(pending: Pending): void {
    const isLater = (one: Pending) =>
      one.atMs > pending.atMs || (one.atMs === pending.atMs && one.order > pending.order);
    const index = this.#pending.findIndex(isLater);
    this.#pending.splice(index < 0 ? this.#pending.length : index, 0, pending);
  }

  /** Sets the alarm for the next timer, if the clock is running. */
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

interface FollowingTimer {
  readonly dueMs: number;
  readonly fire: () => void;
  timer: Timer;
}

/** A clock that follows another one, which may be replaced. Its timers then wait for the rest of their time on the new one. */
export class FollowingClock implements Clock {
  #clock: Clock;
  /** The monotonic time of this clock minus that of the followed one. */
  #aheadMs = 0;
  readonly #pending = new Set<FollowingTimer>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  now(): number {
    return this.#clock.now();
  }

  monotonic(): number {
    return this.#clock.monotonic() + this.#aheadMs;
  }

  setTimer(delayMs: number, call: () => void): Timer {
    const fire = () => {
      this.#pending.delete(pending);
      call();
    };
    const timer = this.#clock.setTimer(delayMs, fire);
    const pending: FollowingTimer = { dueMs: this.monotonic() + delayMs, fire, timer };
    this.#pending.add(pending);
    const close = () => {
      this.#pending.delete(pending);
      pending.timer.close();
    };
    return handleOf(close);
  }

  setInterval(periodMs: number, call: () => void): Timer {
    const next = () => this.setTimer(periodMs, tick);
    const tick = () => {
      timer = next();
      call();
    };
    let timer = next();
    return handleOf(() => timer.close());
  }

  sleep(delayMs: number, signal?: AbortSignal): Promise<void> {
    return sleepOn(this, delayMs, signal);
  }

  /** Replaces the followed clock. */
  follow(clock: Clock): void {
    const nowMs = this.monotonic();
    this.#clock = clock;
    this.#aheadMs = nowMs - clock.monotonic();
    for (const pending of this.#pending) {
      pending.timer.close();
      pending.timer = clock.setTimer(pending.dueMs - nowMs, pending.fire);
    }
  }
}

/** A timer that never keeps the process alive. */
function handleOf(close: () => void): Timer {
  const timer: Timer = { close, unref: () => timer };
  return timer;
}
