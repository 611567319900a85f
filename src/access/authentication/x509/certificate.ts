import { type KeyObject, X509Certificate } from "node:crypto";
import { type DerElement, readElement, readElements, readIdentifier, TAG } from "../../../base/pki/der-read.ts";

/** The parsed fields of a certificate that chain verification needs. */
export interface Certificate {
  readonly raw: Buffer;
  readonly publicKey: KeyObject;
  readonly version: number;
  /** In decimal. */
  readonly serialNumber: string;
  /** DER-encoded names, which are compared byte by byte. */
  readonly subject: Buffer;
  readonly issuer: Buffer;
  /** Attributes of the subject in order. The value is undefined if it is not a string. */
  readonly attributes: readonly { readonly type: string; readonly value: string | undefined }[];
  readonly notBefore: number;
  readonly notAfter: number;
  readonly signatureAlgorithm: string;
  /** Absent if the certificate does not have the extension. */
  readonly basicConstraints?: { readonly isCA: boolean; readonly maxPathLength?: number };
  /**
   * Whether the key usage includes keyCertSign. Absent if the certificate does not have the extension, which permits
   * signing.
   */
  readonly maySign?: boolean;
  /** Absent if the certificate does not have the extension, which permits all usages. */
  readonly extendedKeyUsages?: readonly string[];
  readonly subjectKeyId: Buffer;
  readonly authorityKeyId: Buffer;
  readonly hasAlternativeNames: boolean;
  readonly hasNameConstraints: boolean;
  readonly hasUnknownCritical: boolean;
  isSignedBy(key: KeyObject): boolean;
}

const OID = {
  subjectKeyId: "2.5.29.14",
  keyUsage: "2.5.29.15",
  alternativeNames: "2.5.29.17",
  basicConstraints: "2.5.29.19",
  nameConstraints: "2.5.29.30",
  crlDistributionPoints: "2.5.29.31",
  certificatePolicies: "2.5.29.32",
  authorityKeyId: "2.5.29.35",
  policyConstraints: "2.5.29.36",
  extendedKeyUsage: "2.5.29.37",
  inhibitAnyPolicy: "2.5.29.54",
  policyMappings: "2.5.29.33",
} as const;

/** Extensions that Go's parser handles. Any other critical extension makes a certificate unusable. */
const KNOWN: ReadonlySet<string> = new Set(Object.values(OID));

/** A certificate that OpenSSL can parse but this server rejects, or a chain that fails verification. */
export class CertificateError extends Error {}

interface Extension {
  readonly isCritical: boolean;
  readonly value: Buffer;
}

/** Parses a certificate. Throws CertificateError where Go's `x509.ParseCertificate` fails. */
export function readCertificate(source: X509Certificate): Certificate {
  try {
    return read(source);
  } catch (error) {
    if (error instanceof CertificateError) throw error;
    throw new CertificateError("x509: malformed certificate", { cause: error });
  }
}

/** Parses a certificate from DER. Throws CertificateError. */
export function parseCertificate(der: Buffer): Certificate {
  let source: X509Certificate;
  try {
    source = new X509Certificate(der);
  } catch (error) {
    throw new CertificateError("x509: malformed certificate", { cause: error });
  }
  return readCertificate(source);
}

