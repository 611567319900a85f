/** The text of one document, or of one item of a list, and where it begins. */
export interface RawDocument {
  readonly text: string;
  /** Counted from 1. */
  readonly line: number;
  /** What it is where it does not say so itself, as the items of a server's list do not. */
  readonly type?: { readonly apiVersion: string; readonly kind: string };
}

/** Cuts a text that comes in pieces into documents, so that only one of them has to be in memory. */
export interface Splitter {
  /** The documents that are complete with this piece. Throws DocumentError. */
  push(piece: string): RawDocument[];
  /** What is left when there are no more pieces. Throws DocumentError. */
  end(): RawDocument[];
}

/** What is wrong with a text, and in which line. */
export class DocumentError extends Error {
  readonly line: number;

  constructor(line: number, message: string) {
    super(`line ${line}: ${message}`);
    this.name = "DocumentError";
    this.line = line;
  }
}

/**
 * How many characters one document, or one item of a list, may have: etcd takes values of 1.5 MB, which are several times
 * as long in YAML with all their managed fields.
 */
export const MAX_DOCUMENT = 16 * 1024 * 1024;

/** Throws when a document that begins in `line` has become too long. */
export function requireShort(size: number, line: number): void {
  if (size > MAX_DOCUMENT) throw new DocumentError(line, `one object has more than ${MAX_DOCUMENT} characters`);
}
