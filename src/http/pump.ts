import type { Writable } from "node:stream";

/**
 * Writes a stream as fast as the receiver takes it. Ends when the source does or the receiver is gone, and tells the
 * source either way. Rejects with what the source threw.
 */
export async function pump(source: AsyncIterable<Uint8Array>, receiver: Writable): Promise<void> {
  for await (const chunk of source) {
    if (receiver.destroyed) return;
    if (!receiver.write(chunk)) await writable(receiver);
    if (receiver.destroyed) return;
  }
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
