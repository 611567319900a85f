import assert from "node:assert/strict";
import { generateKeyPairSync } from "node:crypto";
import { mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, test } from "node:test";
import { drivenEnvironment } from "../../../base/util/environment.suite.ts";
import { defaultConfig } from "../../../programs/server/config.ts";
import { prepareAccountTokens } from "./assemble.ts";
import { parseToken } from "./json-web-token.ts";
import type { AccountTokenConfig } from "./options.ts";

let folder = "";
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "binnacle-account-tokens-"));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const defaults = defaultConfig.serviceAccounts;

function prepare(more: Partial<AccountTokenConfig> = {}) {
  const { log, lines } = drivenEnvironment();
  const config = { ...defaultConfig, certDir: path.join(folder, "data"), serviceAccounts: { ...defaults, ...more } };
  return prepareAccountTokens(config, log).then((made) => ({ ...made, lines }));
}

async function writeKey(name: string, key = generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey) {
  const file = path.join(folder, name);
  await writeFile(file, key.export({ type: "pkcs8", format: "pem" }));
  return file;
}

test("generates a missing key with mode 0600, and reuses it", async () => {
  const first = await prepare();
  const file = path.join(folder, "data", "sa.key");
  assert.equal((await stat(file)).mode & 0o777, 0o600);
  assert.deepEqual(
    first.keys.map(({ algorithm }) => algorithm),
    ["RS256"],
  );
  assert.equal((await prepare()).keys[0]?.id, first.keys[0]?.id);
  const token = parseToken(await first.issuer.sign({ iss: "x" }));
  assert.deepEqual([token?.keyId, token?.algorithm], [first.keys[0]?.id, "RS256"]);
  await writeFile(file, "");
  assert.notEqual((await prepare()).keys[0]?.id, first.keys[0]?.id, "an empty file is replaced");
  assert.notEqual(await readFile(file, "utf8"), "");
});

test("verifies with the configured keys, or with the signing key if there are none", async () => {
  const [signing, other] = [await writeKey("signing.pem"), await writeKey("other.pem")];
  const alone = await prepare({ signingKeyFile: signing });
  assert.equal(alone.keys.length, 1);
  const several = await prepare({ signingKeyFile: signing, keyFiles: [other, signing] });
  assert.equal(several.keys.length, 2);
  assert.equal(several.keys[1]?.id, alone.keys[0]?.id);
});

test("rejects invalid options with kube-apiserver's messages", async () => {
  const broken = path.join(folder, "broken.pem");
  await writeFile(broken, "no key");
  const signingKeyFile = await writeKey("signing.pem");
  const rows: [more: Partial<AccountTokenConfig>, text: RegExp][] = [
    [{ issuers: ["a", "a"] }, /^service-account-issuer "a" is already specified$/],
    [{ issuers: ["a", ""] }, /^service-account-issuer should not be an empty string$/],
    [{ maxTokenExpirationMs: 3_599_999 }, /^the service-account-max-token-expiration must be between 1 hour and 2\^32/],
    [{ maxTokenExpirationMs: 2 ** 32 * 1000 + 1 }, /must be between 1 hour and 2\^32 seconds$/],
    [{ jwksUri: "http://x/" }, /^service-account-jwks-uri requires https scheme, parsed as: http:\/\/x\/$/],
    [{ keyFiles: [broken] }, /^--service-account-signing-key-file is required with --service-account-key-file$/],
    [{ keyFiles: [broken], signingKeyFile }, /^error reading public key file .*: data does not contain any valid RSA/],
    [{ signingKeyFile: broken }, /^failed to parse service-account-issuer-key-file: data does not contain a valid RSA/],
  ];
  for (const [more, message] of rows) await assert.rejects(prepare(more), { message });
});

test("serves documents with the issuer and the location of its keys", async () => {
  const { documents, keys } = await prepare();
  const made = documents(() => "host:6443");
  assert.deepEqual(
    made.map(({ path: at }) => at),
    ["/.well-known/openid-configuration", "/openid/v1/jwks"],
  );
  assert.deepEqual(JSON.parse(made[0]?.body() ?? ""), {
    issuer: "https://kubernetes.default.svc",
    jwks_uri: "https://host:6443/openid/v1/jwks",
    response_types_supported: ["id_token"],
    subject_types_supported: ["public"],
    id_token_signing_alg_values_supported: ["RS256"],
  });
  const [key] = JSON.parse(made[1]?.body() ?? "").keys;
  assert.deepEqual(Object.keys(key), ["use", "kty", "kid", "alg", "n", "e"]);
  assert.equal(key.kid, keys[0]?.id);
  const elsewhere = (await prepare({ jwksUri: "https://keys/" })).documents(() => "");
  assert.equal(JSON.parse(elsewhere[0]?.body() ?? "").jwks_uri, "https://keys/");
});

test("serves no documents for an issuer that cannot be discovered, and logs why", async () => {
  for (const issuer of ["http://x", "x", "https://x/?a=b", "https://x/#a"]) {
    const { documents, lines } = await prepare({ issuers: [issuer] });
    assert.deepEqual(
      documents(() => ""),
      [],
    );
    assert.equal(lines.length, 1, issuer);
  }
});
