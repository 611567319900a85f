import { setImmediate as nextTurn } from "node:timers/promises";

/** Something that writes itself piece by piece into buffers that others give it. */
export interface Filler {
  /** Writes the next bytes to the front of a buffer, which must not be empty, and tells how many. */
  fill(target: Buffer): number;
  /** Whether everything has been written. */
  readonly isDone: boolean;
}

/** Buffers to be filled best have this size. */
export const FILL_BYTES = 256 * 1024;

/**
 * A large body that is written into buffers of its reader, who can use them again and again. It can be read once:
 * through its filler, or as a stream of chunks that are new each time and give other requests a turn.
 */
export class FilledBody implements AsyncIterable<Uint8Array> {
  readonly filler: Filler;

  constructor(filler: Filler) {
    this.filler = filler;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    while (!this.filler.isDone) {
      const chunk = Buffer.allocUnsafeSlow(FILL_BYTES);
      yield chunk.subarray(0, this.filler.fill(chunk));
      await nextTurn();
    }
  }
}
