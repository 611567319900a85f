import assert from "node:assert/strict";
import * as hooks from "node:test";
import { suite, test } from "node:test";
import { forkPerTest } from "./fork-per-test.ts";

const cp = forkPerTest(hooks, { controllers: "none" });
const NAMES = ["one", "two", "three"];
const namesIn = async (plane: ReturnType<typeof cp>): Promise<string> => {
  const answer = await plane.fetch("/api/v1/namespaces/default/configmaps");
  const { items } = (await answer.json()) as { items: { metadata: { name: string } }[] };
  return items.map(({ metadata }) => metadata.name).join();
};
const create = (plane: ReturnType<typeof cp>, name: string) =>
  plane.apply({ apiVersion: "v1", kind: "ConfigMap", metadata: { name } });

suite("a fork for every test", () => {
  test("runs in one test after the other", async () => {
    await create(cp(), "before");
  });

  test("starts over in the next test", async () => {
    assert.equal(await namesIn(cp()), "");
  });

  suite("concurrently", { concurrency: true }, () => {
    const { promise: allAreThere, resolve } = Promise.withResolvers<void>();
    let waiting = NAMES.length;
    for (const name of NAMES) {
      test(`is selected by the context of the test: ${name}`, async (t) => {
        await create(cp(t), name);
        if (--waiting === 0) resolve();
        await allAreThere;
        assert.throws(() => cp(), /more than one test is running/);
        assert.equal(await namesIn(cp(t)), name);
      });
    }
  });

  test("a nested test has its own fork", async (outer) => {
    await create(cp(), "outer");
    await outer.test("inside", async (inner) => {
      assert.equal(await namesIn(cp(inner)), "");
      assert.equal(await namesIn(cp(outer)), "outer");
    });
    assert.equal(await namesIn(cp()), "outer");
  });

  test("explains where it can be used", () => {
    assert.throws(() => forkPerTest({} as never), /expects the hooks of a test runner/);
    const unused = () => undefined;
    const vitest = { beforeAll: unused, afterAll: unused, beforeEach: unused, afterEach: unused };
    assert.throws(() => forkPerTest(vitest)(), /only exists inside a test/);
  });
});
