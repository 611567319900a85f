import type { Writable } from "node:stream";
import { FILL_BYTES, FilledBody, type Filler } from "../encoding/reply/filled-body.ts";
import { END, isPollable, type Pollable } from "../lib/pollable.ts";

/** What is known of a reply on its way out. */
export interface Delivery {
  /** Bytes of the body that were handed to the connection. */
  bytes: number;
  /** Why the body ended early. */
  error: unknown;
}

/**
 * Writes a stream as fast as the receiver takes it. Ends when the source does or the receiver is gone, and tells the
 * source either way. Rejects with what the source threw.
 */
export async function pump(source: AsyncIterable<Uint8Array>, receiver: Writable, delivery: Delivery): Promise<void> {
  if (source instanceof FilledBody) return pumpFilled(new CountedFiller(source.filler, delivery), receiver);
  if (isPollable(source)) return pumpPolled(source, receiver, delivery);
  for await (const chunk of source) {
    if (receiver.destroyed) return;
    delivery.bytes += chunk.length;
    if (!receiver.write(chunk)) await writable(receiver);
    if (receiver.destroyed) return;
  }
}

/** Nothing is made for a piece that is written, nor for the wait until the next one. */
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

/** Counts what another filler writes. */
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

/** Buffers that nobody uses at the moment. */
const spare: Buffer[] = [];
const MAX_SPARE = 16;

/**
 * Writes a body by way of one buffer, which is filled again when the receiver is done with it, and ends the receiver.
 * The first piece has at most `firstBytes`.
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
  // Something may still read from a buffer whose writing was broken off.
  if (isOut && spare.length < MAX_SPARE) spare.push(buffer);
}

function writable(receiver: Writable): Promise<void> {
  if (receiver.destroyed || !receiver.writableNeedDrain) return Promise.resolve();
  return new Promise((resolve) => {
    const done = (): void => {
      receiver.off("drain", done).off("close", done);
      resolve();
    };
    receiver.on("drain", done).on("close", done);
  });
}

/** Tells a stream that nobody will read it. */
export function discard(source: AsyncIterable<Uint8Array>): void {
  const iterator = source[Symbol.asyncIterator]();
  iterator.return?.().catch(() => {});
}
