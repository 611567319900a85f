/** Minimum chunk size of a long list. Other requests get a turn after each chunk. */
export const CHUNK_BYTES = 64 * 1024;

/** Marker among pieces and chunks: other requests should get a turn now, although there is little to send. */
export const GIVE_WAY = new Uint8Array();

/**
 * Joins small pieces into chunks of at least `CHUNK_BYTES`. The last chunk and those before `GIVE_WAY` may be smaller.
 */
export function* joinPieces(pieces: Iterable<Uint8Array>): Generator<Uint8Array> {
  let held: Uint8Array[] = [];
  let size = 0;
  for (const piece of pieces) {
    if (piece !== GIVE_WAY) {
      held.push(piece);
      size += piece.length;
      if (size < CHUNK_BYTES) continue;
    }
    if (size > 0) yield Buffer.concat(held, size);
    if (piece === GIVE_WAY) yield piece;
    held = [];
    size = 0;
  }
  if (size > 0) yield Buffer.concat(held, size);
}
