import { generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import {
  bitString,
  type Der,
  integer,
  isTrue,
  objectIdentifier,
  octetString,
  sequence,
  setOf,
  tagged,
  time,
  utf8String,
} from "./der.ts";

const ECDSA_WITH_SHA256 = sequence(objectIdentifier("1.2.840.10045.4.3.2"));
const name = (common: string): Der => sequence(setOf(sequence(objectIdentifier("2.5.4.3"), utf8String(common))));

/** A key of the curve that everybody takes, or of another. */
export function makeKey(namedCurve = "P-256"): { privateKey: KeyObject; publicKey: KeyObject; keyInfo: Buffer } {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve });
  return { privateKey, publicKey, keyInfo: publicKey.export({ type: "spki", format: "der" }) };
}

/** A request for a certificate for a key, as DER. */
export function makeRequest({ privateKey, keyInfo }: ReturnType<typeof makeKey>, common = "x"): Buffer {
  const body = sequence(integer(Buffer.from([0])), name(common), keyInfo, tagged(0));
  return sequence(body, ECDSA_WITH_SHA256, bitString(sign("sha256", body, privateKey)));
}

/** A certificate that a key signs for itself, as DER. */
export function makeCertificate(
  { privateKey, keyInfo }: ReturnType<typeof makeKey>,
  { isAuthority = false, from = 0, to = 3_600_000, common = "x" } = {},
): Buffer {
  const constraints = sequence(
    objectIdentifier("2.5.29.19"),
    octetString(sequence(...(isAuthority ? [isTrue()] : []))),
  );
  const body = sequence(
    tagged(0, integer(Buffer.from([2]))),
    integer(Buffer.from([1])),
    ECDSA_WITH_SHA256,
    name(common),
    sequence(time(new Date(from)), time(new Date(to))),
    name(common),
    keyInfo,
    tagged(3, sequence(constraints)),
  );
  return sequence(body, ECDSA_WITH_SHA256, bitString(sign("sha256", body, privateKey)));
}

/** Bytes in PEM form. */
export function printPem(type: string, bytes: Buffer): string {
  return `-----BEGIN ${type}-----\n${bytes.toString("base64")}\n-----END ${type}-----\n`;
}
