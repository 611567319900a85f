import type { Writable } from "node:stream";

/** Maximum number of bytes that a handler can write ahead of its client, per stream. */
export const MAX_UNREAD_BYTES = 4 * 1024 * 1024;

/** A handler kept writing although `write` returned false. */
export class TooMuchUnread extends Error {
  constructor() {
    super(`more than ${MAX_UNREAD_BYTES} bytes wait to be read by the client: wait for "drain" if write returns false`);
    this.name = "TooMuchUnread";
  }
}

/**
 * Runs a handler and bounds what its streams buffer. The handler should wait for "drain" after `write` has returned
 * false. If it ignores that and writes while more than `MAX_UNREAD_BYTES` are buffered, the stream is destroyed, the
 * handler's signal aborts, and the promise rejects with TooMuchUnread.
 */
export async function runBounded<T>(
  streams: readonly (Writable | undefined)[],
  signal: AbortSignal,
  run: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const flood = new AbortController();
  const { promise: flooded, reject } = Promise.withResolvers<never>();
  flooded.catch(() => {});
  const stop = (error: TooMuchUnread): void => {
    reject(error);
    flood.abort(error);
  };
  for (const stream of streams) if (stream) boundWrites(stream, stop);
  return await Promise.race([run(AbortSignal.any([signal, flood.signal])), flooded]);
}

function boundWrites(stream: Writable, exceeded: (error: TooMuchUnread) => void): void {
  const write = stream.write as (...given: unknown[]) => boolean;
  const bounded = (...given: unknown[]): boolean => {
    if (stream.writableLength > MAX_UNREAD_BYTES && !stream.destroyed) {
      const error = new TooMuchUnread();
      stream.destroy(error);
      exceeded(error);
    }
    return write.apply(stream, given);
  };
  stream.write = bounded as Writable["write"];
}
