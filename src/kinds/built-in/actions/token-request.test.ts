import assert from "node:assert/strict";
import { test } from "node:test";
import { ApiError } from "../../../base/api/api-error.ts";
import type { JsonObject, KubeObject } from "../../../base/api/object.ts";
import { ManualClock } from "../../../base/util/environment.suite.ts";
import type { ActionCall } from "../../../resources/model/actions.ts";
import { testIssuer } from "./actions.suite.ts";
import { tokenRequest } from "./token-request.ts";

const NOW = Date.UTC(2030, 0, 1);
const SECONDS = NOW / 1000;
const objects: Readonly<Record<string, JsonObject>> = {
  "serviceaccounts n/bot": { metadata: { name: "bot", namespace: "n", uid: "u1" } },
  "secrets n/s": { metadata: { name: "s", uid: "u2" } },
  "pods n/p": { metadata: { name: "p", uid: "u3" }, spec: { serviceAccountName: "bot" } },
  "pods n/placed": { metadata: { name: "placed", uid: "u4" }, spec: { serviceAccountName: "bot", nodeName: "m" } },
  "pods n/lost": { metadata: { name: "lost", uid: "u5" }, spec: { serviceAccountName: "bot", nodeName: "gone" } },
  "pods n/other": { metadata: { name: "other", uid: "u6" }, spec: { serviceAccountName: "default" } },
  "nodes /m": { metadata: { name: "m", uid: "u7" } },
};

interface Asked {
  readonly name?: string;
  readonly metadata?: JsonObject;
  readonly issuer?: Partial<typeof testIssuer>;
}

async function ask(spec: JsonObject, { name = "bot", metadata = {}, issuer = {} }: Asked = {}) {
  const warnings: string[] = [];
  const annotations: string[] = [];
  const call = {
    access: {
      clock: new ManualClock(NOW),
      random: { uuid: () => "id" },
      find: async (_group: string, plural: string, key: { namespace: string; name: string }) =>
        objects[`${plural} ${key.namespace}/${key.name}`],
    },
    key: { namespace: "n", name },
    body: { kind: "TokenRequest", apiVersion: "authentication.k8s.io/v1", metadata, spec },
    warn: (text: string) => warnings.push(text),
    annotate: (key: string, value: string) => annotations.push(`${key}=${value}`),
  } as unknown as ActionCall;
  const answer = (await tokenRequest({ ...testIssuer, ...issuer })(call)) as KubeObject;
  const { token, expirationTimestamp } = answer.status as { token: string; expirationTimestamp: string };
  return { answer, claims: JSON.parse(token), expirationTimestamp, warnings, annotations };
}

test("a token has its account, its audiences and its times", async () => {
  const { answer, claims, expirationTimestamp, annotations } = await ask({ expirationSeconds: 3600 });
  assert.deepEqual(annotations, ["authentication.kubernetes.io/issued-credential-id=JTI=id"]);
  assert.deepEqual(claims, {
    aud: ["api"],
    exp: SECONDS + 3600,
    iat: SECONDS,
    iss: "https://issuer",
    jti: "id",
    "kubernetes.io": { namespace: "n", serviceaccount: { name: "bot", uid: "u1" } },
    nbf: SECONDS,
    sub: "system:serviceaccount:n:bot",
  });
  assert.equal(expirationTimestamp, "2030-01-01T01:00:00Z");
  assert.deepEqual(answer.metadata, {
    name: "bot",
    namespace: "n",
    uid: "u1",
    creationTimestamp: "2030-01-01T00:00:00Z",
  });
  assert.deepEqual(answer.spec, { audiences: ["api"], boundObjectRef: null, expirationSeconds: 3600 });
});

