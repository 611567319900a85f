import assert from "node:assert/strict";
import { test } from "node:test";
import type { ClusterAuthentication } from "../../../access/authentication/cluster-trust.ts";
import type { JsonObject, KubeObject } from "../../../base/api/object.ts";
import { makeCa } from "../../../base/pki/make-certificate.ts";
import { TestCluster, until } from "../shared/controllers.suite.ts";
import { clusterAuthenticationTrust } from "./cluster-authentication-trust.ts";
import { legacyTokenTracking } from "./legacy-token-tracking.ts";

const DAY_MS = 86_400_000;
const TRUST = "extension-apiserver-authentication";
const TRACKING = "kube-apiserver-legacy-service-account-token-tracking";
const certificate = (name: string, atMs = Date.now()) => makeCa(name, atMs).certificate;
const find = (cluster: TestCluster, name: string) => cluster.find("configmaps", name, "kube-system");
const dataOf = async (cluster: TestCluster, name: string) =>
  (await find(cluster, name))?.data as JsonObject | undefined;
const create = (cluster: TestCluster, name: string, data: Record<string, string>) =>
  cluster.create("configmaps", name, { namespace: "kube-system", content: { data } as Partial<KubeObject> });

function trusted(first: ClusterAuthentication) {
  let current = first;
  let changed = (): void => {};
  const source = {
    current: () => current,
    onChange: (listener: () => void) => {
      changed = listener;
    },
  };
  const change = (next: ClusterAuthentication) => {
    current = next;
    changed();
  };
  return { source, change };
}

test("publishes the trusted CAs in extension-apiserver-authentication, and follows changes", async () => {
  const cluster = new TestCluster();
  const [first, second] = [certificate("first"), certificate("second")];
  const { source, change } = trusted({ clientCa: first });
  cluster.start(clusterAuthenticationTrust(cluster, source));
  await until(async () => (await dataOf(cluster, TRUST)) !== undefined);
  assert.deepEqual(await dataOf(cluster, TRUST), { "client-ca-file": first });
  const requestHeader = {
    ca: second,
    usernameHeaders: ["X-Remote-User"],
    uidHeaders: ["X-Remote-Uid"],
    groupHeaders: ["X-Remote-Group"],
    extraHeaderPrefixes: ["X-Remote-Extra-"],
    allowedNames: ["front"],
  };
  change({ clientCa: `${first}${second}${first}`, requestHeader });
  await until(async () => "requestheader-client-ca-file" in ((await dataOf(cluster, TRUST)) ?? {}));
  assert.deepEqual(await dataOf(cluster, TRUST), {
    "client-ca-file": first + second,
    "requestheader-allowed-names": '["front"]',
    "requestheader-client-ca-file": second,
    "requestheader-extra-headers-prefix": '["X-Remote-Extra-"]',
    "requestheader-group-headers": '["X-Remote-Group"]',
    "requestheader-uid-headers": '["X-Remote-Uid"]',
    "requestheader-username-headers": '["X-Remote-User"]',
  });
  assert.deepEqual(cluster.problems, []);
  await cluster.stop();
});

test("keeps entries of other servers, and removes expired certificates", async () => {
  const cluster = new TestCluster();
  const [own, other] = [certificate("own"), certificate("other")];
  const expired = certificate("expired", Date.now() - 3651 * DAY_MS);
  const headers = { "requestheader-client-ca-file": other, "requestheader-username-headers": '["X-User"]' };
  await create(cluster, TRUST, { "client-ca-file": expired + other, ...headers, more: "x" });
  const { source } = trusted({ clientCa: own });
  cluster.start(clusterAuthenticationTrust(cluster, source));
  await until(async () => !("more" in ((await dataOf(cluster, TRUST)) ?? {})));
  assert.deepEqual(await dataOf(cluster, TRUST), {
    "client-ca-file": other + own,
    "requestheader-allowed-names": "[]",
    "requestheader-client-ca-file": other,
    "requestheader-extra-headers-prefix": "[]",
    "requestheader-group-headers": "[]",
    "requestheader-username-headers": '["X-User"]',
  });
  await cluster.client.delete(cluster.resource("configmaps"), { namespace: "kube-system", name: TRUST });
  await until(async () => (await find(cluster, TRUST)) !== undefined);
  assert.deepEqual(await dataOf(cluster, TRUST), { "client-ca-file": own });
  await cluster.stop();
});

test("writes nothing without trusted CAs", async () => {
  const cluster = new TestCluster();
  const { source, change } = trusted({});
  cluster.start(clusterAuthenticationTrust(cluster, source));
  cluster.start(legacyTokenTracking(cluster));
  await until(async () => (await find(cluster, TRACKING)) !== undefined);
  change({});
  assert.equal(await find(cluster, TRUST), undefined);
  await cluster.stop();
});

test("records the start of token tracking once, and repairs an invalid date", async () => {
  const today = () => new Date().toISOString().slice(0, 10);
  const cluster = new TestCluster();
  await create(cluster, TRACKING, { since: "2026-02-30", other: "x" });
  cluster.start(legacyTokenTracking(cluster));
  await until(async () => (await dataOf(cluster, TRACKING))?.since === today());
  assert.equal((await dataOf(cluster, TRACKING))?.other, "x");
  await cluster.stop();
});
