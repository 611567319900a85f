import { setImmediate } from "node:timers/promises";

/** Yields to the event loop if the current turn has lasted long enough. */
export type Pause = () => Promise<void>;

const TURN_MS = 8;

/** For long computations: await the result between steps, so requests are served in the meantime. */
export function pacer(): Pause {
  let since = performance.now();
  return async () => {
    if (performance.now() - since < TURN_MS) return;
    await setImmediate();
    since = performance.now();
  };
}
