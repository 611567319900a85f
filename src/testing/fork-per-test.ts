import { type ControlPlane, startControlPlane } from "./control-plane.ts";
import type { ControlPlaneOptions } from "./options.ts";

type Hook = (run: () => Promise<void>) => unknown;

/** The hooks of a test runner: `node:test`, `vitest` or `@jest/globals` as a whole. */
export interface TestHooks {
  readonly beforeAll?: Hook;
  readonly before?: Hook;
  readonly afterAll?: Hook;
  readonly after?: Hook;
  readonly beforeEach: Hook;
  readonly afterEach: Hook;
}

/**
 * A fork of one control plane for every test of a file or suite: `const cp = forkPerTest(hooks, { crds })` with
 * `import * as hooks from "node:test"` (or "vitest", or "@jest/globals"); inside of a test `cp()` is its own.
 */
export function forkPerTest(hooks: TestHooks, options: ControlPlaneOptions = {}): () => ControlPlane {
  const beforeAll = hooks.beforeAll ?? hooks.before;
  const afterAll = hooks.afterAll ?? hooks.after;
  if (!beforeAll || !afterAll || !hooks.beforeEach || !hooks.afterEach) {
    throw new TypeError('forkPerTest takes the hooks of a test runner: import * as hooks from "node:test", for one');
  }
  let origin: ControlPlane | undefined;
  let current: ControlPlane | undefined;
  beforeAll(async () => {
    origin = await startControlPlane(options);
  });
  hooks.beforeEach(async () => {
    current = await origin?.fork();
  });
  hooks.afterEach(async () => {
    await current?.close();
    current = undefined;
  });
  afterAll(async () => {
    await origin?.close();
  });
  return () => {
    if (current) return current;
    throw new Error(
      "there is a control plane only inside of a test: call this function there, not at the top of the file",
    );
  };
}
