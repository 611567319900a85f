const PEM = /-----BEGIN ([A-Z0-9 ]+)-----\r?\n([\s\S]*?)-----END \1-----/;
const REQUEST = "CERTIFICATE REQUEST";
const SEQUENCE = 0x30;
const SET = 0x31;
const INTEGER = 0x02;
const IDENTIFIER = 0x06;
const BMP_STRING = 0x1e;
/** 2.5.4.10, the name of an organization. */
const ORGANIZATION = Buffer.from([0x55, 0x04, 0x0a]);

interface Element {
  readonly tag: number;
  readonly content: Buffer;
}

/** The organizations that the subject of a certificate request in PEM names. Undefined: this is no such request. */
export function readRequestedOrganizations(pem: string): string[] | undefined {
  const [, type, body = ""] = PEM.exec(pem) ?? [];
  if (type !== REQUEST) return undefined;
  try {
    const [whole] = elements(Buffer.from(body, "base64"), SEQUENCE);
    const [info] = elements(whole?.content);
    const [version, subject] = elements(info?.content);
    if (version?.tag !== INTEGER || subject?.tag !== SEQUENCE) return undefined;
    return elements(subject.content, SET).flatMap((set) => elements(set.content, SEQUENCE).flatMap(organizationIn));
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

function organizationIn(attribute: Element): string[] {
  const [type, value] = elements(attribute.content);
  if (type?.tag !== IDENTIFIER || !value || !type.content.equals(ORGANIZATION)) return [];
  if (value.tag !== BMP_STRING) return [value.content.toString("utf8")];
  return [Buffer.from(value.content).swap16().toString("utf16le")];
}

/** The elements that follow each other in `bytes`, which all must have the tag if one is given. Throws RangeError. */
function elements(bytes: Buffer | undefined, tag?: number): Element[] {
  if (!bytes) throw new RangeError("an element is missing");
  const found: Element[] = [];
  for (let at = 0; at < bytes.length; ) {
    const own = bytes.readUInt8(at);
    if (tag !== undefined && own !== tag) throw new RangeError("an element has another tag");
    let length = bytes.readUInt8(at + 1);
    at += 2;
    if (length >= 0x80) {
      const digits = length & 0x7f;
      length = bytes.readUIntBE(at, digits);
      at += digits;
    }
    if (at + length > bytes.length) throw new RangeError("an element is longer than what is there");
    found.push({ tag: own, content: bytes.subarray(at, at + length) });
    at += length;
  }
  return found;
}
