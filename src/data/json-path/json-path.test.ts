import assert from "node:assert/strict";
import { test } from "node:test";
import type { Json } from "../../base/api/object.ts";
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

test("finds the same values as client-go's jsonpath", () => {
  for (const [path, found] of rows) assert.deepEqual(jsonPath(path)?.(object), found, path);
});

test("rejects malformed paths", () => {
  for (const path of [".a[", ".a[x]", ".a[?(@.b", "....a", ".a}{", `.${"[?(".repeat(50)}`, ".".repeat(20_000)]) {
    assert.equal(jsonPath(path)?.(object)?.length ?? 0, 0, path.slice(0, 20));
  }
  assert.equal(jsonPath(".a["), undefined);
});

test("a path that visits too many values finds nothing", () => {
  let deep: Json = { a: 1 };
  for (let i = 0; i < 200; i++) deep = { a: deep, b: deep };
  assert.equal(jsonPath("..a..a..a")?.(deep), undefined);
});

test("the paths of a row share a budget of visited values", () => {
  const object = { spec: { list: Array.from({ length: 3000 }, (_, a) => ({ a })) } };
  const find = jsonPath(".spec..a") ?? assert.fail();
  const work = { visits: 0 };
  const cells = Array.from({ length: 100 }, () => find(object, work)?.[0]);
  assert.deepEqual(cells.slice(0, 3), [0, 0, undefined]);
  assert.ok(work.visits < 35_000, `${work.visits}`);
});

test("a filter counts the items that do not pass", () => {
  const object = { list: Array.from({ length: 5000 }, () => ({})) };
  for (const path of [".list[?(@.a==1)]", ".list[?(@.b)]", ".list[?(@.a[0])].b"]) {
    const find = jsonPath(path) ?? assert.fail();
    const work = { visits: 0 };
    for (let columns = 0; columns < 10; columns++) find(object, work);
    assert.ok(work.visits > 20_000, `${path}: ${work.visits}`);
  }
});
