import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer, type IncomingMessage, type Server } from "node:http";
import { request } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, suite, test } from "node:test";
import {
  makeTestKey,
  publicJwk,
  startIssuer,
  type TestIssuer,
} from "../../src/access/authentication/oidc/issuer.suite.ts";
import {
  extension,
  type MadeCertificate,
  makeCa,
  makeCertificate,
  OID,
  person,
} from "../../src/base/pki/certificates.suite.ts";
import { sequence } from "../../src/base/pki/der.ts";
import { type RunningBinnacle, startBinnacle } from "../support/binnacle.ts";
import { clientFor } from "../support/client.ts";
import { type Oracle, startOracle, tokens } from "../support/oracle.ts";
import { eventually } from "../support/time.ts";
import { needs } from "../support/tools.ts";

const HOUR = 3_600_000;
const clients = makeCa("clients");
const proxies = makeCa("proxies");
const WHOAMI = "/apis/authentication.k8s.io/v1/selfsubjectreviews";
const REVIEWS = "/apis/authentication.k8s.io/v1/tokenreviews";

/** Names and values, in the order and spelling in which they are sent. */
type Fields = readonly (readonly [name: string, value: string])[];

interface Shown {
  readonly chain?: readonly MadeCertificate[];
  readonly headers?: Fields;
  readonly path?: string;
}

const bearer = (token: string): Fields => [["Authorization", `Bearer ${token}`]];
const spoof: Fields = [
  ["X-Remote-User", "admin"],
  ["X-Remote-Group", "system:masters"],
  ["X-Remote-Uid", "0"],
  ["X-Remote-Extra-Scopes", "all"],
];
const alice = makeCertificate({ issuer: clients, subject: [...person("alice", "dev", "ops"), [OID.uid, "u-1"]] });
const front = makeCertificate({ issuer: proxies, subject: person("front") });
const between = makeCa("between", { issuer: clients });
const short = makeCa("short", { issuer: clients, maxPathLength: 0 });
const belowShort = makeCa("below", { issuer: short });
const noSigner = makeCertificate({ issuer: clients, subject: person("no-signer") });
const foreign = makeCertificate({ issuer: makeCa("foreign"), subject: person("admin", "system:masters") });
const of = (more: Parameters<typeof makeCertificate>[0] = {}): readonly MadeCertificate[] => [
  makeCertificate({ issuer: clients, subject: person("alice"), ...more }),
];

