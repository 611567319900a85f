import { createHmac, generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { extension, makeAuthority, makeCertificate, OID, person } from "../../lib/x509/certificates.suite.ts";
import { sequence, taggedBytes } from "../../lib/x509/der.ts";

/** What the issuer answers at a path; undefined: 404. */
type Routes = Map<string, () => string | Buffer | undefined>;

/** An issuer of OpenID Connect on loopback. */
export interface TestIssuer {
  readonly url: string;
  /** Authority of its certificate, in PEM. */
  readonly authority: string;
  /** What is answered, by path; may be changed. */
  readonly routes: Routes;
  /** How often each path was asked for. */
  readonly asked: Map<string, number>;
  readonly key: TestKey;
  /** The keys that it publishes; may be changed. */
  keys: TestKey[];
  /** A token with these claims besides issuer, audience and times. */
  token(claims?: Record<string, unknown>, options?: TokenOptions): string;
  close(): Promise<void>;
}

/** A key that signs tokens. */
export interface TestKey {
  readonly id: string;
  readonly algorithm: "RS256" | "ES256";
  readonly privateKey: KeyObject;
  readonly publicKey: KeyObject;
}

/** How a token differs from a good one. */
export interface TokenOptions {
  readonly key?: TestKey;
  readonly header?: Record<string, unknown>;
  /** Signs with this secret, by HS256. */
  readonly secret?: string | Buffer;
  /** No signature at all. */
  readonly isUnsigned?: boolean;
}

/** A new key. */
export function makeTestKey(id: string, algorithm: TestKey["algorithm"] = "RS256"): TestKey {
  const pair =
    algorithm === "RS256"
      ? generateKeyPairSync("rsa", { modulusLength: 2048 })
      : generateKeyPairSync("ec", { namedCurve: "P-256" });
  return { id, algorithm, ...pair };
}

const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString("base64url");

/** A token with these claims, whatever they are. */
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

/** Starts an issuer. `at` is a path below which it is. */
export async function startIssuer(): Promise<TestIssuer> {
  const authority = makeAuthority("issuers");
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
