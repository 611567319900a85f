/** One DER-encoded value. */
export type Der = Buffer;

/** Any element: tag, length, content. */
export function element(tag: number, ...content: readonly Uint8Array[]): Der {
  return elementOf(tag, content);
}

function elementOf(tag: number, content: readonly Uint8Array[]): Der {
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

/** A sequence of any length. */
export function sequenceOf(elements: readonly Der[]): Der {
  return elementOf(0x30, elements);
}

/** A set of one element. */
export function setOf(only: Der): Der {
  return elementOf(0x31, [only]);
}

/** A set of any length, in the order that DER requires. */
export function sortedSet(elements: readonly Der[]): Der {
  return elementOf(0x31, elements.toSorted(Buffer.compare));
}

/** A non-negative integer, from its big-endian bytes. */
export function integer(bytes: Uint8Array): Der {
  let start = 0;
  while (start < bytes.length - 1 && bytes[start] === 0) start++;
  const digits = bytes.subarray(start);
  const needsSign = ((digits[0] ?? 0) & 0x80) !== 0;
  return element(0x02, needsSign ? Buffer.from([0]) : Buffer.alloc(0), digits);
}

/** True. False is the default in certificates and therefore never encoded. */
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

/** An OCTET STRING. */
export function octetString(content: Uint8Array): Der {
  return element(0x04, content);
}

/** A BIT STRING whose last `unused` bits are ignored. */
export function bitString(content: Uint8Array, unused = 0): Der {
  return element(0x03, Buffer.from([unused]), content);
}

/** A UTF8String. */
export function utf8String(text: string): Der {
  return element(0x0c, Buffer.from(text, "utf8"));
}

const NOT_PRINTABLE = /[^a-zA-Z0-9 '()+,\-./:=?]/;

/** A string in a name, as Go's asn1.Marshal encodes it: a PrintableString if possible, else a UTF8String. */
export function directoryString(text: string): Der {
  return NOT_PRINTABLE.test(text) ? utf8String(text) : element(0x13, Buffer.from(text, "latin1"));
}

/** A constructed context-specific element: `[number]` in ASN.1 notation. */
export function tagged(number: number, ...content: readonly Uint8Array[]): Der {
  return element(0xa0 | number, ...content);
}

/** A primitive context-specific element, which replaces a string type. */
export function taggedBytes(number: number, content: Uint8Array): Der {
  return element(0x80 | number, content);
}

/** A time with seconds. UTCTime until 2049, as X.509 requires, then GeneralizedTime. */
export function time(moment: Date): Der {
  const digits = moment
    .toISOString()
    .replace(/\.\d+Z$/, "Z")
    .replace(/[-:T]/g, "");
  const isUtcTime = moment.getUTCFullYear() < 2050;
  return element(isUtcTime ? 0x17 : 0x18, Buffer.from(isUtcTime ? digits.slice(2) : digits, "latin1"));
}
