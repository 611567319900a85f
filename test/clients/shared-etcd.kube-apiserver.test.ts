import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { type RunningBinnacle, startBinnacle } from "../support/binnacle.ts";
import { type Client, clientFor } from "../support/client.ts";
import { type EtcdCluster, startEtcd } from "../support/etcd.ts";
import { type Oracle, startOracle, tokens } from "../support/oracle.ts";
import { needs } from "../support/tools.ts";

const NAMESPACE = "/api/v1/namespaces/default";

/** Kinds that lie in different places of the store, each with a change that a replace makes. */
const KINDS = [
  {
    path: `${NAMESPACE}/configmaps`,
    body: { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "shared" }, data: { a: "1" } },
  },
  {
    path: `${NAMESPACE}/services`,
    body: {
      apiVersion: "v1",
      kind: "Service",
      metadata: { name: "shared" },
      spec: { type: "ExternalName", externalName: "example.com", sessionAffinity: "None" },
    },
  },
  {
    path: "/apis/coordination.k8s.io/v1/namespaces/default/leases",
    body: {
      apiVersion: "coordination.k8s.io/v1",
      kind: "Lease",
      metadata: { name: "shared" },
      spec: { holderIdentity: "somebody" },
    },
  },
  {
    path: "/apis/rbac.authorization.k8s.io/v1/clusterroles",
    body: {
      apiVersion: "rbac.authorization.k8s.io/v1",
      kind: "ClusterRole",
      metadata: { name: "shared" },
      rules: [{ apiGroups: [""], resources: ["pods"], verbs: ["get"] }],
    },
  },
];

describe("one etcd, shared with the real kube-apiserver", {
  ...needs("kube-apiserver", "etcd"),
}, () => {
  let etcd: EtcdCluster;
  let oracle: Oracle;
  let binnacle: RunningBinnacle;
  let ours: Client;
  let theirs: Client;

  before(async () => {
    etcd = await startEtcd();
    const etcdEndpoint = etcd.endpoints[0] ?? assert.fail();
    oracle = await startOracle({ etcdEndpoint, storageMediaType: "application/json" });
    binnacle = await startBinnacle({ etcdEndpoint });
    ours = clientFor(binnacle.base, tokens.admin);
    theirs = clientFor(oracle.base, tokens.admin);
  });
  after(async () => {
    await binnacle?.kill();
    await oracle?.kill();
    await etcd?.stop();
  });

  for (const { path, body } of KINDS) {
    for (const direction of ["ours to theirs", "theirs to ours"]) {
      test(`${body.kind}, ${direction}`, async () => {
        const [one, other] = direction.startsWith("ours") ? [ours, theirs] : [theirs, ours];
        const listed = await other.call("GET", path);
        assert.equal(listed.status, 200);
        const stop = new AbortController();
        const events = other.watch(
          `${path}?watch=1&resourceVersion=${listed.body.metadata.resourceVersion}`,
          stop.signal,
        );
        const nextEvent = async () => (await events.next()).value;

        const created = await one.call("POST", path, body);
        assert.equal(created.status, 201, JSON.stringify(created.body));
        const object = `${path}/shared`;
        assert.deepEqual(await view(other, object), withoutStatus(created.body));
        const added = await nextEvent();
        assert.equal(added.type, "ADDED");
        assert.equal(added.object.metadata.uid, created.body.metadata.uid);
        const list = await other.call("GET", path);
        assert.ok(list.body.items.some((item: typeof created.body) => item.metadata.name === "shared"));

        const changed = { ...created.body, metadata: { ...created.body.metadata, labels: { changed: "yes" } } };
        const replaced = await other.call("PUT", object, changed);
        assert.equal(replaced.status, 200, JSON.stringify(replaced.body));
        assert.deepEqual(await view(one, object), withoutStatus(replaced.body));
        const modified = await nextEvent();
        assert.equal(modified.type, "MODIFIED");
        assert.equal(modified.object.metadata.resourceVersion, replaced.body.metadata.resourceVersion);
        assert.equal((await one.call("PUT", object, changed)).status, 409);

        assert.equal((await one.call("DELETE", object)).status, 200);
        assert.equal((await nextEvent()).type, "DELETED");
        assert.equal((await other.call("GET", object)).status, 404);
        stop.abort();
        await events.return(undefined);
      });
    }
  }

  for (const resourceVersion of ["5", "007", "0", "", "abc", "-1", "18446744073709551615", "18446744073709551616"]) {
    test(`a create with resourceVersion ${JSON.stringify(resourceVersion)} is answered alike`, async () => {
      const path = `${NAMESPACE}/configmaps`;
      const body = (name: string, more = {}) => ({ metadata: { ...(name ? { name } : {}), resourceVersion, ...more } });
      assert.equal((await theirs.call("POST", path, { metadata: { name: "there" } })).status, 201);
      const answers = async (client: Client) => {
        const requests: [path: string, body: unknown][] = [
          [path, body("new")],
          [`${path}?dryRun=All`, body("other")],
          [path, body("there")],
          [`${path}?dryRun=All`, body("there")],
          [path, body("Not-Valid")],
          [path, body("", { generateName: "new-" })],
          ["/api/v1/namespaces/nowhere/configmaps", body("new")],
        ];
        const shown: unknown[] = [];
        for (const [place, sent] of requests) {
          const { status, body: answer } = await client.call("POST", place, sent);
          const isStored = status === 201 && !place.includes("dryRun");
          shown.push(status === 201 ? [status, isStored || answer.metadata.resourceVersion] : [status, answer]);
          if (isStored) await client.call("DELETE", `${path}/${answer.metadata.name}`);
        }
        return shown;
      };
      assert.deepEqual(await answers(ours), await answers(theirs));
      await theirs.call("DELETE", `${path}/there`);
    });
  }
});

async function view(client: Client, path: string): Promise<unknown> {
  const { status, body } = await client.call("GET", path);
  assert.equal(status, 200);
  return withoutStatus(body);
}

/** The object without the status that only one of the two servers fills in. */
function withoutStatus({ status: _, ...rest }: Record<string, unknown>): unknown {
  return rest;
}
