/** Work in steps. Other work may run between two steps. */
export type Steps<T> = Generator<void, T>;

/** Runs all steps synchronously and returns the result. */
export function finish<T>(steps: Steps<T>): T {
  let step = steps.next();
  while (!step.done) step = steps.next();
  return step.value;
}
