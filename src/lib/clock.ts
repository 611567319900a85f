/** Something that will happen once, or again and again, unless it is closed before. */
export interface Timer {
  /** Nothing happens from now on. May be called at any time. */
  close(): unknown;
  /** The timer alone does not keep the process alive. */
  unref(): Timer;
}

/** Time, replaceable in tests: whoever asks what time it is, or waits, asks a clock. */
export interface Clock {
  /** Milliseconds since the epoch. May jump when the machine's clock is set. */
  now(): number;
  /** Milliseconds since some moment. Never jumps, so differences are times that have passed. */
  monotonic(): number;
  /** Calls once, after so long. */
  setTimer(delayMs: number, call: () => void): Timer;
  /** Calls again and again, each time after so long. */
  setInterval(periodMs: number, call: () => void): Timer;
  /** Resolves after so long, or as soon as the signal aborts; never rejects. Keeps the process alive. */
  sleep(delayMs: number, signal?: AbortSignal): Promise<void>;
}

/** Waits by a timer of the clock, but not longer than until the signal aborts. */
export function sleepOn(clock: Pick<Clock, "setTimer">, delayMs: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve();
    const end = (): void => {
      timer.close();
      signal?.removeEventListener("abort", end);
      resolve();
    };
    const timer = clock.setTimer(delayMs, end);
    signal?.addEventListener("abort", end);
  });
}

/** The machine's clock and the timers of Node. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  setTimer: (delayMs, call) => setTimeout(call, delayMs),
  setInterval: (periodMs, call) => setInterval(call, periodMs),
  sleep: (delayMs, signal) => sleepOn(systemClock, delayMs, signal),
};
