import assert from "node:assert/strict";
import { test } from "node:test";
import { sameValue } from "./typed.ts";

test("a member that is named like one of every object makes a difference", () => {
  assert.ok(!sameValue({}, { constructor: 1 }));
  assert.ok(!sameValue({ constructor: 1 }, {}));
  assert.ok(sameValue({ constructor: 1 }, { constructor: 1 }));
  assert.ok(sameValue({}, { constructor: undefined } as never));
});
