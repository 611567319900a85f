/** One row of history as sent between the threads. `value` is null for a delete. */
export interface ChangeRow {
  readonly revision: number;
  readonly key: string;
  readonly createRevision: number;
  readonly value: Uint8Array | null;
  readonly expiresAtMs: number | null;
}

/** Rows by column, with all values concatenated in one buffer: cheap to copy, and the buffer is transferred. */
export interface PackedRows {
  readonly keys: readonly string[];
  /** Per row: revision, createRevision, expiresAtMs or -1, length of the value or -1. */
  readonly numbers: Float64Array;
  readonly values: Uint8Array<ArrayBuffer>;
}

/** Requests to the database thread, and their replies. */
export interface Requests {
  /** Opens or creates the file. Replies with the revision it was compacted to; 0 if never. */
  open: { readonly request: { readonly path: string }; readonly reply: { readonly compacted: number } };
  /** Rows after a revision, in order, one batch per request; empty if there are no more. */
  read: { readonly request: { readonly after: number }; readonly reply: PackedRows };
  /** Writes all rows durably, or none. */
  commit: { readonly request: PackedRows; readonly reply: undefined };
  /** Records durably that history before this revision was compacted. */
  compact: { readonly request: { readonly revision: number }; readonly reply: undefined };
  /** Deletes rows that neither the current state nor the kept history needs. */
  trim: { readonly request: { readonly revisions: readonly number[] }; readonly reply: undefined };
  close: { readonly request: undefined; readonly reply: undefined };
}

/** A request message to the database thread. */
export type RequestMessage = {
  [T in keyof Requests]: { readonly id: number; readonly type: T; readonly body: Requests[T]["request"] };
}[keyof Requests];

/** Why SQLite failed: another process has the file open, the disk is full, or any other reason. */
export type RefusalReason = "in-use" | "full" | "other";

/** The reply to the request with the same id. */
export type ReplyMessage =
  | { readonly id: number; readonly body: Requests[keyof Requests]["reply"] }
  | { readonly id: number; readonly error: { readonly message: string; readonly reason: RefusalReason } };

const numbersPerRow = 4;

/** Copies the values of all rows into one new buffer. */
export function packRows(rows: readonly ChangeRow[]): PackedRows {
  let size = 0;
  for (const row of rows) size += row.value?.length ?? 0;
  const values = new Uint8Array(size);
  const numbers = new Float64Array(rows.length * numbersPerRow);
  let offset = 0;
  for (const [i, { revision, createRevision, expiresAtMs, value }] of rows.entries()) {
    numbers.set([revision, createRevision, expiresAtMs ?? -1, value?.length ?? -1], i * numbersPerRow);
    if (value === null) continue;
    values.set(value, offset);
    offset += value.length;
  }
  return { keys: rows.map((row) => row.key), numbers, values };
}

/** Reverses `packRows`. The values are views of the one buffer. */
export function unpackRows({ keys, numbers, values }: PackedRows): ChangeRow[] {
  let offset = 0;
  return keys.map((key, i) => {
    const at = i * numbersPerRow;
    const [revision = 0, createRevision = 0, expiresAtMs = -1, length = -1] = numbers.subarray(at, at + numbersPerRow);
    const value = length === -1 ? null : values.subarray(offset, offset + length);
    offset += Math.max(0, length);
    return { revision, key, createRevision, value, expiresAtMs: expiresAtMs === -1 ? null : expiresAtMs };
  });
}
