import { type KeyObject, X509Certificate } from "node:crypto";
import { type DerElement, DerError, readElement, readElements, readIdentifier, TAG } from "./der-read.ts";

/** Selected fields of a certificate. */
export interface CertificateFacts {
  readonly publicKey: KeyObject;
  readonly notBefore: number;
  readonly notAfter: number;
  readonly isAuthority: boolean;
  readonly dnsNames: readonly string[];
  readonly emailAddresses: readonly string[];
}

const BASIC_CONSTRAINTS = "2.5.29.19";
const ALTERNATIVE_NAMES = "2.5.29.17";
const NAME_TAG = { email: 0x81, dns: 0x82, uri: 0x86, ip: 0x87 } as const;

/** Subject alternative names. IP addresses have 4 or 16 bytes. */
export interface AlternativeNames {
  readonly dns: readonly string[];
  readonly email: readonly string[];
  readonly ip: readonly Buffer[];
  readonly uri: readonly string[];
}

/** Reads one certificate. Undefined if the bytes are malformed or have trailing data. */
export function readCertificate(bytes: Buffer): CertificateFacts | undefined {
  try {
    const certificate = new X509Certificate(bytes);
    const extensions = extensionsOf(readElement(bytes));
    const { dns, email } = alternativeNamesIn(extensions.get(ALTERNATIVE_NAMES));
    return {
      publicKey: certificate.publicKey,
      notBefore: Date.parse(certificate.validFrom),
      notAfter: Date.parse(certificate.validTo),
      isAuthority: listIn(extensions.get(BASIC_CONSTRAINTS)).some(
        ({ tag, content }) => tag === TAG.boolean && content[0] !== 0,
      ),
      dnsNames: dns,
      emailAddresses: email,
    };
  } catch {
    // OpenSSL throws various errors for malformed certificates.
    return undefined;
  }
}

/** Reads the value of the extension subjectAltName. */
export function alternativeNamesIn(value: Buffer | undefined): AlternativeNames {
  const names = listIn(value);
  const bytes = (tag: number) => names.filter((name) => name.tag === tag).map(({ content }) => content);
  const texts = (tag: number) => bytes(tag).map((content) => content.toString());
  const { dns, email, uri, ip } = NAME_TAG;
  return { dns: texts(dns), email: texts(email), ip: bytes(ip), uri: texts(uri) };
}

/** Counts consecutive certificates. Undefined if the bytes contain anything else. */
export function countCertificates(bytes: Buffer): number | undefined {
  try {
    const elements = readElements(bytes);
    return elements.every(({ raw }) => readCertificate(raw)) ? elements.length : undefined;
  } catch (error) {
    if (error instanceof DerError) return undefined;
    throw error;
  }
}

/** The extensions of a certificate, by object identifier. */
export function extensionsOf(certificate: DerElement): Map<string, Buffer> {
  const [body] = readElements(certificate.content);
  const last = readElements(body?.content ?? Buffer.alloc(0)).find(({ tag }) => tag === 0xa3);
  const extensions = listIn(last?.content).map(({ content }): [string, Buffer] => {
    const parts = readElements(content);
    const value = parts.at(-1)?.content ?? Buffer.alloc(0);
    return [parts[0] ? readIdentifier(parts[0]) : "", value];
  });
  return new Map(extensions);
}

/** The elements of a sequence. */
export function listIn(bytes: Buffer | undefined): DerElement[] {
  return bytes === undefined ? [] : readElements(readElement(bytes).content);
}
