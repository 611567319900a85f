import assert from "node:assert/strict";
import { test } from "node:test";
import { fc } from "../../../test/support/random.ts";
import { printBits, readBits } from "./bit-set.ts";

test("the lowest bit is in the last byte", () => {
  assert.deepEqual([...readBits(Uint8Array.of(0x80, 0x01))], [0, 15]);
  assert.deepEqual([...printBits(new Set([0, 15]))], [0x80, 0x01]);
  assert.deepEqual([...printBits(new Set([8]))], [1, 0]);
  assert.equal(printBits(new Set()).length, 0);
});

test("reads the bits that were printed", () => {
  fc.assert(
    fc.property(fc.uniqueArray(fc.nat(3000)), (positions) => {
      assert.deepEqual(readBits(printBits(new Set(positions))), new Set(positions.toSorted((a, b) => a - b)));
    }),
  );
});
