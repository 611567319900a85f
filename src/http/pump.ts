import type { Writable } from "node:stream";
import { FILL_BYTES, FilledBody } from "../encoding/filled-body.ts";

/**
 * Writes a stream as fast as the receiver takes it. Ends when the source does or the receiver is gone, and tells the
 * source either way. Rejects with what the source threw.
 */
export async function pump(source: AsyncIterable<Uint8Array>, receiver: Writable): Promise<void> {
  if (source instanceof FilledBody) return pumpFilled(source, receiver);
  for await (const chunk of source) {
    if (receiver.destroyed) return;
    if (!receiver.write(chunk)) await writable(receiver);
    if (receiver.destroyed) return;
  }
}

/** Buffers that nobody uses at the moment. */
const spare: Buffer[] = [];
const MAX_SPARE = 16;

async function pumpFilled({ fill }: FilledBody, receiver: Writable): Promise<void> {
  const buffer = spare.pop() ?? Buffer.allocUnsafeSlow(FILL_BYTES);
  let settle: (isOut: boolean) => void = () => {};
  const onClose = (): void => settle(false);
  receiver.on("close", onClose);
  let isOut = true;
  while (isOut && !receiver.destroyed) {
    const size = fill(buffer);
    if (size === 0) break;
    isOut = await new Promise<boolean>((resolve) => {
      settle = resolve;
      receiver.write(buffer.subarray(0, size), (error) => resolve(!error));
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
