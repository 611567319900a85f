import { createHash, createPrivateKey, createPublicKey, type KeyObject, X509Certificate } from "node:crypto";
import { pemBlocks } from "../../../base/pki/pem.ts";
import { getMember } from "../../../base/util/members.ts";

/** JWS algorithms for service account tokens. */
export type SigningAlgorithm = "RS256" | "ES256" | "ES384" | "ES512";

/** A key to verify tokens with. */
export interface VerifyingKey {
  /** The `kid` of tokens signed with this key. */
  readonly id: string;
  readonly algorithm: SigningAlgorithm;
  readonly key: KeyObject;
}

/** The key to sign tokens with. */
export interface SigningKey {
  readonly id: string;
  readonly algorithm: SigningAlgorithm;
  readonly privateKey: KeyObject;
  readonly publicKey: KeyObject;
}

/**
 * Parses all keys of `--service-account-key-file`: public keys, private keys and certificates in any order. Other PEM
 * blocks are skipped. Throws if there is no key, or if a key has an unsupported curve. Compat:
 * `keyutil.ParsePublicKeysPEM`. Differs: EC keys in PKCS#8 are accepted, too.
 */
export function parseVerifyingKeys(text: string): VerifyingKey[] {
  const keys = [...pemBlocks(text)].flatMap(({ bytes }) => readPublicKey(bytes) ?? []);
  if (keys.length === 0) throw new Error("data does not contain any valid RSA or ECDSA public keys");
  return keys.map(verifyingKey);
}

/**
 * Parses the key of `--service-account-signing-key-file`: the first PEM block with a private key. Throws if there is
 * none.
 */
export function parseSigningKey(text: string): SigningKey {
  for (const { type, bytes } of pemBlocks(text)) {
    const form = getMember(PRIVATE_FORMS, type);
    const key = form && readKey(() => createPrivateKey({ key: bytes, format: "der", type: form }));
    if (key) return signingKey(key);
  }
  throw new Error("data does not contain a valid RSA or ECDSA private key");
}

/** Throws for a key type or curve that Kubernetes does not sign with. */
export function signingKey(privateKey: KeyObject): SigningKey {
  const { id, algorithm, key: publicKey } = verifyingKey(createPublicKey(privateKey));
  return { id, algorithm, privateKey, publicKey };
}

/** Throws for a key type or curve that Kubernetes does not sign with. */
export function verifyingKey(key: KeyObject): VerifyingKey {
  return { id: keyIdOf(key), algorithm: algorithmOf(key), key };
}

const PRIVATE_FORMS = { "EC PRIVATE KEY": "sec1", "RSA PRIVATE KEY": "pkcs1", "PRIVATE KEY": "pkcs8" } as const;

/** Compat: `keyIDFromPublicKey` hashes the PKIX encoding of the public key. */
function keyIdOf(key: KeyObject): string {
  return createHash("sha256")
    .update(key.export({ type: "spki", format: "der" }))
    .digest("base64url");
}

const CURVES: Readonly<Record<string, SigningAlgorithm>> = {
  prime256v1: "ES256",
  secp384r1: "ES384",
  secp521r1: "ES512",
};

function algorithmOf({ asymmetricKeyType, asymmetricKeyDetails }: KeyObject): SigningAlgorithm {
  if (asymmetricKeyType === "rsa") return "RS256";
  const algorithm = getMember(CURVES, asymmetricKeyDetails?.namedCurve ?? "");
  if (algorithm === undefined) throw new Error("unknown private key curve, must be 256, 384, or 521");
  return algorithm;
}

/** The public key in a PEM block, regardless of the block's type. */
function readPublicKey(bytes: Buffer): KeyObject | undefined {
  for (const read of PUBLIC_READERS) {
    const key = readKey(() => read(bytes));
    if (key) return key;
  }
  return undefined;
}

const PUBLIC_READERS: readonly ((key: Buffer) => KeyObject)[] = [
  (key) => createPublicKey(createPrivateKey({ key, format: "der", type: "pkcs1" })),
  (key) => createPublicKey(createPrivateKey({ key, format: "der", type: "pkcs8" })),
  (key) => createPublicKey({ key, format: "der", type: "spki" }),
  (key) => new X509Certificate(key).publicKey,
  (key) => createPublicKey(createPrivateKey({ key, format: "der", type: "sec1" })),
];

/** Undefined if the bytes are not a key, or the key is neither RSA nor ECDSA. */
function readKey(read: () => KeyObject): KeyObject | undefined {
  try {
    const key = read();
    return key.asymmetricKeyType === "rsa" || key.asymmetricKeyType === "ec" ? key : undefined;
  } catch {
    return undefined;
  }
}
