import { createHmac, generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { extension, makeCa, makeCertificate, OID, person } from "../../../base/pki/certificates.suite.ts";
import { sequence, taggedBytes } from "../../../base/pki/der.ts";

/** Response bodies by path. Undefined: 404. */
type Routes = Map<string, () => string | Buffer | undefined>;

/** An OpenID Connect issuer on loopback. */
export interface TestIssuer {
  readonly url: string;
  /** CA of its certificate, in PEM. */
  readonly authority: string;
  /** Response bodies by path. May be changed. */
  readonly routes: Routes;
  /** Number of requests by path. */
  readonly asked: Map<string, number>;
  readonly key: TestKey;
  /** The published keys. May be changed. */
  keys: TestKey[];
  /** Returns a token with these claims in addition to issuer, audience and times. */
  token(claims?: Record<string, unknown>, options?: TokenOptions): string;
  close(): Promise<void>;
}

/** A key to sign tokens with. */
export interface TestKey {
  readonly id: string;
  readonly algorithm: "RS256" | "ES256";
  readonly privateKey: KeyObject;
  readonly publicKey: KeyObject;
}

/** How a token differs from a valid one. */
export interface TokenOptions {
  readonly key?: TestKey;
  readonly header?: Record<string, unknown>;
  /** Sign with HS256 and this secret. */
  readonly secret?: string | Buffer;
  /** Omit the signature. */
  readonly isUnsigned?: boolean;
}

/** Generates a key. */
export function makeTestKey(id: string, algorithm: TestKey["algorithm"] = "RS256"): TestKey {
  const pair =
    algorithm === "RS256"
      ? generateKeyPairSync("rsa", { modulusLength: 2048 })
      : generateKeyPairSync("ec", { namedCurve: "P-256" });
  return { id, algorithm, ...pair };
}

const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString("base64url");

/** Returns a token with exactly these claims. */
export function signToken(claims: Record<string, unknown>, key: TestKey, options: TokenOptions = {}): string {
  const header = { alg: key.algorithm, kid: key.id, typ: "JWT", ...options.header };
  const signed = `${encode(header)}.${encode(claims)}`;
  if (options.isUnsigned) return `${signed}.`;
  const signature =
    options.secret === undefined
      ? sign("sha256", Buffer.from(signed), { key: key.privateKey, dsaEncoding: "ieee-p1363" })
      : createHmac("sha256", options.secret).update(signed).digest();
  return `${signed}.${signature.toString("base64url")}`;
}

/** The JSON web key that an issuer publishes. */
export function publicJwk({ id, algorithm, publicKey }: TestKey): Record<string, unknown> {
  return { ...publicKey.export({ format: "jwk" }), kid: id, alg: algorithm, use: "sig" };
}

/** Starts an issuer. */
export async function startIssuer(): Promise<TestIssuer> {
  const authority = makeCa("issuers");
  const serving = makeCertificate({
    issuer: authority,
    subject: person("issuer"),
    usages: [OID.serverAuth],
    extensions: [extension("2.5.29.17", sequence(taggedBytes(7, Buffer.from([127, 0, 0, 1]))))],
  });
  const routes: Routes = new Map();
  const asked = new Map<string, number>();
  const server = createServer({ cert: serving.pem, key: serving.keyPem }, (request, response) => {
    const path = request.url ?? "";
    asked.set(path, (asked.get(path) ?? 0) + 1);
    const route = routes.get(path);
    if (route === undefined) return void response.writeHead(404).end();
    const body = route();
    if (body !== undefined) response.writeHead(200, { "content-type": "application/json" }).end(body);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const key = makeTestKey("one");
  const issuer: TestIssuer = {
    url,
    authority: authority.pem,
    routes,
    asked,
    key,
    keys: [key],
    token(claims = {}, options = {}) {
      const now = Math.floor(Date.now() / 1000);
      const all = { iss: url, aud: "binnacle", sub: "alice", tenant: "x", iat: now, exp: now + 3600, ...claims };
      return signToken(all, options.key ?? key, options);
    },
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
  routes.set("/.well-known/openid-configuration", () => JSON.stringify({ issuer: url, jwks_uri: `${url}/keys` }));
  routes.set("/keys", () => JSON.stringify({ keys: issuer.keys.map(publicJwk) }));
  return issuer;
}
