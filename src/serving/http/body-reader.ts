import type { Readable } from "node:stream";
import { ApiError, badRequest, requestEntityTooLarge } from "../../base/api/api-error.ts";

/**
 * Reads a stream to its end. Rejects with 413 once the size is known to exceed `maxBytes`, and discards the rest.
 * Buffers at most `maxBytes` and one chunk.
 */
export function readAll(source: Readable, declaredBytes: number | undefined, maxBytes: number): Promise<Uint8Array> {
  const tooLarge = (): Error => requestEntityTooLarge(`limit is ${maxBytes}`);
  if (declaredBytes !== undefined && declaredBytes > maxBytes) {
    source.resume();
    return Promise.reject(tooLarge());
  }
  return new Promise((resolve, reject) => {
    const chunks: Uint8Array[] = [];
    let size = 0;
    const finish = (): void => {
      source.off("data", take).off("end", end).off("error", fail).off("close", fail);
    };
    const take = (chunk: Uint8Array): void => {
      size += chunk.length;
      if (size <= maxBytes) {
        chunks.push(chunk);
        return;
      }
      finish();
      source.resume();
      reject(tooLarge());
    };
    const end = (): void => {
      finish();
      resolve(chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks, size));
    };
    const fail = (): void => {
      finish();
      reject(badRequest("unexpected EOF"));
    };
    source.on("data", take).on("end", end).on("error", fail).on("close", fail);
    if (source.destroyed) fail();
  });
}

/**
 * Yields chunks on demand, so the source is subject to backpressure. Throws 413 like `readAll`. If the reader stops
 * early, the stream stays open for the reply and the rest is discarded.
 */
export async function* readChunks(
  source: Readable,
  declaredBytes: number | undefined,
  maxBytes: number,
): AsyncGenerator<Uint8Array> {
  let size = declaredBytes ?? 0;
  try {
    if (size > maxBytes) throw requestEntityTooLarge(`limit is ${maxBytes}`);
    size = 0;
    for await (const chunk of source.iterator({ destroyOnReturn: false })) {
      size += chunk.length;
      if (size > maxBytes) throw requestEntityTooLarge(`limit is ${maxBytes}`);
      yield chunk;
    }
  } catch (error) {
    throw error instanceof ApiError ? error : badRequest("unexpected EOF");
  } finally {
    source.resume();
  }
}
