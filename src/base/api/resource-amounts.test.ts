import assert from "node:assert/strict";
import { test } from "node:test";
import { parseQuantity } from "./quantity.ts";
import { addAmounts, greatestAmounts, peakAmounts, readAmounts, roundUp, writeAmounts } from "./resource-amounts.ts";

const amounts = (texts: Record<string, string>) => readAmounts(texts);

test("adds and compares amounts by resource and prints them in order", () => {
  const one = amounts({ memory: "1Gi", cpu: "250m" });
  const other = amounts({ cpu: "1", gpu: "2" });
  assert.deepEqual(Object.entries(writeAmounts(addAmounts(one, other))), [
    ["cpu", "1250m"],
    ["gpu", "2"],
    ["memory", "1Gi"],
  ]);
  assert.deepEqual(writeAmounts(greatestAmounts(one, other)), { cpu: "1", gpu: "2", memory: "1Gi" });
  assert.deepEqual(writeAmounts(one), { cpu: "250m", memory: "1Gi" }, "the arguments are not modified");
  assert.deepEqual(writeAmounts(readAmounts(undefined)), {});
});

const peaks: readonly [together: string[], before: string[], peak: string][] = [
  [["1", "2"], [], "3"],
  [["1"], ["5"], "5"],
  [["1"], ["500m", "250m"], "1"],
  // Shares marked with a plus sign are lasting.
  [["1"], ["+2"], "3"],
  [["1"], ["+2", "3"], "5"],
  [["1"], ["3", "+2"], "3"],
  [["1"], ["+1", "4", "+1", "1"], "5"],
];

for (const [together, before, peak] of peaks) {
  test(`${together} after ${before.join(", ") || "nothing"} need ${peak}`, () => {
    const share = (text: string) => ({
      amounts: amounts({ cpu: text.replace("+", "") }),
      isLasting: text.startsWith("+"),
    });
    assert.deepEqual(writeAmounts(peakAmounts(together.map(share), before.map(share))), { cpu: peak });
  });
}

test("rounds amounts up", () => {
  const cases: readonly [text: string, digits: number, expected: bigint][] = [
    ["1500m", 0, 2n],
    ["1500m", 3, 1500n],
    ["100u", 3, 1n],
    ["1Ki", 0, 1024n],
    ["-1500m", 0, -1n],
    ["2k", 3, 2_000_000n],
  ];
  for (const [text, digits, expected] of cases) assert.equal(roundUp(parseQuantity(text), digits), expected);
});
