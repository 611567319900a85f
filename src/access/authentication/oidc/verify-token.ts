import type { KeyObject } from "node:crypto";
import { isObject, type Json, type JsonObject } from "../../../base/api/object.ts";
import { getMember } from "../../../base/util/members.ts";
import { parseJsonText } from "../../../base/util/parse-json.ts";
import { AuthenticationError } from "../authenticator.ts";
import type { IssuerKey, IssuerKeys } from "./issuer-keys.ts";

/**
 * Signature algorithms that an issuer may use. All are asymmetric, so that a public key cannot serve as a shared
 * secret.
 */
export const SIGNING_ALGORITHMS: readonly string[] = [
  "ES256",
  "ES384",
  "ES512",
  "PS256",
  "PS384",
  "PS512",
  "RS256",
  "RS384",
  "RS512",
];

/** What a token is verified against. */
export interface Expected {
  readonly issuer: string;
  readonly audiences: readonly string[];
  readonly algorithms: readonly string[];
  readonly keys: IssuerKeys;
  readonly now: number;
}

/** Tolerated clock skew for `nbf`. */
const NOT_BEFORE_LEEWAY_MS = 60_000;
const GOOGLE = "https://accounts.google.com";

/** The issuer that an unverified token names. Undefined if the text is not a JWT in compact form. */
export function claimedIssuer(token: string): string | undefined {
  const parts = token.split(".", 4);
  if (parts.length !== 3) return undefined;
  const { iss } = parsePart(parts[1] ?? "") ?? {};
  if (iss === "accounts.google.com") return GOOGLE;
  return typeof iss === "string" ? iss : undefined;
}

/** Verifies signature, issuer, audience and times of a token, and returns its claims. Throws AuthenticationError. */
export async function verifyToken(token: string, expected: Expected): Promise<JsonObject> {
  const header = parsePart(token.slice(0, token.indexOf(".")));
  if (header === undefined) throw wrong("oidc: malformed jwt");
  const { alg, kid } = header;
  if (typeof alg !== "string" || !expected.algorithms.includes(alg)) {
    const list = `[${expected.algorithms.map((name) => `"${name}"`).join(" ")}]`;
    throw wrong(`oidc: id token signed with unsupported algorithm, expected ${list} got ${JSON.stringify(alg ?? "")}`);
  }
  const claims = await verifySignature(token, alg, typeof kid === "string" ? kid : "", expected.keys);
  checkClaims(claims, expected);
  return claims;
}

/** The members `jku`, `x5u` and `jwk` of the header are ignored: a token must not choose its own key. */
async function verifySignature(token: string, algorithm: string, id: string, keys: IssuerKeys): Promise<JsonObject> {
  const found =
    (await tryKeys(token, algorithm, id, keys.current)) ?? (await tryKeys(token, algorithm, id, await fresh(keys)));
  if (found === undefined) throw wrong("failed to verify signature: failed to verify id token signature");
  return found;
}

async function fresh(keys: IssuerKeys): Promise<readonly IssuerKey[]> {
  const before = keys.current;
  try {
    const now = await keys.refresh();
    return now === before ? [] : now;
  } catch (error) {
    throw wrong(`failed to verify signature: fetching keys ${error instanceof Error ? error.message : ""}`);
  }
}

async function tryKeys(
  token: string,
  algorithm: string,
  id: string,
  keys: readonly IssuerKey[],
): Promise<JsonObject | undefined> {
  const fitting = keys.filter((key) => (id === "" || key.id === id) && isFor(algorithm, key.key));
  if (fitting.length === 0) return undefined;
  const { compactVerify, errors } = await import("jose");
  for (const { key } of fitting) {
    try {
      const { payload } = await compactVerify(token, key, { algorithms: [algorithm] });
      return readClaims(payload);
    } catch (error) {
      // jose throws a TypeError for keys that are too short.
      if (!(error instanceof errors.JOSEError || error instanceof TypeError)) throw error;
    }
  }
  return undefined;
}

const CURVES: Readonly<Record<string, string>> = { ES256: "prime256v1", ES384: "secp384r1", ES512: "secp521r1" };