/** Credentials for both servers; both must authenticate the same user, or reject them alike. */
const SHOWN: Readonly<Record<string, Shown>> = {
  nothing: {},
  "nothing, discovery": { path: "/api" },
  "nothing, health": { path: "/livez" },
  "a token": { headers: bearer(tokens.alice) },
  "a wrong token": { headers: bearer("wrong") },
  "a wrong token, health": { headers: bearer("wrong"), path: "/livez" },
  "a token in another spelling": { headers: [["AUTHORIZATION", `bEARER ${tokens.alice}`]] },
  "two tokens": { headers: [...bearer(tokens.alice), ...bearer(tokens.admin)] },
  "basic credentials": { headers: [["Authorization", `Basic ${Buffer.from("a:b").toString("base64")}`]] },
  "an empty token": { headers: [["Authorization", "Bearer "]] },
  "two spaces": { headers: [["Authorization", `Bearer  ${tokens.alice}`]] },
  "a certificate": { chain: [alice] },
  "a certificate and a wrong token": { chain: [alice], headers: bearer("wrong") },
  "a certificate and the token of another": { chain: [alice], headers: bearer(tokens.admin) },
  "a foreign certificate": { chain: [foreign] },
  "a foreign certificate, health": { chain: [foreign], path: "/livez" },
  "a foreign certificate and a token": { chain: [foreign], headers: bearer(tokens.alice) },
  "a self-signed certificate": { chain: [makeCertificate({ subject: person("admin", "system:masters") })] },
  "an authority's name": { chain: [makeCertificate({ subject: person("clients") })] },
  "an expired certificate": { chain: of({ from: Date.now() - 2 * HOUR, to: Date.now() - HOUR }) },
  "a certificate of tomorrow": { chain: of({ from: Date.now() + 20 * HOUR }) },
  "a certificate for servers": { chain: of({ usages: [OID.serverAuth] }) },
  "a certificate for both": { chain: of({ usages: [OID.serverAuth, OID.clientAuth] }) },
  "a certificate for anything": { chain: of({ usages: [OID.any] }) },
  "a certificate without usages": { chain: of({ usages: [] }) },
  "a forged signature": { chain: of({ signWith: foreign.privateKey }) },
  "a critical extension": { chain: of({ extensions: [extension("1.2.3.4", sequence(), true)] }) },
  "no common name": { chain: of({ subject: [[OID.organization, "system:masters"]] }) },
  "two common names": { chain: of({ subject: [...person("first"), ...person("last")] }) },
  "the group system:unauthenticated": { chain: of({ subject: person("bob", "system:unauthenticated") }) },
  "the name system:anonymous": { chain: of({ subject: person("system:anonymous", "x") }) },
  "two uids": { chain: of({ subject: [...person("a"), [OID.uid, "x"], [OID.uid, "y"]] }) },
  "an empty uid": { chain: of({ subject: [...person("a"), [OID.uid, ""]] }) },
  "a chain without its middle": { chain: [makeCertificate({ issuer: between, subject: person("deep") })] },
  "a chain that is too long": {
    chain: [makeCertificate({ issuer: belowShort, subject: person("x") }), belowShort, short],
  },
  "a signer that may not sign": { chain: [makeCertificate({ issuer: noSigner, subject: person("x") }), noSigner] },
  "proxy headers without a certificate": { headers: spoof },
  "proxy headers in lower case": { headers: spoof.map(([name, value]) => [name.toLowerCase(), value]) },
  "proxy headers in upper case": { headers: spoof.map(([name, value]) => [name.toUpperCase(), value]) },
  "proxy headers twice": { headers: [...spoof, ...spoof] },
  "proxy headers and a token": { headers: [...spoof, ...bearer(tokens.alice)] },
  "proxy headers with a client's certificate": { chain: [alice], headers: spoof },
  "proxy headers with a foreign certificate": { chain: [foreign], headers: spoof },
  "proxy headers with another proxy's name": {
    chain: [makeCertificate({ issuer: proxies, subject: person("other") })],
    headers: spoof,
  },
  "proxy headers with a proxy's server certificate": {
    chain: [makeCertificate({ issuer: proxies, subject: person("front"), usages: [OID.serverAuth] })],
    headers: spoof,
  },
  "a proxy's certificate alone": { chain: [front] },
  "a proxy's certificate and a token": { chain: [front], headers: bearer(tokens.alice) },
  "a proxy without a user": { chain: [front], headers: [["X-Remote-Group", "system:masters"]] },
  "a proxy": {
    chain: [front],
    headers: [
      ["X-Remote-User", "carol"],
      ["x-remote-group", "a"],
      ["X-Remote-Group", ""],
      ["X-REMOTE-GROUP", "b, c"],
      ["X-Remote-Uid", "u-7"],
      ["X-Remote-Extra-Example.com%2Fscopes", "x"],
      ["x-remote-extra-example.com%2fscopes", "y"],
      ["X-Remote-Extra-100%", "z"],
    ],
  },
  "a proxy that names two users": {
    chain: [front],
    headers: [
      ["X-Remote-User", ""],
      ["X-Remote-User", "second"],
      ["X-Second", "third"],
    ],
  },
  "a proxy for system:anonymous": { chain: [front], headers: [["X-Remote-User", "system:anonymous"]] },
  "a bootstrap token": { headers: bearer("abcdef.0123456789abcdef") },
  "a bootstrap token that is wrong": { headers: bearer("abcdef.0123456789abcdeg") },
  "a bootstrap token for signing": { headers: bearer("signin.0123456789abcdef") },
  "an expired bootstrap token": { headers: bearer("oldold.0123456789abcdef") },
  "a bootstrap token with a group of others": { headers: bearer("groups.0123456789abcdef") },
  "a bootstrap token of another type": { headers: bearer("opaque.0123456789abcdef") },
  "a token for the webhook": { headers: bearer("hook-good") },
  "a token that the webhook refuses": { headers: bearer("hook-bad") },
  "a token that the webhook objects to": { headers: bearer("hook-error") },
  "a token that the webhook knows for others": { headers: bearer("hook-other") },
};

const BOOTSTRAP: Readonly<Record<string, Record<string, string>>> = {
  abcdef: { "auth-extra-groups": "system:bootstrappers:z,system:bootstrappers:a" },
  signin: { "usage-bootstrap-authentication": "false" },
  oldold: { expiration: "2020-01-01T00:00:00Z" },
  groups: { "auth-extra-groups": "system:masters" },
  opaque: { type: "Opaque" },
};

