import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { StepCounter } from "../../../test/support/steps.ts";
import type { Json } from "../../base/api/object.ts";
import { jsonPath } from "./json-path.ts";
import type { Node } from "./json-path-parse.ts";

const counter = new StepCounter();

/** What the limit of visits allows. Steps are calls of functions and runs of blocks. */
const MOST_STEPS = 1_500_000;

const times = <T>(count: number, make: (index: number) => T): T[] => Array.from({ length: count }, (_, at) => make(at));
const VALUE: Json = { l: times(20_000, (at) => ({ a: at, l: [at, at] })), m: 1 };
const union = (part: string): string => `.l[*][${times(1000, () => part).join()}]`;

/** For each kind of node, paths that read much and find little. A new kind needs a row. */
const PATHS: Readonly<Record<Node["type"], readonly string[]>> = {
  list: [".l[*].x.y.z", times(400, () => ".l[*]").join("")],
  text: ["'x'"],
  literal: [".l[?(@.a==1)]", ".l[?(true==true)]"],
  field: [".l[*].x", `.l[*]${".x".repeat(3000)}`],
  array: [".l[0:1]", union("0"), ".l[*].l[::2]", times(100, () => ".l[::20000]").join("")],
  wildcard: [".l[*][*][*]", union("*")],
  recursive: ["..x", "..a..x", ".l[*]..x"],
  identifier: ["range"],
  union: [union("'x'"), union("'a'"), union("'l','x'")],
  filter: [".l[?(@.x)]", ".l[?(@..x==1)]", ".l[*].l[?(@.x==@.y)]"],
};

suite("a path takes a bounded number of steps:", () => {
  for (const [type, paths] of Object.entries(PATHS)) {
    for (const path of paths) {
      test(`${type}: ${path.slice(0, 30)}`, () => {
        const compiled = jsonPath(path);
        assert.ok(compiled);
        const steps = counter.count(() => void compiled(VALUE));
        assert.ok(steps < MOST_STEPS, `${steps} steps`);
      });
    }
  }
});
