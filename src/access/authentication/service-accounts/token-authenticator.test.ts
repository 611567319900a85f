import assert from "node:assert/strict";
import { createPublicKey, generateKeyPairSync } from "node:crypto";
import { test } from "node:test";
import type { JsonObject, KubeObject } from "../../../base/api/object.ts";
import { ManualClock } from "../../../base/util/environment.suite.ts";
import { systemRandom } from "../../../base/util/random.ts";
import { builtInKinds } from "../../../kinds/built-in/all.ts";
import { Catalog } from "../../../resources/model/catalog.ts";
import { KeySpace } from "../../../resources/model/keys.ts";
import { storedResource } from "../../../resources/model/stored-resource.ts";
import { Resources } from "../../../resources/resources.ts";
import { MemoryStore } from "../../../storage/memory.ts";
import { AuthenticationError } from "../authenticator.ts";
import { signToken } from "./json-web-token.ts";
import { signingKey, verifyingKey } from "./keys.ts";
import { AccountTokenAuthenticator, type AccountTokenOptions } from "./token-authenticator.ts";

const NOW = Date.UTC(2030, 0, 1);
const SECONDS = NOW / 1000;
const makeKey = () => signingKey(generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey);
const [key, other] = [makeKey(), makeKey()];
const catalog = new Catalog(builtInKinds());

class World {
  readonly clock = new ManualClock(NOW);
  readonly store = new MemoryStore();
  readonly labelled: string[] = [];
  readonly resources = new Resources({
    store: this.store,
    catalog,
    clock: this.clock,
    random: systemRandom,
    keys: new KeySpace("/registry"),
  });

  authenticator(options: Partial<AccountTokenOptions> = {}): AccountTokenAuthenticator {
    return new AccountTokenAuthenticator({
      keys: [verifyingKey(createPublicKey(key.privateKey))],
      issuers: ["https://issuer", "https://former"],
      audiences: ["api"],
      lookup: true,
      clock: this.clock,
      objects: this.resources,
      label: async ({ metadata }, name, value) => void this.labelled.push(`${metadata.name} ${name}=${value}`),
      ...options,
    });
  }

  keyOf(plural: string, name: string): string {
    const namespace = plural === "nodes" ? "" : "n";
    return this.resources.keys.key(storedResource(catalog, "", plural).definition, { namespace, name });
  }

  async put(plural: string, name: string, metadata: JsonObject = {}, rest: JsonObject = {}): Promise<void> {
    const storeKey = this.keyOf(plural, name);
    const object: KubeObject = {
      kind: { serviceaccounts: "ServiceAccount", pods: "Pod", nodes: "Node", secrets: "Secret" }[plural] ?? "",
      apiVersion: "v1",
      metadata: { name, namespace: plural === "nodes" ? undefined : "n", uid: `uid-of-${name}`, ...metadata },
      ...rest,
    };
    const revision = (await this.store.get(storeKey))?.modRevision ?? 0;
    assert.ok((await this.store.put(storeKey, Buffer.from(JSON.stringify(object)), revision)).ok);
  }

  async remove(plural: string, name: string): Promise<void> {
    const entry = await this.store.get(this.keyOf(plural, name));
    await this.store.delete(this.keyOf(plural, name), entry?.modRevision ?? 0);
  }
}

const refOf = (name: string) => ({ name, uid: `uid-of-${name}` });

/** A token like one from a TokenRequest, with some claims replaced. */
function bound(claims: JsonObject = {}, own: JsonObject = {}): string {
  return signToken(
    {
      aud: ["api"],
      exp: SECONDS + 600,
      iat: SECONDS,
      nbf: SECONDS,
      iss: "https://issuer",
      jti: "id",
      sub: "system:serviceaccount:n:bot",
      "kubernetes.io": { namespace: "n", serviceaccount: refOf("bot"), ...own },
      ...claims,
    },
    key,
  );
}

async function outcome(tokens: AccountTokenAuthenticator, bearerToken: string, audiences?: string[]): Promise<string> {
  try {
    const found = await tokens.authenticate({ bearerToken, headers: {}, audiences });
    return found ? `${found.user.name} ${found.audiences}` : "not mine";
  } catch (error) {
    assert.ok(error instanceof AuthenticationError);
    return error.message;
  }
}

const GOOD = "system:serviceaccount:n:bot api";
const INVALIDATED = "service account token has been invalidated";

