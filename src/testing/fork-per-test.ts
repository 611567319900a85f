import { type ControlPlane, startControlPlane } from "./control-plane.ts";
import type { ControlPlaneOptions } from "./options.ts";

type Hook = (run: () => Promise<void>) => unknown;

/** The hooks of a test runner: `node:test`, `vitest` or `@jest/globals` as a whole, or `globalThis` where the runner puts them there. */
export interface TestHooks {
  readonly beforeAll?: Hook;
  readonly before?: Hook;
  readonly afterAll?: Hook;
  readonly after?: Hook;
  readonly beforeEach: Hook;
  readonly afterEach: Hook;
}

/**
 * The control plane of the test that calls it. `context` is what node:test and vitest hand to the function of a test: it says
 * which test calls, where several run at the same time or one runs others.
 */
export type PlaneOfTest = (context?: object) => ControlPlane;

/**
 * A fork of one control plane for every test of a file or suite: `const cp = forkPerTest(hooks, { crds })` with
 * `import * as hooks from "node:test"` (or "vitest", or "@jest/globals"); inside of a test `cp()` is its own.
 */
export function forkPerTest(hooks: TestHooks, options: ControlPlaneOptions = {}): PlaneOfTest {
  const beforeAll = hooks.beforeAll ?? hooks.before;
  const afterAll = hooks.afterAll ?? hooks.after;
  if (!beforeAll || !afterAll || !hooks.beforeEach || !hooks.afterEach) {
    throw new TypeError('forkPerTest takes the hooks of a test runner: import * as hooks from "node:test", for one');
  }
  let origin: ControlPlane | undefined;
  /** By the context of their test; Jest has none, and runs one test of a file after the other. */
  const forks = new Map<unknown, ControlPlane>();
  beforeAll(async () => {
    origin = await startControlPlane(options);
  });
  hooks.beforeEach(
    withContext(async (context) => {
      if (origin) forks.set(context, await origin.fork());
    }),
  );
  hooks.afterEach(
    withContext(async (context) => {
      const fork = forks.get(context);
      forks.delete(context);
      await fork?.close();
    }),
  );
  afterAll(async () => {
    await origin?.close();
  });
  return (context) => {
    const fork = forks.size === 1 && context === undefined ? forks.values().next().value : forks.get(context);
    if (fork) return fork;
    throw new Error(forks.size === 0 ? NOT_IN_A_TEST : WHICH_TEST);
  };
}

const NOT_IN_A_TEST =
  "there is a control plane only inside of a test: call this function there, not at the top of the file. Jest runs no hooks around test.concurrent";
const WHICH_TEST =
  "more than one test is running: call this function with what the runner hands to yours, as in test(name, async (t) => cp(t)…)";

/** A hook without parameters: Jest takes the first one for a `done` callback, and vitest reads the text of hooks to know which fixtures they want. */
function withContext(run: (context: unknown) => Promise<void>): () => Promise<void> {
  return function () {
    // biome-ignore lint/complexity/noArguments: a rest parameter is one that vitest finds in the text.
    return run(arguments[0]);
  };
}
