import { constants, sign, verify } from "node:crypto";
import { isObject, type JsonObject } from "../../../base/api/object.ts";
import { getMember } from "../../../base/util/members.ts";
import { parseJsonText } from "../../../base/util/parse-json.ts";
import type { SigningKey, VerifyingKey } from "./keys.ts";

/** A parsed token in compact form, not yet verified. */
export interface UnverifiedToken {
  /** `alg` of the header. Empty if absent. */
  readonly algorithm: string;
  /** `kid` of the header. Empty if absent. */
  readonly keyId: string;
  /** Untrusted until `isSignedBy` returns true. */
  readonly claims: JsonObject;
  readonly signed: string;
  readonly signature: Buffer;
  /** The header has critical members (`crit`, `b64`), which are not supported. */
  readonly isCritical: boolean;
}

/** Maximum length of a token. Tokens of Kubernetes have about 1 KB; request headers have at most 16 KB. */
const MAX_LENGTH = 64 * 1024;

/** Returns undefined if the text is not a JWS in compact form with a JSON object as its payload. */
export function parseToken(token: string): UnverifiedToken | undefined {
  if (token.length > MAX_LENGTH) return undefined;
  const first = token.indexOf(".");
  const second = token.indexOf(".", first + 1);
  if (first < 0 || second < 0 || token.includes(".", second + 1)) return undefined;
  const claims = decodeObject(token.slice(first + 1, second));
  const header = claims && decodeObject(token.slice(0, first));
  const signature = token.slice(second + 1);
  if (!claims || !header || !isBase64Url(signature)) return undefined;
  const { alg = "", kid = "", nonce = "" } = header;
  if (typeof alg !== "string" || typeof kid !== "string" || typeof nonce !== "string") return undefined;
  return {
    algorithm: alg,
    keyId: kid,
    claims,
    signed: token.slice(0, second),
    signature: Buffer.from(signature, "base64url"),
    isCritical: header.crit !== undefined || header.b64 === false,
  };
}

/**
 * Whether the key has signed the token. The key determines the allowed algorithms, never the token: `none` and HMAC are
 * not among them.
 */
export function isSignedBy(token: UnverifiedToken, { algorithm, key }: VerifyingKey): boolean {
  const kind = algorithm === "RS256" ? RSA : ELLIPTIC[algorithm];
  const row = getMember(kind, token.algorithm);
  if (row === undefined || token.isCritical) return false;
  const { hash, ...options } = row;
  return verify(hash, Buffer.from(token.signed), { key, ...options }, token.signature);
}

/** Returns the signed token in compact form. */
export function signToken(claims: JsonObject, { id, algorithm, privateKey }: SigningKey): string {
  const encode = (value: JsonObject) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const signed = `${encode({ alg: algorithm, kid: id })}.${encode(claims)}`;
  const { hash, ...options } = SIGNING[algorithm];
  const signature = sign(hash, Buffer.from(signed), { key: privateKey, ...options });
  return `${signed}.${signature.toString("base64url")}`;
}

const pss = { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: constants.RSA_PSS_SALTLEN_AUTO };
const elliptic = { dsaEncoding: "ieee-p1363" } as const;

interface Parameters {
  readonly hash: string;
  readonly padding?: number;
  readonly saltLength?: number;
  readonly dsaEncoding?: "ieee-p1363";
}

/**
 * Compat: `rsaEncrypterVerifier` of go-jose accepts each of these as `alg`, although only RS256 is used for signing.
 */
const RSA: Readonly<Record<string, Parameters>> = {
  RS256: { hash: "sha256" },
  RS384: { hash: "sha384" },
  RS512: { hash: "sha512" },
  PS256: { hash: "sha256", ...pss },
  PS384: { hash: "sha384", ...pss },
  PS512: { hash: "sha512", ...pss },
};

const ELLIPTIC = {
  ES256: { ES256: { hash: "sha256", ...elliptic } },
  ES384: { ES384: { hash: "sha384", ...elliptic } },
  ES512: { ES512: { hash: "sha512", ...elliptic } },
} satisfies Record<string, Readonly<Record<string, Parameters>>>;

const SIGNING: Readonly<Record<SigningKey["algorithm"], Parameters>> = {
  RS256: { hash: "sha256" },
  ES256: ELLIPTIC.ES256.ES256,
  ES384: ELLIPTIC.ES384.ES384,
  ES512: ELLIPTIC.ES512.ES512,
};

const isBase64Url = (text: string): boolean => /^[\w-]*$/.test(text) && text.length % 4 !== 1;

function decodeObject(text: string): JsonObject | undefined {
  if (!isBase64Url(text)) return undefined;
  try {
    const value: unknown = parseJsonText(Buffer.from(text, "base64url").toString());
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