suite("the same credentials at kube-apiserver and Binnacle", {
  ...needs("kube-apiserver", "etcd"),
}, () => {
  let folder: string;
  let issuer: TestIssuer;
  let other: TestIssuer;
  let hook: { readonly url: string; readonly reviews: Map<string, unknown[]>; close(): Promise<void> };
  let oracle: Oracle;
  let binnacle: RunningBinnacle;

  before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), "binnacle-authentication-"));
    [issuer, other, hook] = await Promise.all([startIssuer(), startIssuer(), startWebhook()]);
    const file = async (name: string, text: string): Promise<string> => {
      await writeFile(path.join(folder, name), text);
      return path.join(folder, name);
    };
    const flags = [
      `--client-ca-file=${await file("clients.pem", clients.pem)}`,
      `--requestheader-client-ca-file=${await file("proxies.pem", proxies.pem)}`,
      "--requestheader-allowed-names=front",
      "--requestheader-username-headers=X-Remote-User,X-Second",
      "--requestheader-uid-headers=X-Remote-Uid",
      "--requestheader-group-headers=X-Remote-Group",
      "--requestheader-extra-headers-prefix=X-Remote-Extra-",
      "--enable-bootstrap-token-auth=true",
      `--authentication-config=${await file("authentication.yaml", configurationFor(issuer, other))}`,
      `--authentication-token-webhook-config-file=${await file("hook.yaml", kubeconfigFor(hook.url))}`,
      "--authentication-token-webhook-version=v1",
    ];
    [oracle, binnacle] = await Promise.all([startOracle({ flags }), startBinnacle({ flags })]);
    for (const { base } of [oracle, binnacle]) await createSecrets(base);
    for (const { base } of [oracle, binnacle]) {
      for (const token of [issuer.token({ oid: "7" }), other.token(CLAIMS)]) {
        await eventually(async () => (await ask(base, { headers: bearer(token) })).status === 201);
      }
    }
  });
  after(async () => {
    await Promise.all([oracle?.kill(), binnacle?.kill(), issuer?.close(), other?.close(), hook?.close()]);
    await rm(folder, { recursive: true });
  });

  async function compare(shown: Shown): Promise<unknown> {
    const [theirs, ours] = await Promise.all([ask(oracle.base, shown), ask(binnacle.base, shown)]);
    assert.deepEqual(ours, theirs);
    return theirs;
  }

  for (const [name, shown] of Object.entries(SHOWN)) test(name, async () => void (await compare(shown)));

  test("tokens with claims for CEL expressions", async () => {
    let count = 0;
    for (const [name, change] of Object.entries(CHANGED)) {
      const token = other.token({ ...CLAIMS, ...change });
      const { status } = (await compare({ headers: bearer(token) })) as { status: number };
      if (status === 201) count += 1;
      const [theirs, ours] = await Promise.all([review(oracle.base, token), review(binnacle.base, token)]);
      assert.deepEqual(ours, theirs, name);
    }
    assert.ok(count > 3 && count < Object.keys(CHANGED).length - 3, `${count} are taken`);
  });

  test("valid and invalid tokens of an issuer", async () => {
    const results = new Map<string, number>();
    for (const [name, token] of Object.entries(issuerTokens(issuer))) {
      const { status } = (await compare({ headers: bearer(token) })) as { status: number };
      results.set(name, status);
      const [theirs, ours] = await Promise.all([review(oracle.base, token), review(binnacle.base, token)]);
      assert.deepEqual(ours, theirs, name);
    }
    const good = [...results].filter(([, status]) => status === 201).map(([name]) => name);
    assert.deepEqual(good, [
      "good",
      "a string for groups",
      "another audience",
      "null for groups",
      "a little early",
      "without kid",
    ]);
  });

  test("TokenReviews of tokens", async () => {
    for (const token of [tokens.alice, "wrong", "abcdef.0123456789abcdef", "hook-good", "hook-error", " x", "a b"]) {
      for (const audiences of [undefined, ["x"], ["https://kubernetes.default.svc", "x"]]) {
        const both = [oracle, binnacle].map(({ base }) => review(base, token, audiences));
        const [theirs, ours] = await Promise.all(both);
        assert.deepEqual(ours, theirs, `${token} for ${audiences}`);
      }
    }
  });

  test("both sent the same requests to the webhook", () => {
    const asked = [...hook.reviews.values()].map((reviews) => new Set(reviews.map((one) => JSON.stringify(one))));
    assert.equal(asked.length, 2, "two user agents");
    assert.deepEqual(asked[0], asked[1]);
  });
});

