import { setImmediate } from "node:timers/promises";

/** Waits for other work to have its turn, if it is time for that. */
export type Pause = () => Promise<void>;

const TURN_MS = 8;

/** For long work: call the result between steps, so that requests are answered in the meantime. */
export function pacer(): Pause {
  let since = performance.now();
  return async () => {
    if (performance.now() - since < TURN_MS) return;
    await setImmediate();
    since = performance.now();
  };
}
