import type { Filler } from "../encoding/reply/filled-body.ts";

const SIZE_DIGITS = 8;
const HEAD_BYTES = SIZE_DIGITS + 2;
const CRLF = Buffer.from("\r\n");
const LAST_CHUNK = Buffer.from("0\r\n\r\n");
/** Room for what stands around the bytes of a chunk, when it is the last one. */
const FRAME_BYTES = HEAD_BYTES + CRLF.length + LAST_CHUNK.length;

/**
 * Frames what another filler writes as chunks of HTTP/1.1, in place. Node's own framing takes three pieces, which are
 * copied together once more. Buffers must have room for a frame and at least one byte.
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
