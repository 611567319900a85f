import assert from "node:assert/strict";
import { test } from "node:test";
import { pemBlocks } from "./pem.ts";

const block = (type: string, body: string) => `-----BEGIN ${type}-----\n${body}\n-----END ${type}-----\n`;
const read = (text: string) =>
  [...pemBlocks(text)].map(({ type, hasHeaders, bytes }) => [type, hasHeaders, bytes.toString()]);

test("finds blocks among other text", () => {
  const two = `text\n${block("A", "QUJD")}more\n${block("B C", "RE\r\nVG")}`;
  assert.deepEqual(read(two), [
    ["A", false, "ABC"],
    ["B C", false, "DEF"],
  ]);
  assert.deepEqual(read(block("A", "Key: value\n\nQUJD")), [["A", true, "ABC"]]);
  assert.deepEqual(read("-----BEGIN A-----\n-----END A-----\n"), [["A", false, ""]]);
});

test("skips text that only resembles a block", () => {
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

test("uses the last BEGIN before an END", () => {
  const good = block("A", "QUJD");
  const found = [["A", false, "ABC"]];
  assert.deepEqual(read(`-----BEGIN A-----\n${good}`), found);
  assert.deepEqual(read(`-----BEGIN A-----\nQUJD\n-----END A----- x\n${good}`), found);
  assert.deepEqual(read(`x\n-----END A-----\n${good}`), found);
  assert.deepEqual(read(good.replace("QUJD", "QUJD -----BEGIN A-----")), []);
  assert.deepEqual(read("-----BEGIN A-----\nKey: value\n-----END A-----\n"), []);
  // Headers that do not end before the END hide everything after it.
  assert.deepEqual(read(`-----BEGIN A-----\nKey: value\n-----END A:-----\n${good}`), []);
});
