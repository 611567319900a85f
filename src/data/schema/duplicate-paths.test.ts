import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { printPath } from "./decode-state.ts";
import { DuplicatePaths } from "./duplicate-paths.ts";

suite("duplicate paths", () => {
  test("finds a path by its text", () => {
    const walk: readonly (readonly (string | number)[])[] = [
      ["metadata"],
      ["metadata", "name"],
      ["metadata", "labels", "a.b"],
      ["metadata", "labels", "a", "b"],
      ["spec", "ports", 1, "port"],
      ["spec", "ports", 10, "port"],
      ["spec", "ports", 1],
      ["spec", "portsport"],
      ["specs"],
      [""],
      ["", "a"],
      ["a"],
    ];
    const given = walk.filter((_, index) => index % 3 === 0).map(printPath);
    const paths = new DuplicatePaths(given);
    for (const path of [...walk, ...walk.toReversed()]) {
      assert.equal(paths.has(path), given.includes(printPath(path)), printPath(path));
    }
    assert.equal(new DuplicatePaths([]).isEmpty, true);
    assert.equal(new DuplicatePaths([]).has(["a"]), false);
  });
});
