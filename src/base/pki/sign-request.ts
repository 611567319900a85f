import { type Authority, extension, signCertificate } from "./authority.ts";
import { ATTRIBUTE, type RequestedCertificate, type SubjectAttribute, subjectValues } from "./certificate-request.ts";
import {
  bitString,
  type Der,
  directoryString,
  objectIdentifier,
  sequence,
  sequenceOf,
  sortedSet,
  taggedBytes,
} from "./der.ts";
import type { AlternativeNames } from "./x509-read.ts";

/** What the CA decides about a requested certificate. */
export interface CertificateTerms {
  readonly serialNumber: Uint8Array;
  /** Milliseconds since the epoch. */
  readonly notBefore: number;
  readonly notAfter: number;
  /** Bits of the extension keyUsage: 0 is digitalSignature, 8 is decipherOnly. */
  readonly keyUsages: readonly number[];
  /** Object identifiers, in order. */
  readonly extendedKeyUsages: readonly string[];
}

/**
 * Signs a requested certificate, which cannot sign others. Returns it in PEM. Compat: takes the subject, the alternative
 * names and the key of the request and ignores its other extensions, and has the encoding and the order of extensions of
 * Go's `x509.CreateCertificate`.
 */
export function signRequest(authority: Authority, request: RequestedCertificate, terms: CertificateTerms): string {
  const { keyInfo, names } = request;
  const subject = encodeSubject(request.subject);
  const { serialNumber, notBefore, notAfter } = terms;
  const extensions = [...usageExtensions(terms), extension("2.5.29.19", sequence(), true)];
  if (authority.keyId.length > 0 && !authority.name.equals(subject)) {
    extensions.push(extension("2.5.29.35", sequence(taggedBytes(0, authority.keyId))));
  }
  const alternatives = encodeNames(names);
  if (alternatives.length > 0) {
    extensions.push(extension("2.5.29.17", sequenceOf(alternatives), subject.equals(sequence())));
  }
  return signCertificate(authority, { serialNumber, subject, keyInfo, notBefore, notAfter, extensions });
}

function usageExtensions({ keyUsages, extendedKeyUsages }: CertificateTerms): Der[] {
  const extensions: Der[] = [];
  if (keyUsages.length > 0) extensions.push(extension("2.5.29.15", encodeBits(keyUsages), true));
  if (extendedKeyUsages.length > 0) {
    extensions.push(extension("2.5.29.37", sequenceOf(extendedKeyUsages.map(objectIdentifier))));
  }
  return extensions;
}

/** Bit 0 is the highest bit of the first byte. */
function encodeBits(bits: readonly number[]): Der {
  const highest = bits.reduce((a, b) => Math.max(a, b), 0);
  const bytes = Buffer.alloc((highest >> 3) + 1);
  for (const bit of bits) bytes[bit >> 3] = (bytes[bit >> 3] ?? 0) | (0x80 >> (bit & 7));
  return bitString(bytes, 7 - (highest & 7));
}

/** Attributes that may have several values: country, province, locality, street, postal code, organization, unit. */
const REPEATED = ["2.5.4.6", "2.5.4.8", "2.5.4.7", "2.5.4.9", "2.5.4.17", ATTRIBUTE.organization, "2.5.4.11"];
/** Attributes of which the last value counts: common name, serial number. */
const SINGLE = [ATTRIBUTE.commonName, "2.5.4.5"];

/** Compat: `pkix.Name.ToRDNSequence` has a fixed order and drops all other attributes. */
function encodeSubject(subject: readonly SubjectAttribute[]): Der {
  const repeated = REPEATED.map((type) => [type, subjectValues(subject, type)] as const);
  const single = SINGLE.map((type) => {
    return [
      type,
      subjectValues(subject, type)
        .slice(-1)
        .filter((value) => value !== ""),
    ] as const;
  });
  const present = [...repeated, ...single].filter(([, values]) => values.length > 0);
  return sequenceOf(
    present.map(([type, values]) =>
      sortedSet(values.map((value) => sequence(objectIdentifier(type), directoryString(value)))),
    ),
  );
}

function encodeNames({ dns, email, ip, uri }: AlternativeNames): Der[] {
  const texts = (number: number, values: readonly string[]) =>
    values.map((value) => taggedBytes(number, Buffer.from(value)));
  return [...texts(2, dns), ...texts(1, email), ...ip.map((bytes) => taggedBytes(7, bytes)), ...texts(6, uri)];
}
