/** A one-shot or periodic timer. */
export interface Timer {
  /** Cancels the timer. May be called at any time. */
  close(): unknown;
  /** Lets the process exit while the timer is pending. */
  unref(): Timer;
}

/** Time source, replaceable in tests. All code that reads the time or waits uses a clock. */
export interface Clock {
  /** Milliseconds since the epoch. May jump when the system clock is set. */
  now(): number;
  /** Milliseconds since an arbitrary moment. Never jumps, so differences are elapsed times. */
  monotonic(): number;
  /** Calls once, after `delayMs`. */
  setTimer(delayMs: number, call: () => void): Timer;
  /** Calls repeatedly, every `periodMs`. */
  setInterval(periodMs: number, call: () => void): Timer;
  /** Resolves after `delayMs`, or as soon as the signal aborts. Never rejects. Keeps the process alive. */
  sleep(delayMs: number, signal?: AbortSignal): Promise<void>;
}

/** Resolves after a timer of the clock fires, or as soon as the signal aborts. */
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

/** The system clock and the timers of Node. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  setTimer: (delayMs, call) => setTimeout(call, delayMs),
  setInterval: (periodMs, call) => setInterval(call, periodMs),
  sleep: (delayMs, signal) => sleepOn(systemClock, delayMs, signal),
};