test("authenticates the service account, and adds the bound objects to extra", async () => {
  const world = new World();
  await world.put("serviceaccounts", "bot");
  await world.put("pods", "p");
  const tokens = world.authenticator();
  const own = { pod: refOf("p"), node: refOf("gone"), warnafter: SECONDS - 10 };
  const found = await tokens.authenticate({ bearerToken: bound({}, own), headers: {} });
  assert.deepEqual(found?.user, {
    name: "system:serviceaccount:n:bot",
    uid: "uid-of-bot",
    groups: ["system:serviceaccounts", "system:serviceaccounts:n", "system:authenticated"],
    extra: {
      "authentication.kubernetes.io/credential-id": ["JTI=id"],
      "authentication.kubernetes.io/node-name": ["gone"],
      "authentication.kubernetes.io/node-uid": ["uid-of-gone"],
      "authentication.kubernetes.io/pod-name": ["p"],
      "authentication.kubernetes.io/pod-uid": ["uid-of-p"],
    },
  });
  assert.deepEqual(found?.annotations, {
    "authentication.k8s.io/stale-token": "subject: system:serviceaccount:n:bot, seconds after warning threshold: 10",
  });
});

test("accepts only tokens of the configured issuers and keys", async () => {
  const world = new World();
  await world.put("serviceaccounts", "bot");
  const tokens = world.authenticator();
  assert.equal(await outcome(tokens, bound()), GOOD);
  assert.equal(await outcome(tokens, bound({ iss: "https://former" })), GOOD);
  assert.equal(await outcome(tokens, bound({ iss: "https://else" })), "not mine");
  assert.equal(await outcome(tokens, "token"), "not mine");
  const foreign = signToken({ iss: "https://issuer", sub: "system:serviceaccount:n:bot" }, other);
  assert.equal(await outcome(tokens, foreign), "invalid signature, no keys found");
  const crypto = "go-jose/go-jose: error in cryptographic primitive";
  assert.equal(await outcome(tokens, signToken({ iss: "https://issuer" }, { ...other, id: "" })), crypto);
  assert.equal(await outcome(tokens, signToken({ iss: "https://issuer" }, { ...other, id: key.id })), crypto);
  const both = [other, key].map(({ privateKey }) => verifyingKey(createPublicKey(privateKey)));
  assert.equal(await outcome(world.authenticator({ keys: both }), bound()), GOOD, "after a new key has been added");
});

test("accepts a token only for its audiences", async () => {
  const world = new World();
  await world.put("serviceaccounts", "bot");
  const tokens = world.authenticator();
  const two = bound({ aud: ["vault", "api"] });
  assert.equal(await outcome(tokens, two, ["x", "api", "vault"]), "system:serviceaccount:n:bot api,vault");
  assert.equal(await outcome(tokens, bound({ aud: "vault" }), ["vault"]), "system:serviceaccount:n:bot vault");
  const refused = 'token audiences ["vault"] is invalid for the target audiences ["api"]';
  assert.equal(await outcome(tokens, bound({ aud: "vault" })), refused);
});

test("accepts a token only during its lifetime, with a minute of leeway", async () => {
  const world = new World();
  await world.put("serviceaccounts", "bot");
  const tokens = world.authenticator();
  assert.equal(await outcome(tokens, bound({ exp: SECONDS - 60 })), GOOD);
  assert.equal(await outcome(tokens, bound({ exp: SECONDS - 61 })), "service account token has expired");
  assert.equal(await outcome(tokens, bound({ nbf: SECONDS + 60, iat: SECONDS + 60 })), GOOD);
  assert.equal(await outcome(tokens, bound({ nbf: SECONDS + 61 })), "service account token is not valid yet");
  assert.equal(await outcome(tokens, bound({ iat: SECONDS + 61 })), "service account token is issued in the future");
  assert.match(await outcome(tokens, bound({ exp: "soon" })), /wrong type$/);
});

test("rejects a token as soon as its service account is deleted", async () => {
  const world = new World();
  await world.put("serviceaccounts", "bot");
  const tokens = world.authenticator();
  const found = await tokens.authenticate({ bearerToken: bound(), headers: {} });
  assert.equal(found?.isStillGood?.(), true);
  await world.put("serviceaccounts", "bot", { deletionTimestamp: new Date(NOW).toISOString() });
  assert.equal(found?.isStillGood?.(), false);
  assert.equal(await outcome(tokens, bound()), GOOD);
  await world.clock.advance(60_001);
  assert.equal(await outcome(tokens, bound()), "service account n/bot has been deleted");
  await world.remove("serviceaccounts", "bot");
  assert.equal(await outcome(tokens, bound()), 'serviceaccounts "bot" not found');
  await world.put("serviceaccounts", "bot", { uid: "new" });
  assert.equal(await outcome(tokens, bound()), "service account UID (new) does not match claim (uid-of-bot)");
});

