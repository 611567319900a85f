import assert from "node:assert/strict";
import { test } from "node:test";
import { fc } from "../../../test/support/random.ts";
import { parseRange, printNumber, printRange } from "./ip-range.ts";

test("parses, masks and prints ranges", () => {
  const rows: [text: string, printed: string | undefined, first?: string, last?: string][] = [
    ["10.96.0.0/16", "10.96.0.0/16", "10.96.0.0", "10.96.255.255"],
    ["10.0.0.7/24", "10.0.0.0/24", "10.0.0.0", "10.0.0.255"],
    ["192.0.2.1/32", "192.0.2.1/32", "192.0.2.1", "192.0.2.1"],
    ["2001:DB8:0::/112", "2001:db8::/112", "2001:db8::", "2001:db8::ffff"],
    ["0.0.0.0/0", "0.0.0.0/0", "0.0.0.0", "255.255.255.255"],
    ["10.0.0.0/33", undefined],
    ["10.0.0.0/08", undefined],
    ["10.0.0.0", undefined],
    ["x/8", undefined],
  ];
  for (const [text, printed, first, last] of rows) {
    const range = parseRange(text);
    assert.equal(range && printRange(range), printed, text);
    if (!range) continue;
    assert.deepEqual([printNumber(range.lowest, range.size), printNumber(range.highest, range.size)], [first, last]);
  }
});

test("a printed range parses to itself", () => {
  fc.assert(
    fc.property(fc.ipV4(), fc.integer({ min: 0, max: 32 }), (address, bits) => {
      const range = parseRange(`${address}/${bits}`);
      assert.ok(range);
      assert.deepEqual(parseRange(printRange(range)), range);
      assert.equal(range.highest - range.lowest + 1n, 1n << BigInt(32 - bits));
    }),
  );
});
