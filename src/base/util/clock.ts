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

/** The longest delay of a timer of Node. It fires at once after a longer one. */
const MAX_DELAY_MS = 2 ** 31 - 1;

/** A timer for any delay, made of several ones of Node. */
function longTimer(delayMs: number, call: () => void): Timer {
  let isReferenced = true;
  let part: NodeJS.Timeout | undefined;
  const arm = (leftMs: number): void => {
    const partMs = Math.min(leftMs, MAX_DELAY_MS);
    part = setTimeout(() => (leftMs > partMs ? arm(leftMs - partMs) : call()), partMs);
    if (!isReferenced) part.unref();
  };
  arm(delayMs);
  const timer: Timer = {
    close: () => clearTimeout(part),
    unref: () => {
      isReferenced = false;
      part?.unref();
      return timer;
    },
  };
  return timer;
}

/** The system clock and the timers of Node. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  setTimer: (delayMs, call) => (delayMs > MAX_DELAY_MS ? longTimer(delayMs, call) : setTimeout(call, delayMs)),
  setInterval: (periodMs, call) => setInterval(call, periodMs),
  sleep: (delayMs, signal) => sleepOn(systemClock, delayMs, signal),
};
