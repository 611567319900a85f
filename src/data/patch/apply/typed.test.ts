import assert from "node:assert/strict";
import { test } from "node:test";
import { ExactInteger } from "../../../base/util/exact-integer.ts";
import { sameValue } from "./typed.ts";

test("sameValue compares members with names such as constructor", () => {
  assert.ok(!sameValue({}, { constructor: 1 }));
  assert.ok(!sameValue({ constructor: 1 }, {}));
  assert.ok(sameValue({ constructor: 1 }, { constructor: 1 }));
  assert.ok(sameValue({}, { constructor: undefined } as never));
});

test("sameValue compares large integers by their digits", () => {
  const large = new ExactInteger("9007199254740993");
  assert.ok(sameValue(large, new ExactInteger("9007199254740993")));
  assert.ok(!sameValue(large, new ExactInteger("9007199254740992")));
  assert.ok(!sameValue(large, { digits: "9007199254740993" }));
  assert.ok(!sameValue({ digits: "9007199254740993" }, large));
});
