import assert from "node:assert/strict";
import { createHmac, createPublicKey, generateKeyPairSync, randomUUID, sign } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, suite, test } from "node:test";
import { signToken } from "../../src/access/authentication/service-accounts/json-web-token.ts";
import { type SigningKey, signingKey } from "../../src/access/authentication/service-accounts/keys.ts";
import type { JsonObject } from "../../src/base/api/object.ts";
import { type RunningBinnacle, startBinnacle } from "../support/binnacle.ts";
import { clientFor } from "../support/client.ts";
import { tokens } from "../support/oracle.ts";

const ISSUER = "https://kubernetes.default.svc";
const REVIEW = { kind: "SelfSubjectReview", apiVersion: "authentication.k8s.io/v1" };
const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");
const rsa = (): SigningKey => signingKey(generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey);
const [own, foreign] = [rsa(), rsa()];
const publicKey = createPublicKey(own.privateKey);

suite("forged service account tokens", () => {
  let server: RunningBinnacle;
  let folder: string;
  let uid: string;
  let decoy: Server;
  let visits = 0;
  let decoyUrl = "";

  const claims = (more: JsonObject = {}): JsonObject => {
    const now = Math.floor(Date.now() / 1000);
    const account = { namespace: "default", serviceaccount: { name: "bot", uid } };
    const times = { exp: now + 600, iat: now, nbf: now };
    const subject = "system:serviceaccount:default:bot";
    return { aud: [ISSUER], iss: ISSUER, sub: subject, jti: randomUUID(), ...times, "kubernetes.io": account, ...more };
  };
  /** Claims with any header and signature. */
  const forge = (header: JsonObject, signature: (text: string) => string, more?: JsonObject): string => {
    const text = `${encode(header)}.${encode(claims(more))}`;
    return `${text}.${signature(text)}`;
  };
  const by = (key: SigningKey) => (text: string) =>
    sign("sha256", Buffer.from(text), key.privateKey).toString("base64url");
  const hmac = (secret: string | Buffer) => (text: string) =>
    createHmac("sha256", secret).update(text).digest("base64url");
  const ask = async (token: string): Promise<number> =>
    (await clientFor(server.base, token).call("POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews", REVIEW))
      .status;

  before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), "binnacle-forged-"));
    const file = path.join(folder, "signing.pem");
    await writeFile(file, own.privateKey.export({ type: "pkcs8", format: "pem" }));
    server = await startBinnacle({ flags: [`--service-account-signing-key-file=${file}`] });
    const admin = clientFor(server.base, tokens.admin);
    const created = await admin.call("POST", "/api/v1/namespaces/default/serviceaccounts", {
      metadata: { name: "bot" },
    });
    uid = created.body.metadata.uid;
    decoy = createServer((_, response) => {
      visits += 1;
      response.end(JSON.stringify({ keys: [createPublicKey(foreign.privateKey).export({ format: "jwk" })] }));
    });
    await new Promise<void>((resolve) => decoy.listen(0, "127.0.0.1", resolve));
    const address = decoy.address();
    decoyUrl = `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}/jwks`;
  });
  after(async () => {
    await server?.kill();
    decoy?.close();
    await rm(folder, { recursive: true, force: true });
  });

  test("accepts a token signed with the key", async () => {
    assert.equal(await ask(signToken(claims(), own)), 201);
  });

  const forged: Readonly<Record<string, () => string>> = {
    expired: () => signToken(claims({ exp: 1 }), own),
    "of the future": () => signToken(claims({ nbf: 2 ** 40 }), own),
    "of another issuer": () => signToken(claims({ iss: "https://else" }), own),
    "for another audience": () => signToken(claims({ aud: ["else"] }), own),
    "by another key": () => signToken(claims(), foreign),
    "by another key, with the kid of ours": () => signToken(claims(), { ...foreign, id: own.id }),
    "by another key, without a kid": () => forge({ alg: "RS256" }, by(foreign)),
    "with a kid that is a path": () => forge({ alg: "RS256", kid: "../../dev/null" }, by(foreign)),
    "with a kid that every object has": () => forge({ alg: "RS256", kid: "__proto__" }, by(foreign)),
    "with a kid that is no text": () => forge({ alg: "RS256", kid: { toString: "x" } }, by(foreign)),
    "with alg none": () => forge({ alg: "none" }, () => ""),
    "with alg None": () => forge({ alg: "None", kid: own.id }, () => ""),
    "with no alg": () => forge({ kid: own.id }, by(own)),
    "with alg HS256 by the public key as PEM": () =>
      forge({ alg: "HS256", kid: own.id }, hmac(publicKey.export({ type: "spki", format: "pem" }))),
    "with alg HS256 by the public key as DER": () =>
      forge({ alg: "HS256", kid: own.id }, hmac(publicKey.export({ type: "spki", format: "der" }))),
    "with alg ES256 for an RSA key": () => forge({ alg: "ES256", kid: own.id }, by(own)),
    "with a key of its own (jwk)": () =>
      forge(
        { alg: "RS256", jwk: createPublicKey(foreign.privateKey).export({ format: "jwk" }) as JsonObject },
        by(foreign),
      ),
    "with a place for keys of its own (jku)": () => forge({ alg: "RS256", kid: "x", jku: decoyUrl }, by(foreign)),
    "with a certificate of its own (x5u)": () => forge({ alg: "RS256", x5u: decoyUrl, x5c: ["x"] }, by(foreign)),
    "with critical members": () => forge({ alg: "RS256", kid: own.id, crit: ["x"], x: 1 }, by(own)),
    "without a signature": () => `${signToken(claims(), own).split(".").slice(0, 2).join(".")}.`,
    "with the claims of another": () => {
      const [header, , signature] = signToken(claims(), own).split(".");
      return `${header}.${encode(claims({ sub: "system:serviceaccount:kube-system:admin" }))}.${signature}`;
    },
    "of an account that is none": () =>
      signToken(
        claims({ "kubernetes.io": { namespace: "../x", serviceaccount: { name: "../../secrets/x", uid } } }),
        own,
      ),
    "of an account with another uid": () =>
      signToken(claims({ "kubernetes.io": { namespace: "default", serviceaccount: { name: "bot", uid: "x" } } }), own),
    "without claims of Kubernetes": () => signToken(claims({ "kubernetes.io": undefined }), own),
    "with claims of the wrong types": () => signToken(claims({ "kubernetes.io": [], exp: "never" }), own),
  };
  for (const [what, make] of Object.entries(forged)) {
    test(`${what}: 401`, async () => assert.equal(await ask(make()), 401));
  }

  test("no keys were fetched", () => {
    assert.equal(visits, 0);
  });
});
