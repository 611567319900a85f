import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { fc } from "../../../test/support/random.ts";
import { decodeHeaders, decodeHuffman, encodeHeaders, HpackError } from "./hpack.ts";

const fromHex = (text: string) => Buffer.from(text, "hex");

describe("header blocks", () => {
  it("survive a round trip", () => {
    const token = fc.stringMatching(/^[a-z-]{1,20}$/);
    const value = fc.string({ maxLength: 300, unit: "grapheme-ascii" });
    const headers = fc.uniqueArray(fc.tuple(token, value), { selector: ([name]) => name });
    fc.assert(
      fc.property(headers, (fields) => {
        assert.deepEqual([...decodeHeaders(encodeHeaders(fields))], fields);
      }),
      { verbose: true },
    );
  });

  it("use the static table", () => {
    const block = encodeHeaders([
      [":method", "POST"],
      [":scheme", "http"],
      [":path", "/a"],
    ]);
    assert.equal(block.toString("hex"), "838604022f61");
    assert.deepEqual([...decodeHeaders(fromHex("88"))], [[":status", "200"]]);
  });

  it("may announce an empty table and literals of any kind", () => {
    const block = fromHex(`20${"4003666f6f03626172"}${"1003626172013" + "1"}`);
    assert.deepEqual(
      [...decodeHeaders(block)],
      [
        ["foo", "bar"],
        ["bar", "1"],
      ],
    );
  });

  it("are rejected if they refer to a dynamic table or are truncated", () => {
    for (const bad of ["be", "80", "4003666f6f03", "0003666f", "ff", "7f"]) {
      assert.throws(() => decodeHeaders(fromHex(bad)), HpackError, bad);
    }
  });
});

describe("Huffman coding", () => {
  it("decodes the examples of the specification", () => {
    assert.equal(decodeHuffman(fromHex("f1e3c2e5f23a6ba0ab90f4ff")), "www.example.com");
    assert.equal(decodeHuffman(fromHex("a8eb10649cbf")), "no-cache");
    assert.equal(decodeHuffman(fromHex("25a849e95ba97d7f")), "custom-key");
    assert.equal(decodeHuffman(fromHex("6402")), "302");
    assert.equal(
      decodeHuffman(fromHex("d07abe941054d444a8200595040b8166e082a62d1bff")),
      "Mon, 21 Oct 2013 20:13:21 GMT",
    );
  });

  it("rejects wrong padding and EOS", () => {
    assert.throws(() => decodeHuffman(fromHex("0fff")), HpackError);
    assert.throws(() => decodeHuffman(fromHex("ffffffff")), HpackError);
    assert.throws(() => decodeHuffman(fromHex("18")), HpackError);
  });
});
