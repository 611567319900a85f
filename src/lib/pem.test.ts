import assert from "node:assert/strict";
import { test } from "node:test";
import { pemBlocks } from "./pem.ts";

const block = (type: string, body: string) => `-----BEGIN ${type}-----\n${body}\n-----END ${type}-----\n`;
const read = (text: string) =>
  [...pemBlocks(text)].map(({ type, hasHeaders, bytes }) => [type, hasHeaders, bytes.toString()]);

test("blocks are found among other text", () => {
  const two = `text\n${block("A", "QUJD")}more\n${block("B C", "RE\r\nVG")}`;
  assert.deepEqual(read(two), [
    ["A", false, "ABC"],
    ["B C", false, "DEF"],
  ]);
  assert.deepEqual(read(block("A", "Key: value\n\nQUJD")), [["A", true, "ABC"]]);
  assert.deepEqual(read("-----BEGIN A-----\n-----END A-----\n"), [["A", false, ""]]);
});

test("what only looks like a block is passed over", () => {
  const good = block("A", "QUJD");
  for (const bad of [
    "",
    "text",
    "-----BEGIN A----\nQUJD",
    block("A", "!!!!"),
    good.replace("END A", "END B"),
    good.slice(0, -7),
  ]) {
    assert.deepEqual(read(bad), [], bad);
    assert.deepEqual(read(`${bad}\n${good}`), [["A", false, "ABC"]], bad);
  }
  assert.deepEqual(read(` ${good}`), []);
});
