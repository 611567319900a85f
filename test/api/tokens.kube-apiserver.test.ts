import assert from "node:assert/strict";
import { createHmac, createPublicKey, generateKeyPairSync, sign } from "node:crypto";
import { after, before, suite, test } from "node:test";
import { signToken } from "../../src/access/authentication/service-accounts/json-web-token.ts";
import { type SigningKey, signingKey } from "../../src/access/authentication/service-accounts/keys.ts";
import type { JsonObject } from "../../src/base/api/object.ts";
import { eventually } from "../support/time.ts";
import { needs } from "../support/tools.ts";
import { type Both, NAMESPACE, TokenTwins } from "./token-twins.ts";

const ISSUER = "https://kubernetes.default.svc";
const REQUEST = { apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest" };
const pod = (name: string, serviceAccountName: string, nodeName?: string) => ({
  metadata: { name },
  spec: { serviceAccountName, nodeName, containers: [{ name: "c", image: "i" }] },
});
const WEBHOOK = { kind: "ValidatingWebhookConfiguration", apiVersion: "admissionregistration.k8s.io/v1", name: "x" };
const seconds = () => Math.floor(Date.now() / 1000);

suite("tokens of service accounts match kube-apiserver", {
  ...needs("kube-apiserver", "etcd"),
}, () => {
  let both: TokenTwins;
  let bot: Both;
  const bound = new Map<string, Both>();
  before(async () => {
    both = await TokenTwins.start();
    bot = await both.create("serviceaccounts", { metadata: { name: "bot" } });
    await both.create("serviceaccounts", { metadata: { name: "other" } });
    bound.set("node", await both.create("nodes", { metadata: { name: "m" } }));
    bound.set("secret", await both.create("secrets", { metadata: { name: "s" } }));
    bound.set("pod", await both.create("pods", pod("p", "bot")));
    await both.create("pods", pod("placed", "bot", "m"));
    await both.create("pods", pod("lost", "bot", "gone"));
    await both.create("pods", pod("others", "other"));
  });
  after(() => both?.stop());

  const requests: readonly JsonObject[] = [
    {},
    { spec: {} },
    { spec: { audiences: [] } },
    { spec: { audiences: null, expirationSeconds: null, boundObjectRef: null } },
    { spec: { audiences: ["a", "b", "a"] } },
    { spec: { audiences: [""] } },
    { spec: { audiences: ["<&>\u2028\u00e4"] } },
    ...[0, -1, 599, 600, 3600, 3607, 2 ** 32, 2 ** 32 + 1].map((expirationSeconds) => ({
      spec: { expirationSeconds },
    })),
    { spec: { expirationSeconds: 1, attestations: { a: ["b"] } } },
    { spec: { attestations: { admissionReviewAPIGroups: ["apps"] } } },
    { metadata: { name: "bot" } },
    { metadata: { name: "x" } },
    { metadata: { namespace: NAMESPACE } },
    { metadata: { namespace: "x" } },
    { metadata: { uid: "99999999-8888-4777-8666-555555555555" } },
    { metadata: { generateName: "x", labels: { a: "b" }, creationTimestamp: "2020-01-01T00:00:00Z" } },
    { metadata: { resourceVersion: "1" } },
    { status: { token: "x", expirationTimestamp: "2020-01-01T00:00:00Z" } },
    { kind: "TokenReview" },
    { apiVersion: "authentication.k8s.io/v1beta1" },
  ];
  const references: readonly JsonObject[] = [
    {},
    { kind: "Pod", apiVersion: "v1" },
    { kind: "Pod", apiVersion: "v1", name: "p" },
    { kind: "Pod", name: "p" },
    { kind: "Pod", apiVersion: "/v2", name: "p" },
    { kind: "Pod", apiVersion: "/", name: "p" },
    { kind: "Pod", apiVersion: "a/b/c", name: "p" },
    { kind: "Pod", apiVersion: "apps/v1", name: "p" },
    { kind: "pod", apiVersion: "v1", name: "p" },
    { kind: "Pod", apiVersion: "v1", name: "placed" },
    { kind: "Pod", apiVersion: "v1", name: "lost" },
    { kind: "Pod", apiVersion: "v1", name: "others" },
    { kind: "Pod", apiVersion: "v1", name: "none" },
    { kind: "Pod", apiVersion: "v1", name: "none", uid: "x" },
    { kind: "Pod", apiVersion: "v1", name: "p", uid: "99999999-8888-4777-8666-555555555555" },
    { kind: "Pod", apiVersion: "v1", name: ".." },
    { kind: "Pod", apiVersion: "v1", name: "a/b" },
    { kind: "Pod", apiVersion: "v1", name: "a%b" },
    { kind: "Secret", apiVersion: "v1", name: "s" },
    { kind: "Secret", apiVersion: "v1", name: "none" },
    { kind: "Secret", apiVersion: "v1" },
    { kind: "Node", apiVersion: "v1", name: "m" },
    { kind: "Node", apiVersion: "v1", name: "gone" },
    { kind: "Node", apiVersion: "v1" },
    { kind: "Node", apiVersion: "v1", name: "m", uid: "99999999-8888-4777-8666-555555555555" },
    { kind: "Namespace", apiVersion: "v1", name: NAMESPACE },
    WEBHOOK,
    { ...WEBHOOK, kind: "MutatingWebhookConfiguration", apiVersion: "admissionregistration.k8s.io/v1beta1" },
  ];
  const attestations: readonly JsonObject[] = [
    { x: ["y"] },
    { x: ["y"], z: [] },
    ...[[], ["a", "b"], [""], ["*"], ["apps"], ["a_b"]].map((groups) => ({ admissionReviewAPIGroups: groups })),
  ];

  test("requests get the same responses", async () => {
    const differences: unknown[] = [];
    const ask = async (account: string, body: unknown, query?: string) => {
      const { difference } = await both.request(account, body, query);
      if (difference) differences.push(difference);
    };
    for (const body of requests) await ask("bot", { ...REQUEST, ...body });
    for (const boundObjectRef of references) {
      await ask("bot", { ...REQUEST, spec: { boundObjectRef } });
      await ask("bot", { ...REQUEST, spec: { boundObjectRef, expirationSeconds: 3607 } });
    }
    await ask("bot", {
      ...REQUEST,
      spec: { boundObjectRef: references[2], expirationSeconds: 3607, audiences: ["x"] },
    });
    await ask("bot", {
      ...REQUEST,
      spec: { boundObjectRef: references[2], expirationSeconds: 3607, audiences: [ISSUER] },
    });
    for (const sent of attestations) {
      await ask("bot", { ...REQUEST, spec: { boundObjectRef: WEBHOOK, attestations: sent } });
      await ask("bot", { ...REQUEST, spec: { boundObjectRef: WEBHOOK, attestations: sent, audiences: ["a", "b"] } });
    }
    await ask("none", REQUEST);
    await ask("none", { ...REQUEST, metadata: { name: "bot" } });
    await ask("bot", REQUEST, "?dryRun=All");
    await ask("bot", REQUEST, "?dryRun=Some");
    await ask("bot", REQUEST, "?fieldManager=me");
    await ask("bot", { ...REQUEST, spec: { expirationSeconds: "x" } });
    await ask("bot", []);
    assert.deepEqual(differences, []);
  });

  /** The same claims for each server, with its uids of the objects. */
  const tokensWith = (own: (index: 0 | 1) => JsonObject, claims: JsonObject = {}, key = signingKey(both.rsa)) =>
    ([0, 1] as const).map((index) =>
      signToken(
        {
          aud: [ISSUER],
          exp: seconds() + 600,
          iat: seconds(),
          nbf: seconds(),
          iss: ISSUER,
          jti: crypto.randomUUID(),
          sub: `system:serviceaccount:${NAMESPACE}:bot`,
          "kubernetes.io": {
            namespace: NAMESPACE,
            serviceaccount: { name: "bot", uid: bot.uids[index] },
            ...own(index),
          },
          ...claims,
        },
        key,
      ),
    ) as [string, string];

  const expectSame = async (what: string, tokens: [string, string], audiences?: string[]) => {
    const { difference, answers } = await both.review(tokens, audiences);
    assert.equal(difference, undefined, `${what}: ${JSON.stringify(difference)}`);
    return answers[0].body.status;
  };

  test("tokens are accepted and rejected alike", async () => {
    const none = () => ({});
    const foreign = signingKey(generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey);
    const named = (name: string, uid?: string) => (index: 0 | 1) => {
      const found = bound.get(name);
      return { [name]: { name: found?.name, uid: uid ?? found?.uids[index] } };
    };
    const elliptic = signingKey(both.elliptic);
    const rsa = signingKey(both.rsa);
    const rows: Readonly<Record<string, [string, string]>> = {
      good: tokensWith(none),
      "of the other key": tokensWith(none, {}, elliptic),
      "bound to a pod": tokensWith(named("pod")),
      "bound to a secret": tokensWith(named("secret")),
      "bound to a node": tokensWith(named("node")),
      "bound to another pod of the name": tokensWith(named("pod", "x")),
      "bound to another secret of the name": tokensWith(named("secret", "x")),
      "bound to another node of the name": tokensWith(named("node", "x")),
      "bound to no pod": tokensWith(() => ({ pod: { name: "none", uid: "x" } })),
      "bound to no secret": tokensWith(() => ({ secret: { name: "none", uid: "x" } })),
      "bound to no node": tokensWith(() => ({ node: { name: "none", uid: "x" } })),
      "of a pod with a node": tokensWith((index) => ({ ...named("pod")(index), node: { name: "gone" } })),
      "of a stale pod": tokensWith((index) => ({ ...named("pod")(index), warnafter: 1 })),
      "of no account": tokensWith(() => ({ serviceaccount: { name: "none", uid: "x" } })),
      "of another account of the name": tokensWith(() => ({ serviceaccount: { name: "bot", uid: "x" } })),
      expired: tokensWith(none, { exp: seconds() - 90 }),
      "just expired": tokensWith(none, { exp: seconds() - 30 }),
      "not yet valid": tokensWith(none, { nbf: seconds() + 90 }),
      "soon valid": tokensWith(none, { nbf: seconds() + 30 }),
      "issued in the future": tokensWith(none, { iat: seconds() + 90 }),
      "of broken times": tokensWith(none, { exp: seconds() + 600.7 }),
      "without times": tokensWith(none, { exp: undefined, nbf: undefined, iat: undefined }),
      "without an id": tokensWith(none, { jti: undefined }),
      "of one audience": tokensWith(none, { aud: ISSUER }),
      "of another audience": tokensWith(none, { aud: ["x", "y"] }),
      "of no audience": tokensWith(none, { aud: undefined }),
      "of another issuer": tokensWith(none, { iss: "https://else" }),
      "of an unknown key": tokensWith(none, {}, foreign),
      "of an unknown key that says it is ours": tokensWith(none, {}, { ...foreign, id: rsa.id }),
      "of an unknown key without a name": tokensWith(none, {}, { ...foreign, id: "" }),
      "signed by the secret of a public key": hmac(tokensWith(none), rsa),
      unsigned: tokensWith(none).map((token) => resign(token, { alg: "none" }, () => "")) as [string, string],
      "with RS512": tokensWith(none).map((token) =>
        resign(token, { alg: "RS512", kid: rsa.id }, (text) =>
          sign("sha512", Buffer.from(text), both.rsa).toString("base64url"),
        ),
      ) as [string, string],
      "with critical members": tokensWith(none).map((token) =>
        resign(token, { alg: "RS256", crit: ["x"], x: 1 }, (text) =>
          sign("sha256", Buffer.from(text), both.rsa).toString("base64url"),
        ),
      ) as [string, string],
      "cut off": tokensWith(none).map((token) => token.slice(0, -20)) as [string, string],
      "with another payload": tokensWith(none).map((token) =>
        token.replace(/\.[^.]*\./, `.${encode({ iss: ISSUER })}.`),
      ) as [string, string],
      "no tokens": ["x.y.z", "x.y.z"],
      "nothing but dots": ["..", ".."],
      "two parts": ["a.b", "a.b"],
      "a JSON object": ["{}", "{}"],
    };
    for (const [what, tokens] of Object.entries(rows)) await expectSame(what, tokens);
    await expectSame("for others", tokensWith(none, { aud: ["x", "y"] }), ["y", "z", "x"]);
    await expectSame("not for others", tokensWith(none), ["y"]);
  });

  test("a token in a Secret is valid as long as the Secret has it", async () => {
    const make = (secret: string, more: JsonObject = {}) =>
      tokensWith(() => ({}), {
        ...{
          aud: undefined,
          exp: undefined,
          iat: undefined,
          nbf: undefined,
          jti: undefined,
          "kubernetes.io": undefined,
        },
        iss: "kubernetes/serviceaccount",
        "kubernetes.io/serviceaccount/namespace": NAMESPACE,
        "kubernetes.io/serviceaccount/secret.name": secret,
        "kubernetes.io/serviceaccount/service-account.name": "bot",
        ...more,
      });
    const accountClaim = "kubernetes.io/serviceaccount/service-account.uid";
    const tokens = ([0, 1] as const).map((index) => make("held", { [accountClaim]: bot.uids[index] })[index]) as [
      string,
      string,
    ];
    await expectSame("without a Secret", tokens);
    await expectSame("without a uid", make("held"));
    const bodies = tokens.map((token) => ({
      metadata: { name: "held" },
      data: { token: Buffer.from(token).toString("base64") },
    })) as unknown as [JsonObject, JsonObject];
    await both.twins.callEach("POST", `/api/v1/namespaces/${NAMESPACE}/secrets`, bodies);
    const found = await eventually(async () => {
      const { answers } = await both.review(tokens);
      return answers[0].body.status.authenticated ? answers : undefined;
    });
    assert.equal(found[1].body.status.authenticated, true);
    await expectSame("with a Secret", tokens);
    const labels = (await both.twins.call("GET", `/api/v1/namespaces/${NAMESPACE}/secrets/held`)).map(
      ({ body }) => body.metadata.labels,
    );
    assert.deepEqual(labels[1], labels[0]);
    await expectSame("for others", tokens, ["x"]);
  });

  for (const [kind, plural] of [
    ["pod", "pods"],
    ["secret", "secrets"],
    ["node", "nodes"],
  ] as const) {
    test(`tokens become invalid with their ${kind}`, async () => {
      const name = `going-${kind}`;
      const object = await both.create(plural, kind === "pod" ? pod(name, "bot") : { metadata: { name } });
      const tokens = () => tokensWith((index) => ({ [kind]: { name, uid: object.uids[index] } }));
      assert.equal((await expectSame("before", tokens())).authenticated, true);
      await both.remove(plural, name);
      const [, ours] = (await both.review(tokens())).answers;
      assert.match(ours.body.status.error, /service account token has been invalidated/, "ours at once");
      await eventually(async () => (await both.review(tokens())).answers[0].body.status.authenticated === undefined);
      await expectSame("after", tokens());
    });
  }

  test("tokens become invalid with their account", async () => {
    await both.remove("serviceaccounts", "bot");
    const tokens = () => tokensWith(() => ({}));
    const [, ours] = (await both.review(tokens())).answers;
    assert.match(ours.body.status.error, /serviceaccounts "bot" not found/, "ours at once");
    await eventually(async () => (await both.review(tokens())).answers[0].body.status.authenticated === undefined);
    await expectSame("after", tokens());
  });
});

suite("with limits, tokens match kube-apiserver", {
  ...needs("kube-apiserver", "etcd"),
}, () => {
  let both: TokenTwins;
  before(async () => {
    both = await TokenTwins.start([
      "--service-account-max-token-expiration=2h",
      "--service-account-extend-token-expiration=false",
      "--api-audiences=one,two",
    ]);
    await both.create("serviceaccounts", { metadata: { name: "bot" } });
    await both.create("pods", pod("p", "bot"));
  });
  after(() => both?.stop());

  test("requests are shortened with a warning, and nothing is extended", async () => {
    const boundObjectRef = { kind: "Pod", apiVersion: "v1", name: "p" };
    const rows = [
      {},
      { expirationSeconds: 7200 },
      { expirationSeconds: 7201 },
      { expirationSeconds: 2 ** 32 },
      { expirationSeconds: 3607, boundObjectRef },
      { expirationSeconds: 3607, boundObjectRef, audiences: ["one"] },
    ];
    for (const spec of rows) {
      const { difference } = await both.request("bot", { ...REQUEST, spec });
      assert.equal(difference, undefined, JSON.stringify(difference));
    }
  });
});

const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");

/** The claims of a token with another header and signature. */
function resign(token: string, header: JsonObject, signature: (text: string) => string): string {
  const text = `${encode(header)}.${token.split(".")[1]}`;
  return `${text}.${signature(text)}`;
}

function hmac(tokens: [string, string], { id, privateKey }: SigningKey): [string, string] {
  const secret = createPublicKey(privateKey).export({ type: "spki", format: "pem" });
  const signature = (text: string) => createHmac("sha256", secret).update(text).digest("base64url");
  return tokens.map((token) => resign(token, { alg: "HS256", kid: id }, signature)) as [string, string];
}
