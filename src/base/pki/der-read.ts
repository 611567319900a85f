/** A decoded DER element. */
export interface DerElement {
  readonly tag: number;
  readonly content: Buffer;
  /** Including tag and length. */
  readonly raw: Buffer;
}

/** The bytes are not DER, or do not have the expected structure. */
export class DerError extends Error {}

/** Decodes a single element. Throws DerError, also if there is trailing data. */
export function readElement(bytes: Buffer): DerElement {
  const element = elementAt(bytes, 0);
  if (element.raw.length !== bytes.length) throw new DerError("asn1: syntax error: trailing data");
  return element;
}

/** Decodes consecutive elements. Throws DerError. */
export function readElements(bytes: Buffer): DerElement[] {
  const elements: DerElement[] = [];
  for (let at = 0; at < bytes.length; at += elements.at(-1)?.raw.length ?? bytes.length) {
    elements.push(elementAt(bytes, at));
  }
  return elements;
}

function elementAt(bytes: Buffer, at: number): DerElement {
  const tag = bytes[at];
  const first = bytes[at + 1];
  if (tag === undefined) throw new DerError("asn1: syntax error: sequence truncated");
  if (first === undefined) throw new DerError("asn1: syntax error: truncated tag or length");
  const sizeBytes = first < 0x80 ? 0 : first & 0x7f;
  if (sizeBytes > 4 || first === 0x80) throw new DerError("asn1: structure error: length too large");
  const start = at + 2 + sizeBytes;
  const length = sizeBytes === 0 ? first : readLength(bytes, at + 2, sizeBytes);
  if (start + length > bytes.length) throw new DerError("asn1: syntax error: data truncated");
  return { tag, content: bytes.subarray(start, start + length), raw: bytes.subarray(at, start + length) };
}

function readLength(bytes: Buffer, at: number, size: number): number {
  if (at + size > bytes.length) throw new DerError("asn1: syntax error: truncated tag or length");
  return bytes.readUIntBE(at, size);
}

/** An object identifier as "2.5.29.19". */
export function readIdentifier({ content }: DerElement): string {
  const parts: number[] = [];
  let part = 0;
  for (const byte of content) {
    part = part * 128 + (byte & 0x7f);
    if (byte & 0x80) continue;
    if (parts.length === 0)
      parts.push(Math.min(Math.floor(part / 40), 2), part - 40 * Math.min(Math.floor(part / 40), 2));
    else parts.push(part);
    part = 0;
  }
  return parts.join(".");
}

/** DER tags. */
export const TAG = { boolean: 0x01, integer: 0x02, bitString: 0x03, octetString: 0x04, sequence: 0x30 } as const;
