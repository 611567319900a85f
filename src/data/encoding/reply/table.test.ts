import assert from "node:assert/strict";
import { test } from "node:test";
import { ApiError } from "../../../base/api/api-error.ts";
import type { KubeObject } from "../../../base/api/object.ts";
import type { TableShape } from "../../../base/api/reply.ts";
import { parseIncludeObject, type TableOptions, tableOfList, tableOfObject } from "./table.ts";

const shape: TableShape = {
  columns: [
    { name: "Name", type: "string", format: "name", cell: (object) => object.metadata.name ?? "" },
    { name: "Now", type: "integer", priority: 1, description: "the time", cell: (_, now) => now },
  ],
};
const options: TableOptions = { version: "v1", includeObject: "Metadata", now: 7 };

function widget(name: string): KubeObject {
  return { kind: "Widget", apiVersion: "example.com/v1", metadata: { name, resourceVersion: "5" }, size: 1 };
}

test("converts a list to a table with the metadata of the list", () => {
  const metadata = { resourceVersion: "9", continue: "token", remainingItemCount: 2 };
  assert.deepEqual(tableOfList(shape, [widget("a")], metadata, options), {
    kind: "Table",
    apiVersion: "meta.k8s.io/v1",
    metadata,
    columnDefinitions: [
      { name: "Name", type: "string", format: "name", description: "", priority: 0 },
      { name: "Now", type: "integer", format: "", description: "the time", priority: 1 },
    ],
    rows: [
      {
        cells: ["a", 7],
        object: {
          kind: "PartialObjectMetadata",
          apiVersion: "meta.k8s.io/v1",
          metadata: { name: "a", resourceVersion: "5" },
        },
      },
    ],
  });
  assert.deepEqual(tableOfList(shape, [], {}, options).rows, []);
});

test("converts a single object to a table with its resourceVersion", () => {
  const value = tableOfObject(shape, widget("a"), { ...options, version: "v1beta1", includeObject: "Object" });
  assert.equal(value.apiVersion, "meta.k8s.io/v1beta1");
  assert.deepEqual(value.metadata, { resourceVersion: "5" });
  assert.deepEqual(value.rows, [{ cells: ["a", 7], object: widget("a") }]);
});

test("supports rows without objects and tables without columns", () => {
  const value = tableOfObject(shape, widget("a"), { ...options, includeObject: "None", omitsColumns: true });
  assert.equal(value.columnDefinitions, null);
  assert.deepEqual(value.rows, [{ cells: ["a", 7], object: null }]);
});

test("a kind can order its rows and add row conditions", () => {
  const remark = { type: "Completed", status: "True" };
  const ordered: TableShape = {
    ...shape,
    compare: (a, b) => ((a.metadata.name ?? "") > (b.metadata.name ?? "") ? -1 : 1),
    rowConditions: (object) => (object.metadata.name === "a" ? [remark] : []),
  };
  const value = tableOfList(ordered, [widget("a"), widget("b")], {}, { ...options, includeObject: "None" });
  assert.deepEqual(value.rows, [
    { cells: ["b", 7], object: null },
    { cells: ["a", 7], conditions: [remark], object: null },
  ]);
});

test("includeObject accepts three values", () => {
  assert.equal(parseIncludeObject(null), "Metadata");
  assert.equal(parseIncludeObject(""), "Metadata");
  assert.equal(parseIncludeObject("None"), "None");
  assert.equal(parseIncludeObject("Object"), "Object");
  assert.throws(
    () => parseIncludeObject("Everything"),
    (error) =>
      error instanceof ApiError &&
      error.code === 400 &&
      error.message ===
        "Unable to convert to Table as requested: includeObject: Invalid value: \"Everything\": must be 'Metadata', 'Object', 'None', or empty",
  );
});
