import assert from "node:assert/strict";
import { createHash, generateKeyPairSync, type KeyObject } from "node:crypto";
import { test } from "node:test";
import { parseSigningKey, parseVerifyingKeys } from "./keys.ts";

const rsa = generateKeyPairSync("rsa", { modulusLength: 2048 });
const curves = { ES256: "P-256", ES384: "P-384", ES512: "P-521" } as const;
const pair = (curve: string) => generateKeyPairSync("ec", { namedCurve: curve });
const pem = (key: KeyObject, type: "pkcs1" | "pkcs8" | "sec1" | "spki") =>
  key.export({ type, format: "pem" } as never).toString();
const idOf = (key: KeyObject) =>
  createHash("sha256")
    .update(key.export({ type: "spki", format: "der" }))
    .digest("base64url");

test("parses public keys, private keys and other blocks in any order", () => {
  const p256 = pair("P-256");
  const other = "-----BEGIN EC PARAMETERS-----\nBggqhkjOPQMBBw==\n-----END EC PARAMETERS-----\n";
  const text = [
    pem(rsa.publicKey, "spki"),
    other,
    pem(p256.privateKey, "sec1"),
    "remark\n",
    pem(rsa.privateKey, "pkcs8"),
  ];
  const keys = parseVerifyingKeys(text.join(""));
  assert.deepEqual(
    keys.map(({ id, algorithm }) => [id, algorithm]),
    [
      [idOf(rsa.publicKey), "RS256"],
      [idOf(p256.publicKey), "ES256"],
      [idOf(rsa.publicKey), "RS256"],
    ],
  );
  assert.ok(keys.every(({ key }) => key.type === "public"));
  assert.equal(parseVerifyingKeys(pem(rsa.privateKey, "pkcs1")).length, 1);
});

test("rejects a file without keys", () => {
  const ed25519 = generateKeyPairSync("ed25519");
  const texts = ["", "no key", pem(ed25519.publicKey, "spki")];
  for (const text of texts) {
    assert.throws(() => parseVerifyingKeys(text), /^Error: data does not contain any valid RSA or ECDSA public keys$/);
  }
  for (const text of ["", pem(rsa.publicKey, "spki"), pem(ed25519.privateKey, "pkcs8")]) {
    assert.throws(() => parseSigningKey(text), /^Error: data does not contain a valid RSA or ECDSA private key$/);
  }
  const unknown = /^Error: unknown private key curve, must be 256, 384, or 521$/;
  assert.throws(() => parseSigningKey(pem(pair("secp256k1").privateKey, "pkcs8")), unknown);
});

test("derives the algorithm from the curve", () => {
  assert.equal(parseSigningKey(pem(rsa.privateKey, "pkcs1")).algorithm, "RS256");
  for (const [algorithm, curve] of Object.entries(curves)) {
    const { privateKey, publicKey } = pair(curve);
    const key = parseSigningKey(pem(privateKey, "pkcs8"));
    assert.deepEqual([key.algorithm, key.id], [algorithm, idOf(publicKey)]);
  }
});
