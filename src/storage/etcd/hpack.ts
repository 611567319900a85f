/** Thrown for a header block that is malformed or needs a dynamic table. */
export class HpackError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "HpackError";
  }
}

/** A header name and its value. */
export type HeaderField = readonly [name: string, value: string];

// The static table of RFC 7541, appendix A: `name` or `name=value`, numbered from 1.
const STATIC_TABLE: readonly HeaderField[] =
  `:authority|:method=GET|:method=POST|:path=/|:path=/index.html|:scheme=http|
:scheme=https|:status=200|:status=204|:status=206|:status=304|:status=400|:status=404|:status=500|accept-charset|
accept-encoding=gzip, deflate|accept-language|accept-ranges|accept|access-control-allow-origin|age|allow|authorization|
cache-control|content-disposition|content-encoding|content-language|content-length|content-location|content-range|
content-type|cookie|date|etag|expect|expires|from|host|if-match|if-modified-since|if-none-match|if-range|
if-unmodified-since|last-modified|link|location|max-forwards|proxy-authenticate|proxy-authorization|range|referer|refresh|
retry-after|server|set-cookie|strict-transport-security|transfer-encoding|user-agent|vary|via|www-authenticate`
    .split(/\|\n?/)
    .map((row) => [row.split("=")[0] ?? "", row.split("=")[1] ?? ""]);

// Lengths in bits of the Huffman codes of RFC 7541, appendix B, for bytes 0 to 255 and EOS. They determine the codes:
// shorter codes come first, codes of equal length in order of their bytes.
const CODE_LENGTHS = `13 23 28 28 28 28 28 28 28 24 30 28 28 30 28 28 28 28 28 28 28 28 30 28 28 28 28 28 28 28 28 28
6 10 10 12 13 6 8 11 10 10 8 11 8 6 6 6 5 5 5 6 6 6 6 6 6 6 7 8 15 6 12 10
13 6 7 7 7 7 7 7 7 7 7 7 7 7 7 7 7 7 7 7 7 7 7 7 8 7 8 13 19 13 14 6
15 5 6 5 6 5 6 6 6 5 7 7 6 6 6 5 6 7 6 5 5 6 7 7 7 7 7 15 11 14 13 28
20 22 20 20 22 22 22 23 22 23 23 23 23 23 24 23 24 24 22 23 24 23 23 23 23 21 22 23 22 23 23 24
22 21 20 22 22 23 23 21 23 22 22 24 21 22 23 23 21 21 22 21 23 22 23 23 20 22 22 22 23 22 22 23
26 26 20 19 22 23 22 25 26 26 26 27 27 26 24 25 19 21 26 27 27 26 27 24 21 21 26 26 28 27 27 27
20 24 20 21 22 21 21 23 22 22 25 25 24 24 26 23 26 27 26 26 27 27 27 27 27 28 27 27 27 27 27 26
30`
  .split(/\s+/)
  .map(Number);

/** For each length: the first code, and the bytes that have a code of this length. */
const CODES = (() => {
  const codes: { first: number; symbols: number[] }[] = [];
  for (let length = 0, next = 0; length <= 30; length++, next *= 2) {
    const symbols = CODE_LENGTHS.flatMap((bits, symbol) => (bits === length ? [symbol] : []));
    codes.push({ first: next, symbols });
    next += symbols.length;
  }
  return codes;
})();

const MOST_KNOWN_BLOCKS = 16;

/** Encodes headers without using or changing a dynamic table, so that the same bytes serve every request. */
export function encodeHeaders(headers: readonly HeaderField[]): Buffer {
  const parts: Buffer[] = [];
  for (const [name, value] of headers) {
    const whole = STATIC_TABLE.findIndex((field) => field[0] === name && field[1] === value) + 1;
    if (whole > 0) {
      parts.push(encodeInteger(whole, 7, 0x80));
      continue;
    }
    const nameOnly = STATIC_TABLE.findIndex((field) => field[0] === name) + 1;
    parts.push(encodeInteger(nameOnly, 4, 0));
    if (nameOnly === 0) parts.push(encodeString(name));
    parts.push(encodeString(value));
  }
  return Buffer.concat(parts);
}

