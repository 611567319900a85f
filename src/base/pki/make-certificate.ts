import { createHash, generateKeyPairSync, randomBytes } from "node:crypto";
import { parseAddress } from "../net/ip-address.ts";
import { extension, readAuthority, signCertificate } from "./authority.ts";
import {
  bitString,
  type Der,
  isTrue,
  objectIdentifier,
  octetString,
  sequence,
  setOf,
  taggedBytes,
  utf8String,
} from "./der.ts";

/** A certificate with its key, both in PEM. */
export interface Identity {
  readonly certificate: string;
  readonly key: string;
}

/** The subject of a certificate. */
export interface Subject {
  readonly commonName: string;
  readonly organizations?: readonly string[];
  /** Host names and addresses that a serving certificate is valid for. */
  readonly hosts?: readonly string[];
}

/** The purpose of a certificate. "authority": a CA. */
export type Usage = "authority" | "server" | "client";

const DAY_MS = 86_400_000;
const VALID_DAYS: Readonly<Record<Usage, number>> = { authority: 3650, server: 365, client: 365 };

/** Generates a key and a self-signed CA certificate. */
export function makeCa(commonName: string, now: number): Identity {
  return issue({ commonName }, "authority", now, undefined);
}

/** Generates a key and a certificate signed by the CA. */
export function makeIdentity(authority: Identity, subject: Subject, usage: "server" | "client", now: number): Identity {
  return issue(subject, usage, now, authority);
}

function issue(subject: Subject, usage: Usage, now: number, authority: Identity | undefined): Identity {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const keyInfo = publicKey.export({ type: "spki", format: "der" });
  const ownKey = keyId(keyInfo);
  const name = nameOf(subject);
  const issuer = authority
    ? readAuthority(authority.certificate, authority.key)
    : { name, keyId: ownKey, key: privateKey };
  const certificate = signCertificate(issuer, {
    serialNumber: serialNumber(),
    subject: name,
    keyInfo,
    // Allows for client clocks that are a little behind.
    notBefore: now - 3_600_000,
    notAfter: now + VALID_DAYS[usage] * DAY_MS,
    extensions: extensionsOf(subject, usage, ownKey, issuer.keyId),
  });
  return {
    certificate,
    // Clients of every language can read EC PRIVATE KEY (SEC 1). fabric8 assumes that every PKCS #8 key is an RSA key.
    key: privateKey.export({ type: "sec1", format: "pem" }).toString(),
  };
}

function serialNumber(): Buffer {
  const bytes = randomBytes(16);
  bytes[0] = ((bytes[0] ?? 0) & 0x7f) | 0x40;
  return bytes;
}

function nameOf({ commonName, organizations = [] }: Subject): Der {
  const attribute = (type: string, value: string): Der => setOf(sequence(objectIdentifier(type), utf8String(value)));
  return sequence(...organizations.map((name) => attribute("2.5.4.10", name)), attribute("2.5.4.3", commonName));
}

/** The usual key identifier: the SHA-1 of the key bits, which are the last 65 bytes of a P-256 key. */
function keyId(keyInfo: Buffer): Buffer {
  return createHash("sha1").update(keyInfo.subarray(-65)).digest();
}

const EXTENDED_USAGE = { server: "1.3.6.1.5.5.7.3.1", client: "1.3.6.1.5.5.7.3.2" } as const;

function extensionsOf(subject: Subject, usage: Usage, ownKey: Buffer, issuerKey: Buffer): Der[] {
  const isAuthority = usage === "authority";
  // digitalSignature; for CAs also keyCertSign and cRLSign.
  const keyUsage = isAuthority ? bitString(Buffer.from([0x86]), 1) : bitString(Buffer.from([0x80]), 7);
  const extensions = [
    extension("2.5.29.19", sequence(...(isAuthority ? [isTrue()] : [])), true),
    extension("2.5.29.15", keyUsage, true),
    extension("2.5.29.14", octetString(ownKey)),
    extension("2.5.29.35", sequence(taggedBytes(0, issuerKey))),
  ];
  if (usage !== "authority") {
    extensions.push(extension("2.5.29.37", sequence(objectIdentifier(EXTENDED_USAGE[usage]))));
  }
  const hosts = subject.hosts ?? [];
  if (hosts.length > 0) extensions.push(extension("2.5.29.17", sequence(...hosts.map(alternativeName))));
  return extensions;
}

function alternativeName(host: string): Der {
  const address = parseAddress(host);
  return address ? taggedBytes(7, address) : taggedBytes(2, Buffer.from(host, "latin1"));
}
