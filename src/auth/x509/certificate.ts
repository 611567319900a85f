import { type KeyObject, X509Certificate } from "node:crypto";
import { type DerElement, readElement, readElements, readIdentifier, TAG } from "../../lib/x509/der-read.ts";

/** What a chain of certificates is judged by, read once. */
export interface Certificate {
  readonly raw: Buffer;
  readonly publicKey: KeyObject;
  readonly version: number;
  /** In decimal digits. */
  readonly serialNumber: string;
  /** The encoded names, which are compared byte by byte. */
  readonly subject: Buffer;
  readonly issuer: Buffer;
  /** The attributes of the subject in order; the value is undefined where it is no string. */
  readonly attributes: readonly { readonly type: string; readonly value: string | undefined }[];
  readonly notBefore: number;
  readonly notAfter: number;
  readonly signatureAlgorithm: string;
  /** Absent: the extension is not there. */
  readonly basicConstraints?: { readonly isAuthority: boolean; readonly maxPathLength?: number };
  /** Whether it may sign certificates. Absent: the extension is not there, which forbids nothing. */
  readonly maySign?: boolean;
  /** Absent: good for everything. */
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

/** Those that Go's parser handles; another critical one makes a certificate unusable. */
const KNOWN: ReadonlySet<string> = new Set(Object.values(OID));

/** Bytes that are a certificate to OpenSSL, but not to us. */
export class CertificateError extends Error {}

interface Extension {
  readonly isCritical: boolean;
  readonly value: Buffer;
}

/** Reads a certificate. Throws CertificateError for what Go's `x509.ParseCertificate` would refuse. */
export function readCertificate(source: X509Certificate): Certificate {
  try {
    return read(source);
  } catch (error) {
    if (error instanceof CertificateError) throw error;
    throw new CertificateError("x509: malformed certificate", { cause: error });
  }
}

/** Reads a certificate from its DER. Throws CertificateError. */
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
    // The bit keyCertSign is the sixth.
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
  const isAuthority = parts.some((part) => part.tag === TAG.boolean && part.content[0] !== 0);
  const length = parts.find((part) => part.tag === TAG.integer);
  if (length === undefined) return { isAuthority };
  if (length.content.length > 4) throw new CertificateError("x509: invalid basic constraints");
  return { isAuthority, maxPathLength: length.content.readIntBE(0, length.content.length) };
}

/** Compat: `x509.ParseCertificate` refuses a certificate in which an extension stands twice: "x509: certificate contains duplicate extensions". */
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

/** The string types that Go's `parseASN1String` knows. */
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
