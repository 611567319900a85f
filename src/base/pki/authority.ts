import { createPrivateKey, type KeyObject, sign, X509Certificate } from "node:crypto";
import { getMember } from "../util/members.ts";
import {
  bitString,
  type Der,
  element,
  integer,
  isTrue,
  objectIdentifier,
  octetString,
  sequence,
  sequenceOf,
  tagged,
  time,
} from "./der.ts";
import { type DerElement, DerError, readElement, readElements } from "./der-read.ts";
import { extensionsOf } from "./x509-read.ts";

/** A CA that can sign. */
export interface Authority {
  /** Its subject, which is the issuer of the certificates that it signs. */
  readonly name: Der;
  /** The extension subjectKeyIdentifier. Empty if absent. */
  readonly keyId: Buffer;
  readonly key: KeyObject;
  readonly notAfter: number;
}

/** The content of a certificate. */
export interface CertificateContent {
  readonly serialNumber: Uint8Array;
  readonly subject: Der;
  /** The SubjectPublicKeyInfo. */
  readonly keyInfo: Der;
  /** Milliseconds since the epoch. */
  readonly notBefore: number;
  readonly notAfter: number;
  readonly extensions: readonly Der[];
}

const SUBJECT_KEY_ID = "2.5.29.14";

/** Reads the certificate and the key of a CA, both in PEM. */
export function readAuthority(certificate: string, key: string): Authority {
  const { raw, validTo } = new X509Certificate(certificate);
  const whole = readElement(raw);
  const keyId = extensionsOf(whole).get(SUBJECT_KEY_ID);
  return {
    name: subjectOf(whole),
    keyId: keyId ? readElement(keyId).content : Buffer.alloc(0),
    key: createPrivateKey(key),
    notAfter: Date.parse(validTo),
  };
}

function subjectOf(certificate: DerElement): Buffer {
  const [body] = readElements(certificate.content);
  const fields = readElements(body?.content ?? Buffer.alloc(0));
  // The version is optional: serial number, algorithm, issuer, validity, subject.
  const subject = fields[fields[0]?.tag === 0xa0 ? 5 : 4];
  if (!subject) throw new DerError("asn1: syntax error: sequence truncated");
  return subject.raw;
}

/** Signs a certificate. Returns it in PEM. */
export function signCertificate({ name, key }: Pick<Authority, "name" | "key">, content: CertificateContent): string {
  const { algorithm, digest } = signatureOf(key);
  const body = sequence(
    tagged(0, integer(Buffer.from([2]))),
    integer(content.serialNumber),
    algorithm,
    name,
    sequence(time(new Date(content.notBefore)), time(new Date(content.notAfter))),
    content.subject,
    content.keyInfo,
    tagged(3, sequenceOf(content.extensions)),
  );
  return pem("CERTIFICATE", sequence(body, algorithm, bitString(sign(digest, body, key))));
}

/** An extension of a certificate. */
export function extension(type: string, value: Der, isCritical = false): Der {
  return sequence(objectIdentifier(type), ...(isCritical ? [isTrue()] : []), octetString(value));
}

interface Signature {
  readonly algorithm: Der;
  readonly digest: string | null;
}

const ecdsa = (digest: string, last: number): Signature => ({
  algorithm: sequence(objectIdentifier(`1.2.840.10045.4.3.${last}`)),
  digest,
});
const ECDSA: Readonly<Record<string, Signature>> = {
  prime256v1: ecdsa("sha256", 2),
  secp384r1: ecdsa("sha384", 3),
  secp521r1: ecdsa("sha512", 4),
};
const NULL = element(0x05);
const RSA: Signature = { algorithm: sequence(objectIdentifier("1.2.840.113549.1.1.11"), NULL), digest: "sha256" };
const ED25519: Signature = { algorithm: sequence(objectIdentifier("1.3.101.112")), digest: null };

/** The signature algorithm that Go's `x509.CreateCertificate` picks for a key. */
function signatureOf({ asymmetricKeyType, asymmetricKeyDetails = {} }: KeyObject): Signature {
  if (asymmetricKeyType === "rsa") return RSA;
  if (asymmetricKeyType === "ed25519") return ED25519;
  return getMember(ECDSA, asymmetricKeyDetails.namedCurve ?? "") ?? ecdsa("sha256", 2);
}

function pem(label: string, content: Buffer): string {
  const lines = content.toString("base64").match(/.{1,64}/g) ?? [];
  return [`-----BEGIN ${label}-----`, ...lines, `-----END ${label}-----`, ""].join("\n");
}
