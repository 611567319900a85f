import { type DerElement, DerError, readElement, readElements, readIdentifier } from "./der-read.ts";
import { pemBlocks } from "./pem.ts";
import { type AlternativeNames, alternativeNamesIn, listIn } from "./x509-read.ts";

const REQUEST = "CERTIFICATE REQUEST";
const BMP_STRING = 0x1e;
/** The attribute that holds the requested extensions. */
const EXTENSION_REQUEST = "1.2.840.113549.1.9.14";
const ALTERNATIVE_NAMES = "2.5.29.17";

/** Object identifiers of the attributes of a subject. */
export const ATTRIBUTE = { commonName: "2.5.4.3", organization: "2.5.4.10" } as const;

/** An attribute of a subject, by object identifier. */
export interface SubjectAttribute {
  readonly type: string;
  readonly value: string;
}

/** What a certificate request asks for. */
export interface RequestedCertificate {
  /** In the order of the request. */
  readonly subject: readonly SubjectAttribute[];
  readonly names: AlternativeNames;
  /** The SubjectPublicKeyInfo. */
  readonly keyInfo: Buffer;
}

/** The bytes are not a certificate request. The message is that of kube-apiserver, if it has one. */
export class CertificateRequestError extends Error {}

/** Reads a PEM certificate request. Throws CertificateRequestError. */
export function readCertificateRequest(pem: string): RequestedCertificate {
  return withRequest(pem, ({ subject, keyInfo, attributes }) => {
    const extensions = attributes.flatMap(requestedExtensions);
    const found = extensions.find(([type]) => type === ALTERNATIVE_NAMES);
    return { subject: attributesOf(subject), names: alternativeNamesIn(found?.[1]), keyInfo: keyInfo.raw };
  });
}

/** The organizations in the subject of a PEM certificate request. Undefined if it is malformed. */
export function readRequestedOrganizations(pem: string): string[] | undefined {
  try {
    return subjectValues(readSubject(pem), ATTRIBUTE.organization);
  } catch (error) {
    if (error instanceof CertificateRequestError) return undefined;
    throw error;
  }
}

/** The last common name in the subject of a PEM certificate request, or "". Throws CertificateRequestError. */
export function readRequestedCommonName(pem: string): string {
  return subjectValues(readSubject(pem), ATTRIBUTE.commonName).at(-1) ?? "";
}

/** The values of the attributes of one type. */
export function subjectValues(subject: readonly SubjectAttribute[], wanted: string): string[] {
  return subject.filter(({ type }) => type === wanted).map(({ value }) => value);
}

const readSubject = (pem: string): SubjectAttribute[] => withRequest(pem, ({ subject }) => attributesOf(subject));

interface RequestParts {
  readonly subject: DerElement;
  readonly keyInfo: DerElement;
  readonly attributes: readonly DerElement[];
}

function withRequest<T>(pem: string, read: (parts: RequestParts) => T): T {
  const block = pemBlocks(pem).next().value;
  if (block?.type !== REQUEST) throw new CertificateRequestError("PEM block type must be CERTIFICATE REQUEST");
  try {
    const [info] = readElements(readElement(block.bytes).content);
    const [, subject, keyInfo, attributes] = info ? readElements(info.content) : [];
    if (!subject || !keyInfo) throw new DerError("asn1: syntax error: sequence truncated");
    return read({ subject, keyInfo, attributes: attributes ? readElements(attributes.content) : [] });
  } catch (error) {
    if (error instanceof DerError) throw new CertificateRequestError(error.message);
    throw error;
  }
}

function attributesOf(subject: DerElement): SubjectAttribute[] {
  return readElements(subject.content).flatMap((set) =>
    readElements(set.content).flatMap((attribute) => {
      const [type, value] = readElements(attribute.content);
      return type && value ? [{ type: readIdentifier(type), value: textOf(value) }] : [];
    }),
  );
}

function textOf({ tag, content }: DerElement): string {
  return tag === BMP_STRING ? new TextDecoder("utf-16be").decode(content) : content.toString("utf8");
}

/** Pairs of object identifier and value. */
function requestedExtensions({ content }: DerElement): [string, Buffer][] {
  const [type, values] = readElements(content);
  if (!type || !values || readIdentifier(type) !== EXTENSION_REQUEST) return [];
  return listIn(values.content).map((extension) => {
    const parts = readElements(extension.content);
    return [parts[0] ? readIdentifier(parts[0]) : "", parts.at(-1)?.content ?? Buffer.alloc(0)];
  });
}
