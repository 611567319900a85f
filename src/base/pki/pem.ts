import { trimRight } from "../util/trim-right.ts";

/** One PEM block. */
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
 * The PEM blocks of a text in order, like Go's `pem.Decode` finds them: it searches for an END line first, then for the
 * last BEGIN before it. Text between blocks and text that only resembles a block is skipped.
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
  /** Start of the text that has not been read yet. */
  readonly from: number;
  readonly begin: number;
  readonly end: number;
}

/** The block between a BEGIN and an END, if valid. `next` is where to continue, unless that is right after the END. */
function readBlock(text: string, { from, begin, end }: Place): { block?: PemBlock; next?: number } {
  if (begin > from && text[begin - 1] !== "\n") return {};
  const first = lineAt(text, begin + BEGIN.length);
  if (!first.line.endsWith(DASHES)) return {};
  const type = first.line.slice(0, -DASHES.length);
  const start = afterHeaders(text, first.next);
  const hasHeaders = start > first.next;
  const trailer = end + END.length;
  // If headers continue after the END or up to the end of the text, there are no more blocks.
  if (start > trailer || start === text.length) return { next: text.length };
  if (hasHeaders && end < start) return {};
  if (!text.startsWith(type, trailer) || !text.startsWith(DASHES, trailer + type.length)) return {};
  const last = lineAt(text, trailer + type.length + DASHES.length);
  const content = text.slice(start, Math.max(start, end)).replace(/[ \t\r\n]/g, "");
  if (last.line !== "" || !BASE64.test(content)) return {};
  return { block: { type, hasHeaders, bytes: Buffer.from(content, "base64") }, next: last.next };
}

/** The start of the first line without a colon. */
function afterHeaders(text: string, start: number): number {
  let at = start;
  while (at < text.length) {
    const { line, next } = lineAt(text, at);
    if (!line.includes(":")) break;
    at = next;
  }
  return at;
}

/** The line at `start` without its line break and trailing blanks, and the start of the next line. */
function lineAt(text: string, start: number): { line: string; next: number } {
  const found = text.indexOf("\n", start);
  if (found < 0) return { line: trimRight(text.slice(start), " \t"), next: text.length };
  const end = text[found - 1] === "\r" && found > start ? found - 1 : found;
  return { line: trimRight(text.slice(start, end), " \t"), next: found + 1 };
}
