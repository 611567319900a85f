/** One value in the distinguished encoding rules of ASN.1. */
export type Der = Buffer;

/** Any element: tag, length, content. */
export function element(tag: number, ...content: readonly Uint8Array[]): Der {
  const body = Buffer.concat(content);
  return Buffer.concat([Buffer.from([tag]), lengthOf(body.length), body]);
}

function lengthOf(length: number): Buffer {
  if (length < 0x80) return Buffer.from([length]);
  const digits = length.toString(16);
  const bytes = Buffer.from(digits.length % 2 === 0 ? digits : `0${digits}`, "hex");
  return Buffer.concat([Buffer.from([0x80 | bytes.length]), bytes]);
}

/** Elements in the given order. */
export function sequence(...elements: readonly Der[]): Der {
  return element(0x30, ...elements);
}

/** A set of one element; more would have to be sorted. */
export function setOf(only: Der): Der {
  return element(0x31, only);
}

/** A non-negative integer, from its big-endian bytes. */
export function integer(bytes: Uint8Array): Der {
  let start = 0;
  while (start < bytes.length - 1 && bytes[start] === 0) start++;
  const digits = bytes.subarray(start);
  const needsSign = ((digits[0] ?? 0) & 0x80) !== 0;
  return element(0x02, needsSign ? Buffer.from([0]) : Buffer.alloc(0), digits);
}

/** True; false is left out everywhere in certificates. */
export function isTrue(): Der {
  return element(0x01, Buffer.from([0xff]));
}

/** An object identifier such as "2.5.4.3". */
export function objectIdentifier(dotted: string): Der {
  const [first = 0, second = 0, ...rest] = dotted.split(".").map(Number);
  return element(0x06, Buffer.from([first * 40 + second, ...rest.flatMap(base128)]));
}

function base128(value: number): number[] {
  const bytes = [value & 0x7f];
  for (let rest = value >>> 7; rest > 0; rest >>>= 7) bytes.unshift((rest & 0x7f) | 0x80);
  return bytes;
}

/** Bytes without any meaning to ASN.1. */
export function octetString(content: Uint8Array): Der {
  return element(0x04, content);
}

/** Bits, of which the last `unused` do not count. */
export function bitString(content: Uint8Array, unused = 0): Der {
  return element(0x03, Buffer.from([unused]), content);
}

/** Any text. */
export function utf8String(text: string): Der {
  return element(0x0c, Buffer.from(text, "utf8"));
}

/** A tagged element around others: `[number]` in the notation of the standards. */
export function tagged(number: number, ...content: readonly Uint8Array[]): Der {
  return element(0xa0 | number, ...content);
}

/** A tagged element instead of a string type. */
export function taggedBytes(number: number, content: Uint8Array): Der {
  return element(0x80 | number, content);
}

/** A moment, to the second; in the short form until 2049 as certificates demand. */
export function time(moment: Date): Der {
  const digits = moment
    .toISOString()
    .replace(/\.\d+Z$/, "Z")
    .replace(/[-:T]/g, "");
  const isShort = moment.getUTCFullYear() < 2050;
  return element(isShort ? 0x17 : 0x18, Buffer.from(isShort ? digits.slice(2) : digits, "latin1"));
}
