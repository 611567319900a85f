import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { prefixRange, prefixRangeAfter } from "./key-range.ts";

const text = (range: ReturnType<typeof prefixRangeAfter>) =>
  range && [Buffer.from(range.key).toString("latin1"), Buffer.from(range.rangeEnd).toString("latin1")];

describe("key ranges", () => {
  it("end before the first key that has another prefix", () => {
    assert.deepEqual(text(prefixRange("/pods/")), ["/pods/", "/pods0"]);
    assert.deepEqual(text(prefixRange("")), ["\0", "\0"]);
    assert.deepEqual(text(prefixRange("ü")), ["\u00c3\u00bc", "\u00c3\u00bd"]);
  });

  it("begin after the given key", () => {
    assert.deepEqual(text(prefixRangeAfter("/pods/", "/pods/b")), ["/pods/b\0", "/pods0"]);
    assert.deepEqual(text(prefixRangeAfter("/pods/", "/a")), ["/pods/", "/pods0"]);
    assert.deepEqual(text(prefixRangeAfter("", "x")), ["x\0", "\0"]);
    assert.equal(prefixRangeAfter("/pods/", "/pods0"), undefined);
    assert.equal(prefixRangeAfter("/pods/", "/z"), undefined);
  });
});
