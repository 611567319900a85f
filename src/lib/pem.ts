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

/** The blocks of a text, in order. What is between them, and what only looks like a block, is passed over. */
export function* pemBlocks(text: string): Generator<PemBlock> {
  let rest = text;
  for (;;) {
    const found = nextBlock(rest);
    if (!found) return;
    if (found.block) yield found.block;
    rest = found.rest;
  }
}

function nextBlock(text: string): { block: PemBlock | undefined; rest: string } | undefined {
  const start = text.startsWith(BEGIN) ? 0 : text.indexOf(`\n${BEGIN}`) + 1;
  if (start === 0 && !text.startsWith(BEGIN)) return undefined;
  const [first, afterFirst] = takeLine(text.slice(start + BEGIN.length));
  if (!first.endsWith(DASHES)) return { block: undefined, rest: afterFirst };
  const type = first.slice(0, -DASHES.length);
  let body = afterFirst;
  let hasHeaders = false;
  for (;;) {
    const [line, next] = takeLine(body);
    if (!line.includes(":")) break;
    hasHeaders = true;
    body = next;
  }
  // Without content the end follows at once.
  const end = !hasHeaders && body.startsWith(END.slice(1)) ? -1 : body.indexOf(END);
  if (end === -1 && !body.startsWith(END.slice(1))) return { block: undefined, rest: body };
  const [last, rest] = takeLine(body.slice(end + END.length));
  const content = body.slice(0, Math.max(end, 0)).replace(/[ \t\r\n]/g, "");
  if (last !== `${type}${DASHES}` || !BASE64.test(content)) return { block: undefined, rest: body };
  return { block: { type, hasHeaders, bytes: Buffer.from(content, "base64") }, rest };
}

/** The first line without what ends it and without spaces at its end, and the rest. */
function takeLine(text: string): [line: string, rest: string] {
  const end = text.indexOf("\n");
  if (end < 0) return [text.replace(/[ \t\r]+$/, ""), ""];
  return [text.slice(0, end).replace(/[ \t\r]+$/, ""), text.slice(end + 1)];
}