test("a bound token has the bound object, and the node of a pod", async () => {
  const bound = async (kind: string, name: string, uid?: string) => {
    const reference = { kind, apiVersion: "v1", name, ...(uid === undefined ? {} : { uid }) };
    const { claims } = await ask({ expirationSeconds: 600, boundObjectRef: reference });
    const { namespace: _, serviceaccount: __, ...rest } = claims["kubernetes.io"];
    return rest;
  };
  assert.deepEqual(await bound("Secret", "s", "u2"), { secret: { name: "s", uid: "u2" } });
  assert.deepEqual(await bound("Node", "m"), { node: { name: "m", uid: "u7" } });
  assert.deepEqual(await bound("Pod", "p"), { pod: { name: "p", uid: "u3" } });
  assert.deepEqual(await bound("Pod", "placed"), {
    node: { name: "m", uid: "u7" },
    pod: { name: "placed", uid: "u4" },
  });
  assert.deepEqual(await bound("Pod", "lost"), { node: { name: "gone" }, pod: { name: "lost", uid: "u5" } });
});

test("tokens in pods are valid for a year unless they have other audiences or that is disabled", async () => {
  const lives = async (spec: JsonObject, issuer = {}) => {
    const boundObjectRef = { kind: "Pod", apiVersion: "v1", name: "p" };
    const { claims, expirationTimestamp } = await ask({ expirationSeconds: 3607, boundObjectRef, ...spec }, { issuer });
    assert.equal(expirationTimestamp, "2030-01-01T01:00:07Z");
    return [claims.exp - SECONDS, claims["kubernetes.io"].warnafter];
  };
  assert.deepEqual(await lives({}), [365 * 86_400, SECONDS + 3607]);
  assert.deepEqual(await lives({ audiences: ["vault"] }), [3607, undefined]);
  assert.deepEqual(await lives({ boundObjectRef: null }), [3607, undefined]);
  assert.deepEqual(await lives({}, { extendsExpiration: false }), [3607, undefined]);
});

test("a token expires no later than the server allows", async () => {
  const { answer, claims, warnings } = await ask(
    { expirationSeconds: 86_400 },
    { issuer: { maxExpirationSeconds: 3600 } },
  );
  assert.equal(claims.exp, SECONDS + 3600);
  assert.equal((answer.spec as JsonObject).expirationSeconds, 3600);
  assert.deepEqual(warnings, ["requested expiration of 86400 seconds shortened to 3600 seconds"]);
});

test("rejects invalid requests", async () => {
  const rows: [spec: JsonObject, asked: Asked, code: number, text: RegExp][] = [
    [{}, { name: "none" }, 404, /^serviceaccounts "none" not found$/],
    [{}, { metadata: { name: "x" } }, 422, /metadata.name: Invalid value: "x": must match the service account name/],
    [{}, { metadata: { uid: "x" } }, 409, /the UID in the token request \(x\) does not match the UID of .* \(u1\)$/],
    [{ expirationSeconds: 599 }, {}, 422, /may not specify a duration less than 10 minutes$/],
    [{ expirationSeconds: 2 ** 32 + 1 }, {}, 422, /may not specify a duration larger than 2\^32 seconds$/],
    [{ attestations: { a: ["b"] } }, {}, 422, /attestations may only be specified with a webhook bound object/],
    [{ boundObjectRef: { kind: "Pod", apiVersion: "v1", name: "x" } }, {}, 404, /^pods "x" not found$/],
    [{ boundObjectRef: { kind: "Pod", apiVersion: "v1", name: "other" } }, {}, 400, /different serviceaccount name\.$/],
    [
      { boundObjectRef: { kind: "Secret", apiVersion: "v1", name: "s", uid: "x" } },
      {},
      409,
      /does not match the UID in/,
    ],
    [{ boundObjectRef: { kind: "Pod", apiVersion: "apps/v1", name: "p" } }, {}, 400, /of type apps\/v1, Kind=Pod$/],
    [{ boundObjectRef: { kind: "Job", apiVersion: "a/b/c", name: "p" } }, {}, 400, /of type \/, Kind=Job$/],
  ];
  for (const [spec, asked, code, text] of rows) {
    const isRefusal = (error: unknown) => error instanceof ApiError && error.code === code && text.test(error.message);
    await assert.rejects(ask({ expirationSeconds: 3600, ...spec }, asked), isRefusal, String(text));
  }
});
