/** Size at which a chunk of a long list is handed on, and after which other requests get a turn. */
export const CHUNK_BYTES = 64 * 1024;

/** Stands among pieces and chunks where other requests should get a turn although there is little to hand on. */
export const GIVE_WAY = new Uint8Array();

/** Joins small pieces into chunks of at least that size; the last one, and those before `GIVE_WAY`, may be smaller. */
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
