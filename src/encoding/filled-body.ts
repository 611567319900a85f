import { setImmediate as nextTurn } from "node:timers/promises";

/** Writes the next bytes of a body to the front of a buffer and tells how many; 0 when there are no more. */
export type Fill = (target: Uint8Array) => number;

/** Buffers that are filled must have at least this size. */
export const FILL_BYTES = 256 * 1024;

/**
 * A large body that is written piece by piece into buffers of its reader, who can use them again and again. It can be
 * read once: either by `fill`, or as a stream of chunks that are new each time and give other requests a turn.
 */
export class FilledBody implements AsyncIterable<Uint8Array> {
  readonly fill: Fill;
  /** How many bytes there will be. Undefined: it would take too long to tell. */
  readonly measure: () => number | undefined;

  constructor(fill: Fill, measure: () => number | undefined) {
    this.fill = fill;
    this.measure = measure;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    for (;;) {
      const chunk = Buffer.allocUnsafeSlow(FILL_BYTES);
      const size = this.fill(chunk);
      if (size === 0) return;
      yield chunk.subarray(0, size);
      await nextTurn();
    }
  }
}
