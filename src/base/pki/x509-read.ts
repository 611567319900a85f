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
const EMAIL = 0x81;
const DNS = 0x82;

/** Reads one certificate. Undefined if the bytes are malformed or have trailing data. */
export function readCertificate(bytes: Buffer): CertificateFacts | undefined {
  try {
    const certificate = new X509Certificate(bytes);
    const extensions = extensionsOf(readElement(bytes));
    const names = listIn(extensions.get(ALTERNATIVE_NAMES));
    const namesWith = (tag: number) =>
      names.filter((name) => name.tag === tag).map(({ content }) => content.toString());
    return {
      publicKey: certificate.publicKey,
      notBefore: Date.parse(certificate.validFrom),
      notAfter: Date.parse(certificate.validTo),
      isAuthority: listIn(extensions.get(BASIC_CONSTRAINTS)).some(
        ({ tag, content }) => tag === TAG.boolean && content[0] !== 0,
      ),
      dnsNames: namesWith(DNS),
      emailAddresses: namesWith(EMAIL),
    };
  } catch {
    // OpenSSL throws various errors for malformed certificates.
    return undefined;
  }
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
function extensionsOf(certificate: DerElement): Map<string, Buffer> {
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
function listIn(bytes: Buffer | undefined): DerElement[] {
  return bytes === undefined ? [] : readElements(readElement(bytes).content);
}
