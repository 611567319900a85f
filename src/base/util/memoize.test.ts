import assert from "node:assert/strict";
import { test } from "node:test";
import { memoize } from "./memoize.ts";

test("caches results within bounds", () => {
  const made: string[] = [];
  const upper = memoize(
    (text: string) => {
      made.push(text);
      if (text === "bad") throw new Error("bad");
      return text.toUpperCase();
    },
    { results: 2, textLength: 3 },
  );
  const run = (...texts: string[]) => {
    made.length = 0;
    return [texts.map(upper), [...made]];
  };
  assert.deepEqual(run("a", "a", "b", "a"), [
    ["A", "A", "B", "A"],
    ["a", "b"],
  ]);
  assert.deepEqual(run("long", "long"), [
    ["LONG", "LONG"],
    ["long", "long"],
  ]);
  assert.deepEqual(run("c", "a"), [
    ["C", "A"],
    ["c", "a"],
  ]);
  assert.throws(() => upper("bad"));
  assert.throws(() => run("bad"));
  assert.deepEqual(made, ["bad"]);
});
