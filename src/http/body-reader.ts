import type { Readable } from "node:stream";
import { ApiError, badRequest, requestEntityTooLarge } from "../api/api-error.ts";

/**
 * Reads a stream to its end. Rejects with 413 as soon as it is known to exceed `maxBytes`; what still comes is thrown
 * away as it arrives. Never holds more than `maxBytes` and one chunk.
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
 * Yields a stream as it comes, and reads no further than it is asked to. Throws 413 as `readAll` does. A reader that stops
 * early leaves the stream open for the reply: what still comes is thrown away as it arrives.
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
