import { type ControlPlane, startControlPlane } from "./control-plane.ts";
import type { ControlPlaneOptions } from "./options.ts";

type Hook = (run: () => Promise<void>) => unknown;

/**
 * The hooks of a test runner: the module `node:test`, `vitest` or `@jest/globals`, or `globalThis` if hooks are global.
 */
export interface TestHooks {
  readonly beforeAll?: Hook;
  readonly before?: Hook;
  readonly afterAll?: Hook;
  readonly after?: Hook;
  readonly beforeEach: Hook;
  readonly afterEach: Hook;
}

/**
 * Returns the control plane of the calling test. `context` is the argument that node:test and vitest pass to test
 * functions. It identifies the test if several run concurrently or are nested.
 */
export type PlaneOfTest = (context?: object) => ControlPlane;

/**
 * Creates a fork of one control plane for every test of a file or suite: `const cp = forkPerTest(hooks, { crds })` with
 * `import * as hooks from "node:test"` (or "vitest", or "@jest/globals"); inside a test, `cp()` returns its fork.
 */
export function forkPerTest(hooks: TestHooks, options: ControlPlaneOptions = {}): PlaneOfTest {
  const beforeAll = hooks.beforeAll ?? hooks.before;
  const afterAll = hooks.afterAll ?? hooks.after;
  if (!beforeAll || !afterAll || !hooks.beforeEach || !hooks.afterEach) {
    throw new TypeError(
      'forkPerTest expects the hooks of a test runner, for example: import * as hooks from "node:test"',
    );
  }
  let origin: ControlPlane | undefined;
  /** By the context of their test. Jest has no context, and runs the tests of a file one after the other. */
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
  "the control plane only exists inside a test: call this function there, not at the top of the file. Jest does not run hooks for test.concurrent";
const WHICH_TEST =
  "more than one test is running: pass the test context to this function, as in test(name, async (t) => cp(t)…)";

/**
 * Returns a hook without declared parameters: Jest treats the first one as a `done` callback, and vitest parses the
 * source of hooks to find fixtures.
 */
function withContext(run: (context: unknown) => Promise<void>): () => Promise<void> {
  return function () {
    // biome-ignore lint/complexity/noArguments: vitest would find a rest parameter in the source.
    return run(arguments[0]);
  };
}
