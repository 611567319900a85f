import type { Filler } from "../../data/encoding/reply/filled-body.ts";

const SIZE_DIGITS = 8;
const HEAD_BYTES = SIZE_DIGITS + 2;
const CRLF = Buffer.from("\r\n");
const LAST_CHUNK = Buffer.from("0\r\n\r\n");
/** Bytes around the content of a chunk, including the last-chunk marker. */
const FRAME_BYTES = HEAD_BYTES + CRLF.length + LAST_CHUNK.length;

/**
 * Frames the output of another filler as HTTP/1.1 chunks, in place. Node's own framing creates three buffers and copies
 * them together. Buffers must have room for a frame and at least one byte.
 */
export class ChunkedFiller implements Filler {
  readonly #content: Filler;

  constructor(content: Filler) {
    this.#content = content;
  }

  get isDone(): boolean {
    return this.#content.isDone;
  }

  fill(target: Buffer): number {
    const size = this.#content.fill(target.subarray(HEAD_BYTES, target.length - (FRAME_BYTES - HEAD_BYTES)));
    target.write(`${size.toString(16).padStart(SIZE_DIGITS, "0")}\r\n`, 0, "latin1");
    const end = HEAD_BYTES + size;
    let at = end + CRLF.copy(target, end);
    if (this.#content.isDone) at += LAST_CHUNK.copy(target, at);
    return at;
  }
}
