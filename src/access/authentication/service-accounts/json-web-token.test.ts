import assert from "node:assert/strict";
import { createHmac, createPublicKey, generateKeyPairSync, sign } from "node:crypto";
import { test } from "node:test";
import { isSignedBy, parseToken, signToken } from "./json-web-token.ts";
import { type SigningKey, signingKey, verifyingKey } from "./keys.ts";

const rsa = signingKey(generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey);
const keys = [
  rsa,
  ...["P-256", "P-384", "P-521"].map((namedCurve) => signingKey(generateKeyPairSync("ec", { namedCurve }).privateKey)),
];
const publicOf = ({ privateKey }: SigningKey) => verifyingKey(createPublicKey(privateKey));
const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");
const claims = { iss: "i", sub: "s", text: "ä" };

function isGood(token: string, key: SigningKey): boolean {
  const parsed = parseToken(token);
  return parsed !== undefined && isSignedBy(parsed, publicOf(key));
}

test("verifies a token only with the key that signed it", () => {
  for (const key of keys) {
    const token = signToken(claims, key);
    const parsed = parseToken(token);
    assert.deepEqual([parsed?.claims, parsed?.keyId, parsed?.algorithm], [claims, key.id, key.algorithm]);
    assert.deepEqual(
      keys.map((other) => isGood(token, other)),
      keys.map((other) => other === key),
    );
    const [head, , signature] = token.split(".");
    assert.equal(isGood(`${head}.${encode({ ...claims, sub: "t" })}.${signature}`, key), false);
    assert.equal(isGood(`${head}.${encode(claims)}.`, key), false);
    assert.equal(isGood(`${token.slice(0, -4)}AAAA`, key), false);
  }
});

test("accepts all algorithms of the key's type, like go-jose, and no others", () => {
  const signedAs = (alg: string, hash: string, header = {}) => {
    const text = `${encode({ alg, ...header })}.${encode(claims)}`;
    return `${text}.${sign(hash, Buffer.from(text), rsa.privateKey).toString("base64url")}`;
  };
  assert.ok(isGood(signedAs("RS512", "sha512"), rsa));
  for (const alg of ["ES256", "none", "NONE", "HS256", "", "constructor", "RS256 "]) {
    assert.equal(isGood(signedAs(alg, "sha256"), rsa), false, alg);
  }
  assert.equal(isGood(signedAs("RS256", "sha256", { crit: ["exp"], exp: 1 }), rsa), false);
});

test("rejects HMAC with the public key as the secret", () => {
  const text = `${encode({ alg: "HS256", kid: rsa.id })}.${encode(claims)}`;
  for (const secret of ["spki", "pkcs1"] as const) {
    const pem = createPublicKey(rsa.privateKey).export({ type: secret, format: "pem" });
    assert.equal(isGood(`${text}.${createHmac("sha256", pem).update(text).digest("base64url")}`, rsa), false);
  }
  assert.equal(isGood(`${encode({ alg: "none" })}.${encode(claims)}.`, rsa), false);
  const jwk = createPublicKey(rsa.privateKey).export({ format: "jwk" });
  const other = signingKey(generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey);
  const own = `${encode({ alg: "RS256", jwk, jku: "https://x/", x5c: ["x"] })}.${encode(claims)}`;
  assert.equal(
    isGood(`${own}.${sign("sha256", Buffer.from(own), other.privateKey).toString("base64url")}`, rsa),
    false,
  );
});

test("rejects texts that are not a token in compact form", () => {
  const header = encode({ alg: "RS256" });
  const texts = [
    "",
    "a",
    "a.b.c",
    `${header}.${encode(claims)}`,
    `${header}.${encode(claims)}.x.y`,
    `${header}.${encode([])}.AAAA`,
    `${encode("x")}.${encode(claims)}.AAAA`,
    `${encode({ alg: 1 })}.${encode(claims)}.AAAA`,
    `${encode({ alg: "RS256", kid: {} })}.${encode(claims)}.AAAA`,
    `${header}.${encode(claims)}.A+/=`,
    `${header}.${encode(claims)}=.AAAA`,
    `${header}.${encode({ a: "x".repeat(70_000) })}.AAAA`,
  ];
  for (const text of texts) assert.equal(parseToken(text), undefined, text.slice(0, 60));
});