/** The compared parts of a response. */
async function ask(base: string, { chain = [], headers = [], path: wanted = WHOAMI }: Shown) {
  const isReview = wanted === WHOAMI;
  const [leaf] = chain;
  const identity = leaf && { cert: chain.map(({ pem }) => pem).join(""), key: leaf.keyPem };
  const all = [...headers, ...(isReview ? [["Content-Type", "application/json"] as const] : [])];
  const options = {
    method: isReview ? "POST" : "GET",
    headers: [["Host", new URL(base).host] as const, ...all].flat(),
    rejectUnauthorized: false,
    agent: false,
    ...identity,
  };
  const outgoing = request(`${base}${wanted}`, options);
  outgoing.end(isReview ? '{"kind":"SelfSubjectReview","apiVersion":"authentication.k8s.io/v1"}' : undefined);
  const [response] = (await once(outgoing, "response")) as [IncomingMessage];
  const text = Buffer.concat(await response.toArray()).toString();
  const body = text.startsWith("{") ? JSON.parse(text) : text;
  const { statusCode: status } = response;
  const { warning, "www-authenticate": challenge } = response.headers;
  return { status, warning, challenge, user: body.status?.userInfo, message: body.message, reason: body.reason };
}

async function review(base: string, token: string, audiences?: string[]) {
  const body = { kind: "TokenReview", apiVersion: "authentication.k8s.io/v1", spec: { token, audiences } };
  const { status, body: answer } = await clientFor(base, tokens.admin).call("POST", REVIEWS, body);
  return { status, review: answer.status, message: answer.message };
}

async function createSecrets(base: string): Promise<void> {
  const client = clientFor(base, tokens.admin);
  for (const [id, { type = "bootstrap.kubernetes.io/token", ...more }] of Object.entries(BOOTSTRAP)) {
    const stringData = {
      "token-id": id,
      "token-secret": "0123456789abcdef",
      "usage-bootstrap-authentication": "true",
      ...more,
    };
    const secret = { metadata: { name: `bootstrap-token-${id}` }, type, stringData };
    await eventually(async () => {
      const { status } = await client.call("POST", "/api/v1/namespaces/kube-system/secrets", secret);
      return status === 201 || status === 409;
    });
  }
}

function issuerTokens(issuer: TestIssuer): Record<string, string> {
  const now = Math.floor(Date.now() / 1000);
  const own = makeTestKey("own");
  const publicPem = issuer.key.publicKey.export({ type: "spki", format: "pem" });
  return {
    good: issuer.token({ groups: ["a", "b"], jti: "id-1", oid: "7" }),
    "a string for groups": issuer.token({ groups: "one", oid: "7" }),
    "another audience": issuer.token({ aud: ["x", "second"], oid: "7" }),
    "null for groups": issuer.token({ groups: null, oid: "7" }),
    "a little early": issuer.token({ nbf: now + 30, oid: "7" }),
    "without kid": issuer.token({ oid: "7" }, { header: { kid: undefined } }),
    "no uid": issuer.token(),
    "a number for a name": issuer.token({ sub: 5, oid: "7" }),
    "numbers for groups": issuer.token({ groups: [1], oid: "7" }),
    "without the required claim": issuer.token({ oid: "7", tenant: undefined }),
    "another tenant": issuer.token({ oid: "7", tenant: "y" }),
    expired: issuer.token({ exp: now - 10, oid: "7" }),
    "for others": issuer.token({ aud: "somebody", oid: "7" }),
    "of another issuer": issuer.token({ iss: "https://other.example", oid: "7" }),
    "the algorithm none": issuer.token({ oid: "7" }, { header: { alg: "none" }, isUnsigned: true }),
    "the public key as secret": issuer.token({ oid: "7" }, { header: { alg: "HS256" }, secret: publicPem }),
    "a key of its own": issuer.token({ oid: "7" }, { key: own, header: { jwk: publicJwk(own) } }),
    "a key elsewhere": issuer.token({ oid: "7" }, { key: own, header: { jku: `${issuer.url}/keys`, x5u: issuer.url } }),
    "an unknown kid": issuer.token({ oid: "7" }, { header: { kid: "../one" } }),
    "no token": "a.b.c",
  };
}

/** Claims that the expressions of the second issuer map to a user. */
const CLAIMS = { roles: ["dev", "", "ops"], level: 3, place: { "a.b": "x", zone: "z" }, csv: "p,q" };

