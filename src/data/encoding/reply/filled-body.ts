import { setImmediate as nextTurn } from "node:timers/promises";

/** Writes a body piece by piece into buffers of the caller. */
export interface Filler {
  /** Writes the next bytes to a non-empty buffer. Returns their number. */
  fill(target: Buffer): number;
  /** Whether everything has been written. */
  readonly isDone: boolean;
}

/** Recommended buffer size. */
export const FILL_BYTES = 256 * 1024;

/**
 * A large body that is written into reusable buffers of its reader. It can be read once: through its filler, or as a
 * stream of new chunks that gives other requests a turn.
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
