import assert from "node:assert/strict";
import { test } from "node:test";
import { fc } from "../../../../test/support/random.ts";
import type { ObjectView } from "../../../base/api/reply.ts";
import { copyList } from "./copied-list.ts";
import { FilledBody } from "./filled-body.ts";

const HEAD = { kind: "ThingList", apiVersion: "v1", metadata: { resourceVersion: "7" } };

/** A view that can be copied only if there is more room than it needs. */
function viewOf(name: string, size: number): ObjectView {
  const item = { metadata: { name }, data: "x".repeat(size) };
  const bytes = Buffer.from(JSON.stringify(item));
  return {
    object: { kind: "Thing", apiVersion: "v1", ...item },
    json: () => bytes,
    itemJson: () => bytes,
    itemSize: () => bytes.length,
    writeItem: (target, at) => {
      if (bytes.length + 10 > target.length - at) return -1;
      target.set(bytes, at);
      return at + bytes.length;
    },
    encodings: new Map(),
  };
}

const listOf = (sizes: readonly number[]) => ({
  head: HEAD,
  arrayName: "items",
  views: sizes.map((size, index) => viewOf(`n${index}`, size)),
});

const textOf = (sizes: readonly number[]): string => {
  const items = sizes.map((size, index) => ({ metadata: { name: `n${index}` }, data: "x".repeat(size) }));
  return `${JSON.stringify({ ...HEAD, items })}\n`;
};

function drain({ filler }: FilledBody, bufferBytes: number): string {
  const pieces: Buffer[] = [];
  const buffer = Buffer.alloc(bufferBytes);
  while (!filler.isDone) {
    const size = filler.fill(buffer);
    assert.ok(size > 0 && size <= bufferBytes);
    pieces.push(Buffer.from(buffer.subarray(0, size)));
  }
  return Buffer.concat(pieces).toString();
}

test("a list has the same text in one buffer, in buffers of any size, and as a stream", async () => {
  const sizes = fc.array(fc.nat({ max: 300 }), { maxLength: 20 });
  await fc.assert(
    fc.asyncProperty(sizes, fc.integer({ min: 1, max: 400 }), async (list, bufferBytes) => {
      const expected = textOf(list);
      assert.equal(Buffer.from(copyList(listOf(list), 1e6) as Uint8Array).toString(), expected);
      const filled = copyList(listOf(list), 0) as FilledBody;
      assert.equal(drain(filled, bufferBytes), expected);
      const chunks: Uint8Array[] = [];
      for await (const chunk of copyList(listOf(list), 0) as FilledBody) chunks.push(chunk);
      assert.equal(Buffer.concat(chunks).toString(), expected);
    }),
  );
});

test("a list becomes one buffer only up to the size limit", () => {
  const size = textOf([5, 6]).length;
  assert.ok(copyList(listOf([5, 6]), size) instanceof Uint8Array);
  assert.ok(copyList(listOf([5, 6]), size - 1) instanceof FilledBody);
});
