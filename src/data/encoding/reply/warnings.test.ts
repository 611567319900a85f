import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { printWarnings } from "./warnings.ts";

describe("printWarnings", () => {
  it("quotes warnings and drops empty, duplicate and unprintable ones", () => {
    assert.deepEqual(printWarnings(['unknown field "a\\b"', "", "x\ny", "again", "again"]), [
      '299 - "unknown field \\"a\\\\b\\""',
      '299 - "again"',
    ]);
  });

  it("sends characters beyond ASCII as their UTF-8 bytes", () => {
    const [value = ""] = printWarnings(["größe"]);
    assert.equal(Buffer.from(value, "latin1").toString("utf8"), '299 - "größe"');
  });

  it("truncates all warnings if their total length is too large", () => {
    const long = Array.from({ length: 5 }, (_, index) => `${index}`.repeat(1000));
    const cut = printWarnings(long);
    assert.equal(cut.length, 5);
    for (const value of cut) assert.equal(value.length, '299 - ""'.length + 256);
    assert.equal(printWarnings(long.slice(0, 4))[0]?.length, '299 - ""'.length + 1000);
  });

  it("drops warnings beyond the budget", () => {
    const many = Array.from({ length: 100 }, (_, index) => `${index}`.padEnd(300, "x"));
    assert.equal(printWarnings(many).length, 16);
  });
});
