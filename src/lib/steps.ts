/** Work in steps, between which others may have their turn. */
export type Steps<T> = Generator<void, T>;

/** Takes all steps at once. */
export function finish<T>(steps: Steps<T>): T {
  let step = steps.next();
  while (!step.done) step = steps.next();
  return step.value;
}
