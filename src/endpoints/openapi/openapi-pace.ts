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

/** Makes something once, however many ask at the same time. A failure is not kept: the next one tries again. */
export function onceAsync<T>(make: () => Promise<T>): () => Promise<T> {
  let source = make;
  let made: Promise<T> | undefined;
  const attempt = async (): Promise<T> => {
    try {
      const value = await source();
      // What it was made from may be large and is not needed again.
      source = spent;
      return value;
    } catch (error) {
      made = undefined;
      throw error;
    }
  };
  return () => {
    made ??= attempt();
    return made;
  };
}

const spent = (): Promise<never> => Promise.reject(new Error("it was made before"));
