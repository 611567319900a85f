import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import packageJson from "../package.json" with { type: "json" };
import { nodeProblem } from "./node-version.ts";

test("the version of Node is judged as package.json says", () => {
  assert.equal(packageJson.engines.node, ">=24.15");
  for (const good of ["24.15.0", "24.21.0", "25.0.0", "26.10.0"]) assert.equal(nodeProblem(good), undefined, good);
  for (const old of ["18.20.4", "22.23.1", "24.14.9"]) {
    assert.equal(nodeProblem(old), `Node 24.15 or newer is needed, this is ${old}`);
  }
});

test("what is loaded before the version is read has no name that an older Node lacks", () => {
  const text = readFileSync(path.join(import.meta.dirname, "cli.ts"), "utf8");
  const imports = text.match(/^import .*$/gm);
  assert.deepEqual(imports, ['import { nodeProblem } from "./node-version.ts";']);
});