function encodeString(text: string): Buffer {
  const bytes = Buffer.from(text);
  return Buffer.concat([encodeInteger(bytes.length, 7, 0), bytes]);
}

function encodeInteger(value: number, prefixBits: number, flags: number): Buffer {
  const most = 2 ** prefixBits - 1;
  if (value < most) return Buffer.of(flags | value);
  const bytes = [flags | most];
  let rest = value - most;
  for (; rest >= 128; rest = Math.floor(rest / 128)) bytes.push((rest % 128) | 128);
  bytes.push(rest);
  return Buffer.from(bytes);
}

/** Decodes a header block of a peer that must use a dynamic table of size 0. */
export function decodeHeaders(block: Uint8Array): Map<string, string> {
  const headers = new Map<string, string>();
  const reader = new BlockReader(block);
  while (!reader.isAtEnd) {
    const first = reader.peek();
    if (first >= 0x80) {
      headers.set(...staticField(reader.integer(7)));
    } else if ((first & 0xe0) === 0x20) {
      // A change of the table size, which can only be to zero.
      reader.integer(5);
    } else {
      // An entry added to a table of size 0 is dropped, so all kinds of literals are equivalent.
      const index = reader.integer(first >= 0x40 ? 6 : 4);
      const name = index === 0 ? reader.string() : staticField(index)[0];
      headers.set(name, reader.string());
    }
  }
  return headers;
}

/** Caches the few blocks that a server repeats: without a dynamic table, equal bytes mean equal headers. */
export class HeaderDecoder {
  readonly #known = new Map<string, ReadonlyMap<string, string>>();

  /** Like `decodeHeaders`; the result is shared and must not be changed. */
  decode(block: Buffer): ReadonlyMap<string, string> {
    const bytes = block.toString("latin1");
    let headers = this.#known.get(bytes);
    if (headers === undefined) {
      headers = decodeHeaders(block);
      if (this.#known.size < MOST_KNOWN_BLOCKS) this.#known.set(bytes, headers);
    }
    return headers;
  }
}

function staticField(index: number): HeaderField {
  const field = STATIC_TABLE[index - 1];
  if (field === undefined) throw new HpackError(`header ${index} is not in the static table`);
  return field;
}

class BlockReader {
  readonly #block: Uint8Array;
  #position = 0;

  constructor(block: Uint8Array) {
    this.#block = block;
  }

  get isAtEnd(): boolean {
    return this.#position >= this.#block.length;
  }

  peek(): number {
    const byte = this.#block[this.#position];
    if (byte === undefined) throw new HpackError("truncated header block");
    return byte;
  }

  integer(prefixBits: number): number {
    const most = 2 ** prefixBits - 1;
    let value = this.#next() & most;
    if (value < most) return value;
    for (let factor = 1; factor <= 2 ** 28; factor *= 128) {
      const byte = this.#next();
      value += (byte & 127) * factor;
      if (byte < 128) return value;
    }
    throw new HpackError("integer out of range");
  }

  string(): string {
    const isHuffman = this.peek() >= 0x80;
    const length = this.integer(7);
    const bytes = this.#block.subarray(this.#position, this.#position + length);
    if (bytes.length < length) throw new HpackError("truncated header block");
    this.#position += length;
    return isHuffman ? decodeHuffman(bytes) : Buffer.from(bytes).toString("latin1");
  }

  #next(): number {
    const byte = this.peek();
    this.#position++;
    return byte;
  }
}

/** Decodes a Huffman-coded string; the remaining bits of the last byte are padding. */
export function decodeHuffman(bytes: Uint8Array): string {
  const decoded: number[] = [];
  let code = 0;
  let length = 0;
  for (const byte of bytes) {
    for (let bit = 7; bit >= 0; bit--) {
      code = code * 2 + ((byte >> bit) & 1);
      length++;
      const row = CODES[length];
      if (row === undefined) throw new HpackError("unknown Huffman code");
      const symbol = row.symbols[code - row.first];
      if (symbol === undefined || code < row.first) continue;
      if (symbol === 256) throw new HpackError("EOS inside a string");
      decoded.push(symbol);
      code = 0;
      length = 0;
    }
  }
  if (length > 7 || code !== 2 ** length - 1) throw new HpackError("wrong padding");
  return Buffer.from(decoded).toString("latin1");
}