/** Changed claims of the second issuer. */
const CHANGED: Readonly<Record<string, object>> = {
  nothing: {},
  "no roles": { roles: undefined },
  "a text for roles": { roles: "dev" },
  "numbers for roles": { roles: [1] },
  "null for roles": { roles: null },
  "a role that is reserved": { roles: ["system:masters"] },
  "a low level": { level: 1 },
  "a text for the level": { level: "3" },
  "a fraction for the level": { level: 2.5 },
  "a large level": { level: 1e21 },
  "a level of lists of texts": { level: 6 },
  "no place": { place: undefined },
  "a list for a place": { place: [{ "a.b": "y" }] },
  "other members of a place": { place: { zone: ["z1", "", "z2"] } },
  "an empty name": { sub: "" },
  "a number for a name": { sub: 7 },
  "a name that is reserved": { sub: "system:admin" },
  "a text of several parts": { csv: "" },
};

const EXPRESSIONS = {
  claimValidationRules: [
    { expression: "claims.level >= 2", message: "level too low" },
    { expression: "!has(claims.roles) || claims.roles == null || size(claims.roles) < 5" },
  ],
  claimMappings: {
    username: { expression: "'other:' + claims.sub" },
    groups: { expression: "has(claims.roles) ? claims.roles : []" },
    uid: { expression: "string(claims.level)" },
    extra: [
      { key: "example.com/dotted", valueExpression: "claims.?place.a__dot__b.orValue('none')" },
      { key: "example.com/zone", valueExpression: "has(claims.place) ? claims.place.zone : null" },
      { key: "example.com/mapped", valueExpression: "['a', 'b'].map(x, x + string(claims.level))" },
      { key: "example.com/split", valueExpression: "claims.level > 5 ? claims.csv.split(',') : ['x']" },
      { key: "example.com/joined", valueExpression: "claims.csv.split(',').filter(x, x != 'q')" },
    ],
  },
  userValidationRules: [
    { expression: "!user.username.startsWith('other:system:')", message: "reserved" },
    { expression: "user.groups.all(group, !group.startsWith('system:'))" },
    { expression: "!('example.com/zone' in user.extra) || user.extra['example.com/zone'].size() < 3" },
  ],
};

function configurationFor(issuer: TestIssuer, other: TestIssuer): string {
  return JSON.stringify({
    kind: "AuthenticationConfiguration",
    apiVersion: "apiserver.config.k8s.io/v1",
    jwt: [
      {
        issuer: {
          url: issuer.url,
          certificateAuthority: issuer.authority,
          audiences: ["binnacle", "second"],
          audienceMatchPolicy: "MatchAny",
        },
        claimValidationRules: [{ claim: "tenant", requiredValue: "x" }],
        claimMappings: {
          username: { claim: "sub", prefix: "oidc:" },
          groups: { claim: "groups", prefix: "oidc:" },
          uid: { claim: "oid" },
        },
      },
      {
        issuer: { url: other.url, certificateAuthority: other.authority, audiences: ["binnacle"] },
        ...EXPRESSIONS,
      },
    ],
  });
}

function kubeconfigFor(server: string): string {
  return JSON.stringify({
    kind: "Config",
    apiVersion: "v1",
    clusters: [{ name: "hook", cluster: { server } }],
    users: [{ name: "hook", user: {} }],
    contexts: [{ name: "hook", context: { cluster: "hook", user: "hook" } }],
    "current-context": "hook",
  });
}

/** Knows some tokens, and records its requests by program. */
async function startWebhook() {
  const reviews = new Map<string, unknown[]>();
  const user = { username: "hooked", uid: "h-1", groups: ["hooks"], extra: { "example.com/a": ["b"] } };
  const answers: Record<string, object> = {
    "hook-good": { authenticated: true, user },
    "hook-error": { authenticated: false, error: "the hook objects" },
    "hook-other": { authenticated: true, user, audiences: ["others"] },
  };
  const server: Server = createServer(async (message, response) => {
    const asked = JSON.parse(Buffer.concat(await message.toArray()).toString());
    const agent = (message.headers["user-agent"] ?? "").split("/")[0] ?? "";
    reviews.set(agent, [...(reviews.get(agent) ?? []), asked]);
    const status = answers[asked.spec.token] ?? { authenticated: false };
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify({ kind: asked.kind, apiVersion: asked.apiVersion, status }));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/authenticate`;
  const close = async (): Promise<void> => {
    server.closeAllConnections();
    server.close();
    await once(server, "close");
  };
  return { url, reviews, close };
}
