import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { ManualClock } from "../../../base/util/environment.suite.ts";
import { type Controller, type Named, runControllers, selectControllers } from "./controller.ts";

const all: readonly Named[] = [
  { name: "garbage-collector-controller", aliases: ["garbagecollector"] },
  { name: "namespace-controller", aliases: ["namespace"] },
  { name: "serviceaccount-controller" },
  { name: "token-cleaner-controller", aliases: ["tokencleaner"], isOptional: true },
];

suite("selectControllers", () => {
  const [collector, namespaces, accounts, cleaner] = all.map(({ name }) => name);
  const cases: readonly (readonly [flag: string, expected: readonly (string | undefined)[]])[] = [
    ["*", [collector, namespaces, accounts]],
    ["*,tokencleaner", [collector, namespaces, accounts, cleaner]],
    ["token-cleaner-controller", [cleaner]],
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

  test("rejects an unknown name", () => {
    const refusal = /"missing" is not in the list of known controllers/;
    assert.throws(() => selectControllers(all, "*,-missing"), refusal);
  });
});

suite("runControllers", () => {
  test("reports and restarts a failed or ended controller with backoff, and ends all with the signal", async () => {
    const clock = new ManualClock();
    const stop = new AbortController();
    const reported: string[] = [];
    const startedMs: number[] = [];
    const flaky: Controller = {
      name: "flaky",
      run: async (signal) => {
        startedMs.push(clock.monotonic());
        if (startedMs.length === 1) throw new Error("broken");
        if (startedMs.length === 2) return;
        // Long enough to count as stable, so that the next backoff is short again.
        if (startedMs.length === 3) return clock.sleep(61_000, signal);
        stop.abort();
        assert.ok(signal.aborted);
      },
    };
    const steady: Controller = {
      name: "steady",
      run: (signal) => new Promise((resolve) => signal.addEventListener("abort", () => resolve())),
    };
    const note = (name: string, error: unknown) => void reported.push(`${name}: ${error}`);
    const running = runControllers([flaky, steady], stop.signal, clock, note);
    await clock.advance(120_000);
    await running;
    assert.deepEqual(startedMs, [0, 100, 300, 61_400]);
    const ended = "flaky: Error: the controller stopped unexpectedly";
    assert.deepEqual(reported, ["flaky: Error: broken", ended, ended]);
  });

  test("restarts a controller that keeps failing every half minute", async () => {
    const clock = new ManualClock();
    const stop = new AbortController();
    let runs = 0;
    const broken: Controller = {
      name: "broken",
      run: async () => {
        runs += 1;
        throw new Error("broken");
      },
    };
    const running = runControllers([broken], stop.signal, clock, () => undefined);
    await clock.advance(600_000);
    const before = runs;
    await clock.advance(300_000);
    assert.equal(runs - before, 10);
    stop.abort();
    await running;
    assert.equal(clock.timerCount, 0);
  });

  test("starts nothing if the signal has aborted already", async () => {
    const controller = { name: "x", run: () => assert.fail() };
    await runControllers([controller], AbortSignal.abort(), new ManualClock(), () => assert.fail());
  });
});
