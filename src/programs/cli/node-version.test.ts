import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import packageJson from "../../../package.json" with { type: "json" };
import { nodeProblem } from "./node-version.ts";

test("requires the version of Node in package.json", () => {
  assert.equal(packageJson.engines.node, ">=24.15");
  for (const good of ["24.15.0", "24.21.0", "25.0.0", "26.10.0"]) assert.equal(nodeProblem(good), undefined, good);
  for (const old of ["18.20.4", "22.23.1", "24.14.9"]) {
    assert.equal(nodeProblem(old), `Node 24.15 or newer is required, this is ${old}`);
  }
});

test("imports nothing else before the version of Node is checked", () => {
  const text = readFileSync(path.join(import.meta.dirname, "../../cli.ts"), "utf8");
  const imports = text.match(/^import .*$/gm);
  assert.deepEqual(imports, ['import { nodeProblem } from "./programs/cli/node-version.ts";']);
});
