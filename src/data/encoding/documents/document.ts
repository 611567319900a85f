/** The text of one document or list item, and its first line. */
export interface RawDocument {
  readonly text: string;
  /** Counted from 1. */
  readonly line: number;
  /** The type, if the document has none itself, like the items of a list from a server. */
  readonly type?: { readonly apiVersion: string; readonly kind: string };
}

/** Splits a text that arrives in pieces into documents, so that only one of them has to be in memory. */
export interface Splitter {
  /** Returns the documents that are complete with this piece. Throws DocumentError. */
  push(piece: string): RawDocument[];
  /** Returns the remaining documents after the last piece. Throws DocumentError. */
  end(): RawDocument[];
}

/** An error in a text, with its line number. */
export class DocumentError extends Error {
  readonly line: number;

  constructor(line: number, message: string) {
    super(`line ${line}: ${message}`);
    this.name = "DocumentError";
    this.line = line;
  }
}

/**
 * Maximum number of characters of one document or list item. etcd values are limited to 1.5 MB, but are several times
 * as long in YAML with managed fields.
 */
export const MAX_DOCUMENT = 16 * 1024 * 1024;

/** Throws if a document that begins in `line` is too long. */
export function requireShort(size: number, line: number): void {
  if (size > MAX_DOCUMENT) throw new DocumentError(line, `the object has more than ${MAX_DOCUMENT} characters`);
}
