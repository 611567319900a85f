import type { Writable } from "node:stream";
import { END, type Pollable, pollableOf } from "../../base/util/pollable.ts";
import { FILL_BYTES, FilledBody, type Filler } from "../../data/encoding/reply/filled-body.ts";

/** Progress of a reply. */
export interface Delivery {
  /** Bytes of the body written to the connection. */
  bytes: number;
  /** Why the body ended early. Undefined if it did not. */
  error: unknown;
}

/**
 * Writes a stream with backpressure. Resolves when the source ends or the receiver is closed, and releases the source.
 * Rejects with the source's error.
 */
export async function pump(source: AsyncIterable<Uint8Array>, receiver: Writable, delivery: Delivery): Promise<void> {
  if (source instanceof FilledBody) return pumpFilled(new CountedFiller(source.filler, delivery), receiver);
  return pumpPolled(pollableOf(source), receiver, delivery);
}

/** Avoids allocations per piece and per wait. */
function pumpPolled(source: Pollable<Uint8Array>, receiver: Writable, delivery: Delivery): Promise<void> {
  return new Promise((resolve, reject) => {
    let isOver = false;
    let isFull = false;
    const end = (): void => {
      if (isOver) return;
      isOver = true;
      receiver.off("drain", goOn).off("close", end);
      source.stop();
      resolve();
    };
    const run = (): void => {
      try {
        while (!isOver && !isFull) {
          const piece = receiver.destroyed ? END : source.poll();
          if (piece === undefined) return;
          if (piece === END) end();
          else {
            delivery.bytes += piece.length;
            isFull = !receiver.write(piece);
          }
        }
      } catch (error) {
        reject(error);
        end();
      }
    };
    const goOn = (): void => {
      isFull = false;
      run();
    };
    receiver.on("drain", goOn).on("close", end);
    source.onReady(run);
    run();
  });
}

/** Counts the bytes that another filler writes. */
export class CountedFiller implements Filler {
  readonly #content: Filler;
  readonly #delivery: Delivery;

  constructor(content: Filler, delivery: Delivery) {
    this.#content = content;
    this.#delivery = delivery;
  }

  get isDone(): boolean {
    return this.#content.isDone;
  }

  fill(target: Buffer): number {
    const size = this.#content.fill(target);
    this.#delivery.bytes += size;
    return size;
  }
}

/** Unused buffers. */
const spare: Buffer[] = [];
const MAX_SPARE = 16;

/**
 * Writes a body through one buffer that is refilled after each write, and ends the receiver. The first piece has at
 * most `firstBytes`.
 */
export async function pumpFilled(filler: Filler, receiver: Writable, firstBytes: number = FILL_BYTES): Promise<void> {
  const buffer = spare.pop() ?? Buffer.allocUnsafeSlow(FILL_BYTES);
  let settle: (isOut: boolean) => void = () => {};
  const onClose = (): void => settle(false);
  receiver.on("close", onClose);
  let isOut = true;
  for (let room = firstBytes; isOut && !filler.isDone && !receiver.destroyed; room = FILL_BYTES) {
    const piece = buffer.subarray(0, filler.fill(buffer.subarray(0, room)));
    isOut = await new Promise<boolean>((resolve) => {
      settle = resolve;
      if (filler.isDone) receiver.end(piece, (error?: Error | null) => resolve(!error));
      else receiver.write(piece, (error) => resolve(!error));
    });
  }
  receiver.off("close", onClose);
  // After a failed write the buffer may still be in use, so it is not reused.
  if (isOut && spare.length < MAX_SPARE) spare.push(buffer);
}

/** Closes a stream that will not be read. */
export function discard(source: AsyncIterable<Uint8Array>): void {
  const iterator = source[Symbol.asyncIterator]();
  iterator.return?.().catch(() => {});
}
