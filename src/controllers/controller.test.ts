import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { type Controller, runControllers, selectControllers } from "./controller.ts";

const idle = async (): Promise<void> => undefined;
const all: readonly Controller[] = [
  { name: "garbage-collector-controller", aliases: ["garbagecollector"], run: idle },
  { name: "namespace-controller", aliases: ["namespace"], run: idle },
  { name: "serviceaccount-controller", run: idle },
];

suite("selecting controllers", () => {
  const [collector, namespaces, accounts] = all.map(({ name }) => name);
  const cases: readonly (readonly [flag: string, expected: readonly (string | undefined)[]])[] = [
    ["*", [collector, namespaces, accounts]],
    ["none", []],
    ["", []],
    ["namespace-controller", [namespaces]],
    [" namespace , serviceaccount-controller", [namespaces, accounts]],
    ["*,-namespace-controller", [collector, accounts]],
    ["-namespace,*", [collector, accounts]],
    ["-garbagecollector", []],
    ["*,namespace-controller,-namespace-controller", [collector, namespaces, accounts]],
    ["-namespace-controller,namespace-controller", []],
  ];
  for (const [flag, expected] of cases) {
    test(JSON.stringify(flag), () => {
      assert.deepEqual(
        selectControllers(all, flag).map(({ name }) => name),
        expected,
      );
    });
  }

  test("an unknown name is refused", () => {
    const refusal = /"nobody" is not in the list of known controllers/;
    assert.throws(() => selectControllers(all, "*,-nobody"), refusal);
  });
});

suite("running controllers", () => {
  test("one that fails or ends is reported and started anew; all end with the signal", async () => {
    const stop = new AbortController();
    const reported: string[] = [];
    let runs = 0;
    const flaky: Controller = {
      name: "flaky",
      run: async (signal) => {
        runs += 1;
        if (runs === 1) throw new Error("broken");
        if (runs === 2) return;
        stop.abort();
        assert.ok(signal.aborted);
      },
    };
    const steady: Controller = {
      name: "steady",
      run: (signal) => new Promise((resolve) => signal.addEventListener("abort", () => resolve())),
    };
    await runControllers([flaky, steady], stop.signal, (name, error) => reported.push(`${name}: ${error}`));
    assert.equal(runs, 3);
    assert.deepEqual(reported, ["flaky: Error: broken", "flaky: Error: the controller ended by itself"]);
  });

  test("nothing starts when the signal has aborted already", async () => {
    const controller = { name: "x", run: () => assert.fail() };
    await runControllers([controller], AbortSignal.abort(), () => assert.fail());
  });
});
