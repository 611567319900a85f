import assert from "node:assert/strict";
import { test } from "node:test";
import type { Json } from "../api/object.ts";
import { jsonPath } from "./json-path.ts";

const object: Json = {
  spec: {
    "a.b": 1,
    list: [
      { type: "Ready", status: "True" },
      { type: "Other", status: "False", n: 3 },
    ],
    flag: false,
  },
  numbers: [1, 2, 3, 4],
};

const rows: [path: string, found: Json[] | undefined][] = [
  [".spec.flag", [false]],
  [".spec.missing.deeper", []],
  [".spec.a\\.b", [1]],
  [".spec['flag']", [false]],
  [".numbers[0]", [1]],
  [".numbers[-1]", [4]],
  [".numbers[1:3]", [2, 3]],
  [".numbers[::2]", [1, 3]],
  [".numbers[*]", [1, 2, 3, 4]],
  [".numbers[0,2]", [1, 3]],
  [".numbers[9]", undefined],
  ['.spec.list[?(@.type=="Ready")].status', ["True"]],
  [".spec.list[?(@.type=='Ready')].status", ["True"]],
  [".spec.list[?(@.n>2)].type", ["Other"]],
  [".spec.list[?(@.n)].type", ["Other"]],
  ["..status", ["True", "False"]],
];

test("paths lead where client-go's jsonpath finds something", () => {
  for (const [path, found] of rows) assert.deepEqual(jsonPath(path)?.(object), found, path);
});

test("what cannot be parsed is no path", () => {
  for (const path of [".a[", ".a[x]", ".a[?(@.b", "....a", ".a}{", `.${"[?(".repeat(50)}`, ".".repeat(20_000)]) {
    assert.equal(jsonPath(path)?.(object)?.length ?? 0, 0, path.slice(0, 20));
  }
  assert.equal(jsonPath(".a["), undefined);
});

test("a path that would look at very many values finds nothing", () => {
  let deep: Json = { a: 1 };
  for (let i = 0; i < 200; i++) deep = { a: deep, b: deep };
  assert.equal(jsonPath("..a..a..a")?.(deep), undefined);
});