function read(source: X509Certificate): Certificate {
  const { raw } = source;
  const [body, outerAlgorithm] = readElements(readElement(raw).content);
  const fields = readElements(must(body).content);
  const hasVersion = fields[0]?.tag === 0xa0;
  const [serial, algorithm, issuer, , subject] = fields.slice(hasVersion ? 1 : 0);
  if (!must(algorithm).raw.equals(must(outerAlgorithm).raw)) {
    throw new CertificateError("x509: inner and outer signature algorithm identifiers don't match");
  }
  const extensions = extensionsOf(fields);
  const value = (type: string): DerElement | undefined => {
    const found = extensions.get(type);
    return found && readElement(found.value);
  };
  const constraints = value(OID.basicConstraints);
  const keyUsage = value(OID.keyUsage);
  const usages = value(OID.extendedKeyUsage);
  return {
    raw,
    publicKey: source.publicKey,
    version: hasVersion ? (readElement(must(fields[0]).content).content[0] ?? 0) + 1 : 1,
    serialNumber: BigInt(`0x${must(serial).content.toString("hex") || "0"}`).toString(),
    subject: must(subject).raw,
    issuer: must(issuer).raw,
    attributes: attributesOf(must(subject)),
    notBefore: Date.parse(source.validFrom),
    notAfter: Date.parse(source.validTo),
    signatureAlgorithm: readIdentifier(must(readElements(must(algorithm).content)[0])),
    ...(constraints ? { basicConstraints: readConstraints(constraints) } : {}),
    // keyCertSign is bit 5.
    ...(keyUsage ? { maySign: ((keyUsage.content[1] ?? 0) & 0x04) !== 0 } : {}),
    ...(usages ? { extendedKeyUsages: readElements(usages.content).map(readIdentifier) } : {}),
    subjectKeyId: value(OID.subjectKeyId)?.content ?? Buffer.alloc(0),
    authorityKeyId:
      readElements(value(OID.authorityKeyId)?.content ?? Buffer.alloc(0)).find(({ tag }) => tag === 0x80)?.content ??
      Buffer.alloc(0),
    hasAlternativeNames: extensions.has(OID.alternativeNames),
    hasNameConstraints: extensions.has(OID.nameConstraints),
    hasUnknownCritical: [...extensions].some(([type, { isCritical }]) => isCritical && !KNOWN.has(type)),
    isSignedBy: (key) => source.verify(key),
  };
}

function must<Value>(value: Value | undefined): Value {
  if (value === undefined) throw new CertificateError("x509: malformed certificate");
  return value;
}

function readConstraints({ content }: DerElement): NonNullable<Certificate["basicConstraints"]> {
  const parts = readElements(content);
  const isCA = parts.some((part) => part.tag === TAG.boolean && part.content[0] !== 0);
  const length = parts.find((part) => part.tag === TAG.integer);
  if (length === undefined) return { isCA };
  if (length.content.length > 4) throw new CertificateError("x509: invalid basic constraints");
  return { isCA, maxPathLength: length.content.readIntBE(0, length.content.length) };
}

/** Compat: `x509.ParseCertificate` rejects duplicate extensions: "x509: certificate contains duplicate extensions". */
function extensionsOf(fields: readonly DerElement[]): Map<string, Extension> {
  const extensions = new Map<string, Extension>();
  const last = fields.find(({ tag }) => tag === 0xa3);
  if (last === undefined) return extensions;
  for (const { content } of readElements(readElement(last.content).content)) {
    const parts = readElements(content);
    const type = readIdentifier(must(parts[0]));
    if (extensions.has(type)) throw new CertificateError("x509: certificate contains duplicate extensions");
    const isCritical = parts.some((part) => part.tag === TAG.boolean && part.content[0] !== 0);
    extensions.set(type, { isCritical, value: must(parts.at(-1)).content });
  }
  return extensions;
}

function attributesOf(name: DerElement): { type: string; value: string | undefined }[] {
  return readElements(name.content).flatMap(({ content }) =>
    readElements(content).map((pair) => {
      const [type, value] = readElements(pair.content);
      return { type: readIdentifier(must(type)), value: readString(must(value)) };
    }),
  );
}

const STRING_TAG = { utf8: 0x0c, numeric: 0x12, printable: 0x13, t61: 0x14, ia5: 0x16, bmp: 0x1e } as const;

/** The string types that Go's `parseASN1String` supports. */
function readString({ tag, content }: DerElement): string | undefined {
  switch (tag) {
    case STRING_TAG.utf8:
      return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(content);
    case STRING_TAG.numeric:
    case STRING_TAG.printable:
    case STRING_TAG.ia5:
    case STRING_TAG.t61:
      return content.toString("latin1");
    case STRING_TAG.bmp:
      if (content.length % 2 !== 0) throw new CertificateError("x509: invalid BMPString");
      return Buffer.from(content).swap16().toString("utf16le");
    default:
      return undefined;
  }
}
