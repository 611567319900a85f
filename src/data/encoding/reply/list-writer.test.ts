import assert from "node:assert/strict";
import { test } from "node:test";
import type { ObjectView } from "../../../base/api/reply.ts";
import { type ListShape, writeList } from "./list-writer.ts";

const FORM = { mediaType: "application/json", isPretty: false } as const;

/** Rows of objects of a stored size, and the number of rows created so far. */
function rows(count: number, storedBytes: number) {
  const view = { stored: { bytes: storedBytes, isCopied: true } } as ObjectView;
  const made = { count: 0 };
  const row = () => {
    made.count++;
    return Buffer.from("{}");
  };
  const shape: ListShape = {
    head: {},
    arrayName: "rows",
    views: Array(count).fill(view),
    json: row,
    value: () => ({}),
  };
  return { shape: { ...shape, head: { kind: "Table" } }, made };
}

test("encodes rows of small objects as one buffer", () => {
  const { shape } = rows(3, 1000);
  assert.equal(String(writeList(shape, FORM, 1000)), '{"kind":"Table","rows":[{},{},{}]}\n');
});

test("encodes rows of large objects a few at a time and yields in between", async () => {
  const { shape, made } = rows(10, 600_000);
  const body = writeList(shape, FORM, 100_000);
  assert.ok(!(body instanceof Uint8Array));
  assert.equal(made.count, 2);
  let turns = 0;
  let isOver = false;
  const turn = () => {
    turns++;
    if (!isOver) setImmediate(turn);
  };
  setImmediate(turn);
  const chunks: Uint8Array[] = [];
  for await (const chunk of body) chunks.push(chunk);
  isOver = true;
  assert.ok(chunks.every(({ length }) => length > 0));
  assert.equal(String(Buffer.concat(chunks)), `{"kind":"Table","rows":[${Array(10).fill("{}").join()}]}\n`);
  assert.ok(turns >= 4, `${turns} turns`);
});
