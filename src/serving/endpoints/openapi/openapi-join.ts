import { createHash } from "node:crypto";
import { isObject, type Json } from "../../../base/api/object.ts";
import type { Pause } from "../../../resources/pace.ts";

/** An encoded document and its hash. */
export interface Joined {
  readonly json: Uint8Array;
  /** SHA-512 of `json`. */
  readonly hash: string;
}

const PIECE = 64 * 1024;
/** Members of a document are printed one by one down to this depth: `components.schemas.<name>`. */
const DEPTH = 3;

/** Prints a document with pauses, because printing hundreds of large kinds at once would block the event loop. */
export async function printDocument(document: Json, pause: Pause): Promise<Joined> {
  const pieces: Uint8Array[] = [];
  let text = "";
  for (const part of partsOf(document, DEPTH)) {
    text += part;
    if (text.length < PIECE) continue;
    pieces.push(Buffer.from(text));
    text = "";
    await pause();
  }
  return joinPieces([...pieces, Buffer.from(text)], pause);
}

function* partsOf(value: Json, depth: number): Generator<string> {
  if (depth === 0 || !isObject(value)) {
    yield JSON.stringify(value);
    return;
  }
  let before = "{";
  for (const [name, member] of Object.entries(value)) {
    if (member === undefined) continue;
    yield `${before}${JSON.stringify(name)}:`;
    yield* partsOf(member, depth - 1);
    before = ",";
  }
  yield before === "{" ? "{}" : "}";
}

/** Joins and hashes pieces, pausing in between. */
export async function joinPieces(pieces: readonly Uint8Array[], pause: Pause): Promise<Joined> {
  const json = Buffer.allocUnsafeSlow(pieces.reduce((length, piece) => length + piece.length, 0));
  const hash = createHash("sha512");
  let at = 0;
  for (const piece of pieces) {
    await pause();
    json.set(piece, at);
    hash.update(piece);
    at += piece.length;
  }
  return { json, hash: hash.digest("hex").toUpperCase() };
}
