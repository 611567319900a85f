import assert from "node:assert/strict";
import { test } from "node:test";
import type { Filler } from "../../data/encoding/reply/filled-body.ts";
import { ChunkedFiller } from "./chunked-filler.ts";

/** Provides a text in pieces of at most five bytes. */
function fillerOf(text: string): Filler {
  let at = 0;
  return {
    fill: (target) => {
      const size = target.write(text.slice(at, at + 5), "latin1");
      at += size;
      return size;
    },
    get isDone() {
      return at === text.length;
    },
  };
}

test("frames the content as chunks and ends the body with the last chunk", () => {
  const filler = new ChunkedFiller(fillerOf("0123456789ab"));
  const buffer = Buffer.alloc(40);
  const pieces: string[] = [];
  while (!filler.isDone) pieces.push(buffer.toString("latin1", 0, filler.fill(buffer)));
  assert.deepEqual(pieces, ["00000005\r\n01234\r\n", "00000005\r\n56789\r\n", "00000002\r\nab\r\n0\r\n\r\n"]);
});

test("does not overrun a small buffer", () => {
  const filler = new ChunkedFiller(fillerOf("abc"));
  const buffer = Buffer.alloc(18);
  const pieces: string[] = [];
  while (!filler.isDone) pieces.push(buffer.toString("latin1", 0, filler.fill(buffer)));
  assert.equal(pieces.join(""), "00000001\r\na\r\n00000001\r\nb\r\n00000001\r\nc\r\n0\r\n\r\n");
});
