import { constants, createPublicKey, type KeyObject, verify } from "node:crypto";
import { getMember } from "../util/members.ts";
import { type DerElement, DerError, readElement, readElements, readIdentifier, TAG } from "./der-read.ts";

/** A certificate signing request (PKCS #10). */
export interface SigningRequest {
  /** Undefined if signatures of this key type are not supported. */
  readonly publicKey: KeyObject | undefined;
  /** The signed bytes. */
  readonly body: Buffer;
  readonly algorithm: DerElement;
  readonly signature: Buffer;
}

/** Decodes a request. Throws DerError with the message of kube-apiserver, if it has one. */
export function parseSigningRequest(bytes: Buffer): SigningRequest {
  const [body, algorithm, signature] = readElements(requireSequence(readElement(bytes)));
  if (!body || !algorithm || !signature) throw new DerError("asn1: syntax error: sequence truncated");
  const [, , keyInfo] = readElements(requireSequence(body));
  if (!keyInfo || signature.tag !== TAG.bitString) throw new DerError("asn1: syntax error: sequence truncated");
  requireSequence(algorithm);
  return { publicKey: readKey(keyInfo.raw), body: body.raw, algorithm, signature: signature.content.subarray(1) };
}

function requireSequence({ tag, content }: DerElement): Buffer {
  if (tag === TAG.sequence) return content;
  throw new DerError(`asn1: structure error: tags don't match (16 vs ${tag & 0x1f})`);
}

const CURVES = ["secp224r1", "prime256v1", "secp384r1", "secp521r1"];
const KEY_TYPES = ["rsa", "ec", "ed25519"];

/**
 * Reads a SubjectPublicKeyInfo. Undefined if signatures of its type are not supported. Throws DerError for unsupported
 * keys and curves.
 */
function readKey(bytes: Buffer): KeyObject | undefined {
  const key = openKey(bytes);
  if (key === undefined) throw new DerError("x509: unsupported public key");
  if (!hasKnownCurve(key)) throw new DerError("x509: unsupported elliptic curve");
  return KEY_TYPES.includes(key.asymmetricKeyType ?? "") ? key : undefined;
}

function openKey(bytes: Buffer): KeyObject | undefined {
  try {
    const key = createPublicKey({ key: bytes, format: "der", type: "spki" });
    // OpenSSL ignores trailing data after the key.
    return readElement(bytes) && key;
  } catch {
    return undefined;
  }
}

function hasKnownCurve({ asymmetricKeyType, asymmetricKeyDetails = {} }: KeyObject): boolean {
  return asymmetricKeyType !== "ec" || CURVES.includes(asymmetricKeyDetails.namedCurve ?? "");
}

/** Reads a SubjectPublicKeyInfo. Undefined if it is malformed. */
export function readPublicKey(bytes: Buffer): KeyObject | undefined {
  const key = openKey(bytes);
  return key && hasKnownCurve(key) ? key : undefined;
}

/** Key type and digest by signature algorithm. */
const DIGESTS: Readonly<Record<string, readonly [type: string, digest: string]>> = {
  "1.2.840.113549.1.1.5": ["rsa", "sha1"],
  "1.2.840.113549.1.1.11": ["rsa", "sha256"],
  "1.2.840.113549.1.1.12": ["rsa", "sha384"],
  "1.2.840.113549.1.1.13": ["rsa", "sha512"],
  "1.2.840.10045.4.1": ["ec", "sha1"],
  "1.2.840.10045.4.3.2": ["ec", "sha256"],
  "1.2.840.10045.4.3.3": ["ec", "sha384"],
  "1.2.840.10045.4.3.4": ["ec", "sha512"],
  "1.3.101.112": ["ed25519", ""],
};
const BROKEN: Readonly<Record<string, string>> = { "1.2.840.113549.1.1.4": "MD5-RSA" };
const PSS = "1.2.840.113549.1.1.10";
const PSS_DIGESTS: Readonly<Record<string, readonly [digest: string, bytes: number]>> = {
  "2.16.840.1.101.3.4.2.1": ["sha256", 32],
  "2.16.840.1.101.3.4.2.2": ["sha384", 48],
  "2.16.840.1.101.3.4.2.3": ["sha512", 64],
};

/** Why the signature of a request is invalid, in the words of kube-apiserver. Undefined if it is valid. */
export function signatureProblem({ publicKey, body, algorithm, signature }: SigningRequest): string | undefined {
  const [identifier, parameters] = readElements(algorithm.content);
  const name = identifier ? readIdentifier(identifier) : "";
  if (getMember(BROKEN, name) !== undefined)
    return `x509: cannot verify signature: insecure algorithm ${getMember(BROKEN, name)}`;
  const pss = name === PSS && parameters ? pssDigest(parameters) : undefined;
  const [type, digest] = pss === undefined ? (getMember(DIGESTS, name) ?? []) : ["rsa", pss];
  if (publicKey === undefined || type === undefined || digest === undefined) {
    return "x509: cannot verify signature: algorithm unimplemented";
  }
  if (publicKey.asymmetricKeyType !== type) return "x509: signature algorithm specifies a key of another type";
  const padding =
    pss === undefined ? {} : { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: constants.RSA_PSS_SALTLEN_DIGEST };
  const isValid = verify(digest === "" ? null : digest, body, { key: publicKey, ...padding }, signature);
  return isValid ? undefined : getMember(FAILURES, type);
}

const FAILURES: Readonly<Record<string, string>> = {
  rsa: "crypto/rsa: verification error",
  ec: "x509: ECDSA verification failure",
  ed25519: "x509: Ed25519 verification failure",
};

/** The digest of a PSS signature. Undefined unless the salt is as long as the digest; others are not in use. */
function pssDigest(parameters: DerElement): string | undefined {
  const parts = readElements(parameters.content);
  const inside = (tag: number) => readElements(parts.find((part) => part.tag === tag)?.content ?? Buffer.alloc(0))[0];
  const hash = inside(0xa0);
  const identifier = hash && readElements(hash.content)[0];
  const [digest, bytes] = identifier ? (getMember(PSS_DIGESTS, readIdentifier(identifier)) ?? []) : [];
  return bytes !== undefined && inside(0xa2)?.content.at(-1) === bytes ? digest : undefined;
}
