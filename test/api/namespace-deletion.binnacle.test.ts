import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { DEFAULT_CONTROLLERS } from "../../src/cluster/controllers/manager/default-controllers.ts";
import { type RunningBinnacle, startBinnacle } from "../support/binnacle.ts";
import { type Client, clientFor } from "../support/client.ts";
import { tokens } from "../support/oracle.ts";
import { eventually } from "../support/time.ts";

const OBJECTS = 1000;
const PARALLEL_CREATES = 20;

const labels = { app: "crowd" };
const podTemplate = { metadata: { labels }, spec: { containers: [{ name: "main", image: "example/main:1" }] } };
/** The kinds in the namespace, in rotation. */
const kinds = [
  { path: "/api/v1", plural: "configmaps", body: { data: { key: "value" } } },
  { path: "/api/v1", plural: "secrets", body: { stringData: { key: "value" } } },
  {
    path: "/api/v1",
    plural: "services",
    body: { spec: { clusterIP: "None", selector: labels, ports: [{ port: 80 }] } },
  },
  {
    path: "/apis/apps/v1",
    plural: "deployments",
    body: { spec: { selector: { matchLabels: labels }, template: podTemplate } },
  },
  { path: "/apis/coordination.k8s.io/v1", plural: "leases", body: { spec: { holderIdentity: "somebody" } } },
  {
    path: "/apis/rbac.authorization.k8s.io/v1",
    plural: "roles",
    body: { rules: [{ apiGroups: [""], resources: ["pods"], verbs: ["get"] }] },
  },
] as const;

describe("deletion of a crowded namespace", () => {
  let server: RunningBinnacle;
  let client: Client;

  before(async () => {
    server = await startBinnacle({ flags: [`--controllers=${DEFAULT_CONTROLLERS}`] });
    client = clientFor(server.base, tokens.admin);
  });
  after(() => server.kill());

  async function fill(namespace: string): Promise<void> {
    const created = await client.call("POST", "/api/v1/namespaces", { metadata: { name: namespace } });
    assert.equal(created.status, 201);
    let next = 0;
    const work = async () => {
      for (let index = next++; index < OBJECTS; index = next++) {
        const kind = kinds[index % kinds.length];
        if (!kind) throw new Error("no kind");
        const path = `${kind.path}/namespaces/${namespace}/${kind.plural}`;
        const answer = await client.call("POST", path, { metadata: { name: `crowd-${index}`, labels }, ...kind.body });
        assert.equal(answer.status, 201, JSON.stringify(answer.body));
      }
    };
    await Promise.all(Array.from({ length: PARALLEL_CREATES }, work));
  }

  /** Milliseconds from the delete request until the namespace is not found. */
  async function timeDeletion(namespace: string): Promise<number> {
    const path = `/api/v1/namespaces/${namespace}`;
    const started = performance.now();
    const deleted = await client.call("DELETE", path);
    assert.equal(deleted.status, 200);
    assert.equal(deleted.body.status.phase, "Terminating");
    const isGone = async () => (await client.call("GET", path)).status === 404;
    await eventually(isGone, { everyMs: 20, what: `${namespace} is gone` });
    return performance.now() - started;
  }

  test(`deletes ${OBJECTS} objects of ${kinds.length} kinds`, async (t) => {
    await fill("crowded");
    t.diagnostic(`gone after ${Math.round(await timeDeletion("crowded"))} ms`);
    for (const { path, plural } of kinds) {
      const left = await client.call("GET", `${path}/namespaces/crowded/${plural}`);
      assert.deepEqual(left.body.items, [], plural);
    }
  });
});
