import { trimRight } from "../trim-right.ts";

/** One block of a text in PEM form. */
export interface PemBlock {
  readonly type: string;
  readonly hasHeaders: boolean;
  readonly bytes: Buffer;
}

const BEGIN = "-----BEGIN ";
const END = "\n-----END ";
const DASHES = "-----";
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/**
 * The blocks of a text, in order, as Go's `pem.Decode` finds them: it looks for an END line first, and then for the last
 * BEGIN before it. What is between blocks, and what only looks like one, is passed over.
 */
export function* pemBlocks(text: string): Generator<PemBlock> {
  for (let from = 0; ; ) {
    const end = text.indexOf(END, from);
    if (end < 0) return;
    const begin = text.slice(from, end).lastIndexOf(BEGIN) + from;
    const found = begin < from ? undefined : readBlock(text, { from, begin, end });
    if (found?.block) yield found.block;
    from = found?.next ?? end + END.length;
  }
}

interface Place {
  /** Where the part of the text begins that has not been read yet. */
  readonly from: number;
  readonly begin: number;
  readonly end: number;
}

/** The block between a BEGIN and an END, if it is one, and where to go on when that is not right behind the END. */
function readBlock(text: string, { from, begin, end }: Place): { block?: PemBlock; next?: number } {
  if (begin > from && text[begin - 1] !== "\n") return {};
  const first = lineAt(text, begin + BEGIN.length);
  if (!first.line.endsWith(DASHES)) return {};
  const type = first.line.slice(0, -DASHES.length);
  const start = afterHeaders(text, first.next);
  const hasHeaders = start > first.next;
  const trailer = end + END.length;
  // Headers that go on behind the END, or up to the end of the text, leave nothing that could be a block.
  if (start > trailer || start === text.length) return { next: text.length };
  if (hasHeaders && end < start) return {};
  if (!text.startsWith(type, trailer) || !text.startsWith(DASHES, trailer + type.length)) return {};
  const last = lineAt(text, trailer + type.length + DASHES.length);
  const content = text.slice(start, Math.max(start, end)).replace(/[ \t\r\n]/g, "");
  if (last.line !== "" || !BASE64.test(content)) return {};
  return { block: { type, hasHeaders, bytes: Buffer.from(content, "base64") }, next: last.next };
}

/** Where the first line begins that has no colon. */
function afterHeaders(text: string, start: number): number {
  let at = start;
  while (at < text.length) {
    const { line, next } = lineAt(text, at);
    if (!line.includes(":")) break;
    at = next;
  }
  return at;
}

/** The line that begins somewhere, without what ends it and without blanks at its end, and where the next one begins. */
function lineAt(text: string, start: number): { line: string; next: number } {
  const found = text.indexOf("\n", start);
  if (found < 0) return { line: trimRight(text.slice(start), " \t"), next: text.length };
  const end = text[found - 1] === "\r" && found > start ? found - 1 : found;
  return { line: trimRight(text.slice(start, end), " \t"), next: found + 1 };
}
