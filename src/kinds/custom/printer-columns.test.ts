import assert from "node:assert/strict";
import { test } from "node:test";
import type { KubeObject } from "../../base/api/object.ts";
import { printerColumns } from "./printer-columns.ts";

const columns = (jsonPath: string) =>
  printerColumns(Array.from({ length: 100 }, (_, index) => ({ name: `c${index}`, type: "string", jsonPath }))).slice(1);

function cellsOf(spec: KubeObject["spec"]): unknown[] {
  const object: KubeObject = { kind: "Thing", apiVersion: "example.com/v1", metadata: { name: "a" }, spec };
  const row = { visits: 0 };
  return columns(".spec").map(({ cell }) => cell(object, 0, row));
}

test("cells that print whole objects share the budget of their row", () => {
  const printed = cellsOf(Array.from({ length: 1000 }, () => ({}))).filter((cell) => cell !== null);
  assert.ok(printed.length > 1 && printed.length < 20, `${printed.length} cells`);
});

test("cells of long strings share the budget of their row", () => {
  const printed = cellsOf("a".repeat(100_000)).filter((cell) => cell !== null);
  assert.ok(printed.length > 10 && printed.length < 50, `${printed.length} cells`);
});

test("small cells are all printed", () => {
  assert.deepEqual(new Set(cellsOf({ b: 1, a: [true] })), new Set(['{"a":[true],"b":1}']));
});
