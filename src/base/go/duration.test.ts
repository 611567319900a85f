import assert from "node:assert/strict";
import { test } from "node:test";
import { fc } from "../../../test/support/random.ts";
import { printDuration, printMilliseconds, readDuration } from "./duration.ts";

test("parses and prints durations like Go", () => {
  const examples: readonly (readonly [text: string, nanoseconds: bigint])[] = [
    ["0s", 0n],
    ["1ns", 1n],
    ["1.1µs", 1_100n],
    ["2.2ms", 2_200_000n],
    ["3.3s", 3_300_000_000n],
    ["4m5s", 245_000_000_000n],
    ["4m5.001s", 245_001_000_000n],
    ["5h6m7.001s", 18_367_001_000_000n],
    ["-1h0m0s", -3_600_000_000_000n],
  ];
  for (const [text, nanoseconds] of examples) {
    assert.equal(printDuration(nanoseconds), text);
    assert.equal(readDuration(text), nanoseconds);
  }
  assert.equal(readDuration("1h30m"), 5_400_000_000_000n);
  assert.equal(readDuration("soon"), 'time: invalid duration "soon"');
  assert.equal(printMilliseconds(1500.25), "1.50025s");
  fc.assert(
    fc.property(fc.bigInt({ min: -(2n ** 62n), max: 2n ** 62n }), (nanoseconds) => {
      assert.equal(readDuration(printDuration(nanoseconds)), nanoseconds);
    }),
  );
});
