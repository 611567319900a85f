/** Size at which a chunk of a long list is handed on, and after which other requests get a turn. */
export const CHUNK_BYTES = 64 * 1024;

/** Joins small pieces into chunks of at least that size; the last one may be smaller. */
export function* joinPieces(pieces: Iterable<Uint8Array>): Generator<Uint8Array> {
  let held: Uint8Array[] = [];
  let size = 0;
  for (const piece of pieces) {
    held.push(piece);
    size += piece.length;
    if (size < CHUNK_BYTES) continue;
    yield Buffer.concat(held, size);
    held = [];
    size = 0;
  }
  if (size > 0) yield Buffer.concat(held, size);
}