for (const [kind, plural] of [
  ["pod", "pods"],
  ["secret", "secrets"],
  ["node", "nodes"],
] as const) {
  test(`rejects a token as soon as its ${kind} is deleted`, async () => {
    const world = new World();
    await world.put("serviceaccounts", "bot");
    await world.put(plural, "x");
    const tokens = world.authenticator();
    const token = bound({}, { [kind]: refOf("x") });
    assert.equal(await outcome(tokens, token), GOOD);
    await world.put(plural, "x", { deletionTimestamp: new Date(NOW - 60_001).toISOString() });
    assert.equal(await outcome(tokens, token), INVALIDATED);
    await world.remove(plural, "x");
    assert.equal(await outcome(tokens, token), INVALIDATED);
    await world.put(plural, "x", { uid: "new" });
    const refused = `${kind} UID (new) does not match service account ${kind} ref claim (uid-of-x)`;
    assert.equal(await outcome(tokens, token), refused);
  });
}

const legacyClaims = {
  iss: "kubernetes/serviceaccount",
  sub: "system:serviceaccount:n:bot",
  "kubernetes.io/serviceaccount/namespace": "n",
  "kubernetes.io/serviceaccount/secret.name": "held",
  "kubernetes.io/serviceaccount/service-account.name": "bot",
  "kubernetes.io/serviceaccount/service-account.uid": "uid-of-bot",
};
const legacy = signToken(legacyClaims, key);
const held = { data: { token: Buffer.from(legacy).toString("base64") } };

test("accepts a token from a Secret as long as the Secret contains it", async () => {
  const world = new World();
  const tokens = world.authenticator();
  assert.equal(await outcome(tokens, legacy), "Token has been invalidated");
  assert.equal(await outcome(world.authenticator({ lookup: false }), legacy), GOOD);
  await world.put("secrets", "held", {}, { data: { token: "eA==" } });
  assert.equal(await outcome(tokens, legacy), "Token does not match server's copy");
  await world.put("secrets", "held", {}, held);
  assert.equal(await outcome(tokens, legacy), 'serviceaccounts "bot" not found');
  await world.put("serviceaccounts", "bot");
  const found = await tokens.authenticate({ bearerToken: legacy, headers: {} });
  assert.deepEqual([found?.user.uid, found?.user.extra, found?.audiences], ["uid-of-bot", undefined, ["api"]]);
  assert.deepEqual(found?.warnings, []);
  assert.deepEqual(found?.annotations, {
    "authentication.k8s.io/legacy-token": "system:serviceaccount:n:bot",
    "authentication.k8s.io/legacy-token-manual-secret": "held",
  });
  assert.deepEqual(world.labelled, ["held kubernetes.io/legacy-token-last-used=2030-01-01"]);
  const refused = 'token audiences ["api"] is invalid for the target audiences ["vault"]';
  assert.equal(await outcome(tokens, legacy, ["vault"]), refused);
  await world.put("secrets", "held", { deletionTimestamp: new Date(NOW).toISOString() }, held);
  assert.equal(await outcome(tokens, legacy), "Token has been invalidated");
});

test("labels the Secret with the last use once a day, and warns about generated tokens", async () => {
  const world = new World();
  const tokens = world.authenticator();
  await world.put("serviceaccounts", "bot", {}, { secrets: [{ name: "held" }] });
  const label = "kubernetes.io/legacy-token-last-used";
  for (const day of ["2030-01-01", "2030-01-02", "2029-12-31"]) {
    await world.put("secrets", "held", { labels: { [label]: day } }, held);
    const found = await tokens.authenticate({ bearerToken: legacy, headers: {} });
    assert.match(found?.warnings?.[0] ?? "", /^Use tokens from the TokenRequest API or manually created/);
    assert.equal(found?.annotations?.["authentication.k8s.io/legacy-token-autogenerated-secret"], "held");
  }
  assert.deepEqual(world.labelled, [`held ${label}=2030-01-01`]);
  await world.put("secrets", "held", { labels: { "kubernetes.io/legacy-token-invalid-since": "2029-01-01" } }, held);
  assert.match(
    await outcome(tokens, legacy),
    /^the token in secret n\/held for service account n\/bot has been marked/,
  );
  assert.equal(world.labelled.length, 2);
});

test("rejects a token from a Secret if a claim is missing", async () => {
  const world = new World();
  const tokens = world.authenticator();
  const own = (name: string) => `kubernetes.io/serviceaccount/${name}`;
  const rows: [claim: string, value: string, refused: string][] = [
    ["sub", "", "sub claim is missing"],
    [own("namespace"), "", "namespace claim is missing"],
    [own("secret.name"), "", "secretName claim is missing"],
    [own("service-account.name"), "", "serviceAccountName claim is missing"],
    [own("service-account.uid"), "", "serviceAccountUID claim is missing"],
    [own("service-account.name"), "../x", "sub claim is invalid"],
    ["sub", "system:serviceaccount:n:other", "sub claim is invalid"],
    ["sub", "alice", "sub claim is invalid"],
  ];
  for (const [claim, value, refused] of rows) {
    assert.equal(await outcome(tokens, signToken({ ...legacyClaims, [claim]: value }, key)), refused);
  }
});
