import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { count, differences, readSpecs, readTests } from "./results.ts";

const spec = (text: string, state: string, type = "It") => ({
  ContainerHierarchyTexts: ["cache"],
  LeafNodeText: text,
  LeafNodeType: type,
  State: state,
});

suite("results of Go tests", () => {
  test("tests and subtests are read from what -test.v prints", () => {
    const output =
      "=== RUN   TestA\n    --- PASS: TestA/one (0.10s)\n--- FAIL: TestA (0.20s)\n--- SKIP: TestB (0.00s)\nFAIL\n";
    const results = readTests(output);
    assert.deepEqual(
      [...results],
      [
        ["TestA/one", "passed"],
        ["TestA", "failed"],
        ["TestB", "skipped"],
      ],
    );
  });

  test("a seed in a name does not make it another test", () => {
    const output =
      "--- PASS: TestA/random(1794814942479258494) (0s)\n--- FAIL: TestA/random(1794814942487431028) (0s)\n";
    assert.deepEqual(
      [...readTests(output)],
      [
        ["TestA/random(N)", "passed"],
        ["TestA/random(N) (2)", "failed"],
      ],
    );
  });

  test("specs of Ginkgo are read from its report, those of one name apart", () => {
    const specs = [
      spec("gets", "passed"),
      spec("gets", "failed"),
      spec("lists", "pending"),
      spec("x", "passed", "BeforeSuite"),
    ];
    const results = readSpecs(JSON.stringify([{ SpecReports: specs }, { SpecReports: null }]));
    assert.deepEqual(
      [...results],
      [
        ["cache gets", "passed"],
        ["cache gets (2)", "failed"],
        ["cache lists", "pending"],
      ],
    );
    assert.equal(count(results, "passed"), 1);
  });

  test("a difference is what passed with the real server only", () => {
    const real = new Map([
      ["a", "passed"],
      ["b", "failed"],
      ["c", "passed"],
      ["d", "passed"],
    ]);
    const ours = new Map([
      ["a", "passed"],
      ["b", "failed"],
      ["c", "failed"],
    ]);
    assert.deepEqual(differences(real, ours), ["c: failed", "d: did not run"]);
  });
});