/** Whether a key is of the type that an algorithm signs with. */
function isFor(algorithm: string, { asymmetricKeyType, asymmetricKeyDetails }: KeyObject): boolean {
  const curve = getMember(CURVES, algorithm);
  if (curve === undefined) return asymmetricKeyType === "rsa";
  return asymmetricKeyType === "ec" && asymmetricKeyDetails?.namedCurve === curve;
}

function readClaims(payload: Uint8Array): JsonObject {
  try {
    const claims: unknown = parseJsonText(Buffer.from(payload).toString());
    if (isObject(claims)) return claims;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  throw wrong("oidc: failed to unmarshal claims");
}

/** Claims that are strings in go-oidc's `idToken`. */
const TEXT_CLAIMS = ["iss", "sub", "nonce", "at_hash"];

function checkClaims(claims: JsonObject, { issuer, audiences, now }: Expected): void {
  for (const name of TEXT_CLAIMS) {
    const value = getMember(claims, name) ?? null;
    if (value !== null && typeof value !== "string") throw malformed(value, name, "string");
  }
  const { iss, aud = [], exp, nbf } = claims;
  if (iss !== issuer && !(issuer === GOOGLE && iss === "accounts.google.com")) {
    const got = JSON.stringify(iss ?? "");
    throw wrong(`oidc: id token issued by a different provider, expected "${issuer}" got ${got}`);
  }
  const meant = typeof aud === "string" ? [aud] : aud;
  if (!Array.isArray(meant) || !meant.every((one) => typeof one === "string")) {
    throw wrong("oidc: failed to unmarshal claims: aud is neither a string nor a list of strings");
  }
  if (!meant.some((one) => audiences.includes(one as string))) {
    const list = (items: readonly unknown[]): string => `[${items.map((item) => JSON.stringify(item)).join(" ")}]`;
    const [only] = audiences;
    throw wrong(
      audiences.length === 1
        ? `oidc: expected audience ${JSON.stringify(only)} got ${list(meant)}`
        : `oidc: expected audience in ${list([...audiences].sort())} got ${list(meant)}`,
    );
  }
  const expires = seconds(exp, "exp") ?? Number.NEGATIVE_INFINITY;
  if (expires * 1000 < now) throw wrong(`oidc: token is expired (Token Expiry: ${print(expires)})`);
  const begins = seconds(nbf, "nbf");
  if (begins !== undefined && now + NOT_BEFORE_LEEWAY_MS < begins * 1000) {
    throw wrong(`oidc: current time ${print(now / 1000)} before the nbf (not before) time: ${print(begins)}`);
  }
}

function malformed(value: Json, name: string, type: string): AuthenticationError {
  const found = Array.isArray(value) ? "array" : typeof value === "boolean" ? "bool" : typeof value;
  const text = `json: cannot unmarshal ${found} into Go struct field idToken.${name} of type ${type}`;
  return wrong(`oidc: failed to unmarshal claims: ${text}`);
}

/** go-oidc parses times as Go's `json.Number`, which may be a string. */
function seconds(value: Json | undefined, name: string): number | undefined {
  if (value === undefined || value === null) return undefined;
  const isNumber = typeof value === "number" || (typeof value === "string" && /^-?\d{1,15}$/.test(value));
  if (!isNumber) throw malformed(value, name, "json.Number");
  return Math.trunc(Number(value));
}

/** Formats a time in whole seconds like Go. Without one, prints Go's zero value. */
function print(time: number): string {
  const isTime = Math.abs(time) < 8.64e12;
  const text = isTime ? new Date(time * 1000).toISOString().slice(0, 19) : "0001-01-01T00:00:00";
  return `${text.replace("T", " ")} +0000 UTC`;
}

/** Decodes one part of a token. Undefined if it is not a JSON object. */
function parsePart(text: string): JsonObject | undefined {
  if (!/^[A-Za-z0-9_-]+$/.test(text)) return undefined;
  try {
    const value: unknown = parseJsonText(Buffer.from(text, "base64url").toString());
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function wrong(text: string): AuthenticationError {
  return new AuthenticationError(`oidc: verify token: ${text}`);
}
