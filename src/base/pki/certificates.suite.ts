import { generateKeyPairSync, type KeyObject, sign, X509Certificate } from "node:crypto";
import {
  bitString,
  type Der,
  element,
  integer,
  isTrue,
  objectIdentifier,
  octetString,
  sequence,
  setOf,
  tagged,
  taggedBytes,
  time,
  utf8String,
} from "./der.ts";

/** A certificate with its key, which can sign others. */
export interface MadeCertificate extends Keys {
  readonly der: Buffer;
  readonly certificate: X509Certificate;
  readonly pem: string;
  readonly keyPem: string;
  readonly name: Der;
}

/** Options of a test certificate. Default: a client certificate, valid from one hour ago for one day. */
export interface CertificateRequest {
  /** Pairs of object identifier and value. */
  readonly subject?: readonly (readonly [string, string | Der])[];
  /** Optional. If omitted, the certificate is self-signed. */
  readonly issuer?: MadeCertificate;
  readonly isAuthority?: boolean;
  readonly maxPathLength?: number;
  /** The first byte of keyUsage. */
  readonly keyUsage?: number;
  readonly usages?: readonly string[];
  readonly from?: number;
  readonly to?: number;
  readonly extensions?: readonly Der[];
  /** Signs with this key instead of the issuer's. */
  readonly signWith?: KeyObject;
  /** Optional. If omitted, new keys are generated. */
  readonly keys?: Keys;
}

/** A key pair. */
export interface Keys {
  readonly privateKey: KeyObject;
  readonly publicKey: KeyObject;
}

/** Object identifiers that tests need. */
export const OID = {
  commonName: "2.5.4.3",
  organization: "2.5.4.10",
  uid: "1.3.6.1.4.1.57683.2",
  clientAuth: "1.3.6.1.5.5.7.3.2",
  serverAuth: "1.3.6.1.5.5.7.3.1",
  any: "2.5.29.37.0",
} as const;

const ECDSA_WITH_SHA256 = sequence(objectIdentifier("1.2.840.10045.4.3.2"));

/** An X.509 extension. */
export function extension(type: string, value: Der, isCritical = false): Der {
  return sequence(objectIdentifier(type), ...(isCritical ? [isTrue()] : []), octetString(value));
}

/** The subject of a user. */
export function person(commonName: string, ...organizations: string[]): [string, string][] {
  return [...organizations.map((name): [string, string] => [OID.organization, name]), [OID.commonName, commonName]];
}

/** Generates an EC key pair. Default curve: P-256. */
export function makeKeys(namedCurve = "P-256"): Keys {
  return generateKeyPairSync("ec", { namedCurve });
}

const keyInfo = ({ publicKey }: Keys): Der => publicKey.export({ type: "spki", format: "der" });

function nameOf(subject: readonly (readonly [string, string | Der])[]): Der {
  const parts = subject.map(([type, value]) =>
    setOf(sequence(objectIdentifier(type), typeof value === "string" ? utf8String(value) : value)),
  );
  return sequence(...parts);
}

/** Subject alternative names, as pairs of their tag number and content. */
export type Alternatives = readonly (readonly [number, string | Buffer])[];

/** A certificate signing request, as DER. */
export function makeRequest(
  keys: Keys,
  subject: string | CertificateRequest["subject"] = "x",
  names: Alternatives = [],
): Buffer {
  const name = nameOf(typeof subject === "string" ? person(subject) : subject);
  const alternatives = names.map(([number, content]) => taggedBytes(number, Buffer.from(content)));
  const requested = sequence(extension("2.5.29.17", sequence(...alternatives)));
  const attribute = sequence(objectIdentifier("1.2.840.113549.1.9.14"), setOf(requested));
  const attributes = tagged(0, ...(names.length > 0 ? [attribute] : []));
  const body = sequence(integer(Buffer.from([0])), name, keyInfo(keys), attributes);
  return sequence(body, ECDSA_WITH_SHA256, bitString(sign("sha256", body, keys.privateKey)));
}

/** Encodes bytes as PEM. */
export function printPem(type: string, bytes: Buffer): string {
  return `-----BEGIN ${type}-----\n${bytes.toString("base64")}\n-----END ${type}-----\n`;
}

let serial = 1000;

/** Creates a certificate, whether it is valid or not. */
export function makeCertificate(request: CertificateRequest = {}): MadeCertificate {
  const { keys = makeKeys() } = request;
  const { privateKey, publicKey } = keys;
  const { subject = person("alice"), issuer, isAuthority = false, maxPathLength, keyUsage } = request;
  const now = Date.now();
  const name = nameOf(subject);
  const usages = request.usages ?? (isAuthority ? [] : [OID.clientAuth]);
  const pathLength = maxPathLength === undefined ? [] : [integer(Buffer.from([maxPathLength]))];
  const extensions = [
    extension("2.5.29.19", sequence(...(isAuthority ? [isTrue(), ...pathLength] : [])), true),
    ...(keyUsage === undefined ? [] : [extension("2.5.29.15", bitString(Buffer.from([keyUsage])), true)]),
    ...(usages.length === 0 ? [] : [extension("2.5.29.37", sequence(...usages.map(objectIdentifier)))]),
    ...(request.extensions ?? []),
  ];
  const body = sequence(
    tagged(0, integer(Buffer.from([2]))),
    integer(Buffer.from([serial >> 8, serial++ & 0xff])),
    ECDSA_WITH_SHA256,
    issuer?.name ?? name,
    sequence(time(new Date(request.from ?? now - 3_600_000)), time(new Date(request.to ?? now + 86_400_000))),
    name,
    keyInfo(keys),
    tagged(3, sequence(...extensions)),
  );
  const signature = sign("sha256", body, request.signWith ?? issuer?.privateKey ?? privateKey);
  const der = sequence(body, ECDSA_WITH_SHA256, bitString(signature));
  const certificate = new X509Certificate(der);
  const keyPem = privateKey.export({ type: "pkcs8", format: "pem" }).toString();
  return { der, certificate, pem: certificate.toString(), keyPem, name, privateKey, publicKey };
}

/** Creates a CA certificate. */
export function makeCa(commonName: string, request: CertificateRequest = {}): MadeCertificate {
  return makeCertificate({ subject: person(commonName), isAuthority: true, ...request });
}

/** A PrintableString instead of a UTF8String. */
export const printableString = (text: string): Der => element(0x13, Buffer.from(text, "latin1"));
