import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import path from "node:path";
import { test } from "node:test";
import { allNames, compareNames, focusOn, type Outcome, parseNames, planRun, printNames, withPassed } from "./names.ts";

const names = parseNames(
  "# passing\nfirst [Conformance]\n",
  "# waiting\n\n## streams\nsecond\nthird\n\n## policies\nfourth\n",
);

const outcome = (name: string, state: Outcome["state"]): Outcome => ({ name, state, seconds: 0, message: "" });

test("a listed test that fails or does not run is lost, an unlisted one that passes is won", () => {
  const outcomes = [outcome("first [Conformance]", "missing"), outcome("second", "passed"), outcome("third", "failed")];
  const { lost, won } = compareNames(outcomes, names);
  assert.deepEqual(
    lost.map(({ name }) => name),
    ["first [Conformance]"],
  );
  assert.deepEqual(
    won.map(({ name }) => name),
    ["second"],
  );
});

test("writing moves what has passed and takes nothing off", () => {
  const next = withPassed(names, [outcome("first [Conformance]", "failed"), outcome("fourth", "passed")]);
  const text = printNames(next);
  assert.deepEqual(parseNames(text.passing, text.waiting).passing, ["first [Conformance]", "fourth"]);
  assert.deepEqual([...parseNames(text.passing, text.waiting).waiting], [["streams", ["second", "third"]]]);
});

test("a name that is listed twice is refused", () => {
  assert.throws(() => parseNames("first\n", "## x\nfirst\n"), /listed twice: first/);
});

test("serial, compacting and doubtful tests run apart, all others exactly once", () => {
  const passing = ["a", "b [Serial]", "c", "d has been compacted away, [Slow]", "e", "unwanted"];
  const wanted = [...passing.slice(0, -1), "f", "g"];
  const plan = planRun({ passing, waiting: new Map() }, wanted, 2);
  assert.deepEqual(plan.parallel, [{ names: ["a", "e"] }, { names: ["c"] }]);
  assert.deepEqual(plan.serial.names, ["b [Serial]"]);
  assert.deepEqual(plan.compacting.names, ["d has been compacted away, [Slow]"]);
  assert.deepEqual(plan.doubtful, [{ names: ["f"] }, { names: ["g"] }]);
});

test("a focus matches its names and no longer ones", () => {
  const focus = new RegExp(focusOn(["a (b) [Conformance]", "c."]));
  assert.match("suite a (b) [Conformance]", focus);
  assert.doesNotMatch("suite a (b) [Conformance] [Serial]", focus);
  assert.doesNotMatch("suite cd", focus);
});

const LISTS = [
  { passing: "passing.txt", waiting: "waiting.txt", count: 124 },
  { passing: "cluster.txt", waiting: "cluster-waiting.txt", count: 105 },
  { passing: "own.txt", waiting: "own-waiting.txt", count: 117 },
];

for (const { passing: file, waiting: waitingFile, count } of LISTS) {
  test(`the ${count} names of ${file} and ${waitingFile} are as they would be written`, async () => {
    const read = (name: string) => readFile(path.join(import.meta.dirname, name), "utf8");
    const [passing, waiting] = await Promise.all([read(file), read(waitingFile)]);
    const project = parseNames(passing, waiting);
    const printed = printNames(project);
    assert.ok(
      printed.passing === passing && printed.waiting === waiting,
      "run: npm run compare conformance -- --write",
    );
    assert.equal(allNames(project).length, count);
  });
}
