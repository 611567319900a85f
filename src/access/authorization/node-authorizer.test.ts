import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { type Attributes, nonResourceAttributes, resourceAttributes } from "../../base/api/attributes.ts";
import { TestCluster, until } from "../../cluster/controllers/shared/controllers.suite.ts";
import { NodeAuthorizer } from "./node-authorizer.ts";
import { NodeGraph } from "./node-graph.ts";

const kubelet = { name: "system:node:n1", groups: ["system:nodes"] };
const wanted = (verb: string, resource: string, more: Partial<Attributes> = {}) =>
  resourceAttributes(kubelet, { verb, apiGroup: "", resource, ...more });
const NOT_RELATED = "no relationship found between node 'n1' and this object";

test("recognises only users system:node:<name> in the group system:nodes", async () => {
  const node = new NodeAuthorizer({ isRelated: () => true, loaded: () => undefined }, []);
  const attributes = wanted("get", "secrets", { namespace: "ns", name: "x" });
  const decide = async (name: string, groups: string[]) => node.authorize({ ...attributes, user: { name, groups } });
  assert.deepEqual(await decide("system:node:n1", ["system:nodes"]), { decision: "allow" });
  assert.deepEqual(await decide("system:node:n1", ["other"]), { decision: "noOpinion" });
  assert.deepEqual(await decide("n1", ["system:nodes"]), { decision: "noOpinion" });
  const reason = 'unknown node for user "system:node:"';
  assert.deepEqual(await decide("system:node:", ["system:nodes"]), { decision: "noOpinion", reason });
  assert.equal((await node.rulesFor(kubelet)).incomplete, true);
  assert.equal((await node.rulesFor({ name: "alice", groups: [] })).incomplete, false);
});

test("lets a node read related objects, write its own, and use the rules of system:node otherwise", async () => {
  const rules = [{ verbs: ["list"], apiGroups: [""], resources: ["services"] }];
  const related = (_: string, __: string, ___: string, name: string) => name === "mine";
  const node = new NodeAuthorizer({ isRelated: related, loaded: () => undefined }, rules);
  const here = { namespace: "ns" };
  const leases = { apiGroup: "coordination.k8s.io", namespace: "kube-node-lease" };
  const selected = (value: string) => ({ fieldSelector: [{ field: "spec.nodeName", isEqual: true, value }] });
  const rows: [attributes: Attributes, reason?: string][] = [
    [wanted("get", "secrets", { ...here, name: "mine" })],
    [wanted("watch", "configmaps", { ...here, name: "mine" })],
    [wanted("get", "secrets", { ...here, name: "other" }), NOT_RELATED],
    [wanted("list", "secrets", here), "No Object name found"],
    [wanted("get", "secrets", { name: "mine" }), "can only read namespaced object of this type"],
    [wanted("update", "secrets", { ...here, name: "mine" }), "can only read resources of this type"],
    [wanted("get", "persistentvolumes", { name: "mine" })],
    [wanted("list", "persistentvolumes", { name: "mine" }), "can only get individual resources of this type"],
    [wanted("patch", "persistentvolumeclaims", { ...here, name: "mine", subresource: "status" })],
    [wanted("create", "serviceaccounts", { ...here, name: "mine", subresource: "token" })],
    [wanted("create", "serviceaccounts", { ...here, name: "other", subresource: "token" }), NOT_RELATED],
    [wanted("update", "leases", { ...leases, name: "n1" })],
    [
      wanted("update", "leases", { ...leases, name: "n2" }),
      "can only access node lease with the same name as the requesting node",
    ],
    [wanted("get", "nodes", { name: "n1" })],
    [wanted("get", "nodes", { name: "n2" }), "node 'n1' cannot read 'n2', only its own Node object"],
    [wanted("list", "pods", selected("n1"))],
    [wanted("list", "pods", selected("n2")), "can only list/watch pods with spec.nodeName field selector"],
    [wanted("list", "services", here)],
  ];
  for (const [attributes, reason] of rows) {
    const expected = reason === undefined ? { decision: "allow" } : { decision: "noOpinion", reason };
    assert.deepEqual(await node.authorize(attributes), expected, JSON.stringify(attributes));
  }
  for (const refused of [wanted("delete", "nodes", { name: "n1" }), wanted("create", "services", here)]) {
    assert.deepEqual(await node.authorize(refused), { decision: "noOpinion" });
  }
  assert.deepEqual(await node.authorize(nonResourceAttributes(kubelet, "get", "/x")), { decision: "noOpinion" });
});

suite("NodeGraph", () => {
  test("follows the pods of a node and the volumes of their claims", async () => {
    const cluster = new TestCluster();
    const graph = new NodeGraph(cluster.resources);
    const stop = new AbortController();
    const running = graph.run(stop.signal);
    await graph.loaded();
    const spec = {
      nodeName: "n1",
      containers: [{ name: "c", image: "i", envFrom: [{ secretRef: { name: "env" } }] }],
      volumes: [{ name: "v", persistentVolumeClaim: { claimName: "claim" } }],
    };
    await cluster.create("pods", "p", { content: { spec } });
    await cluster.create("pods", "mirror", {
      content: {
        metadata: { name: "mirror", namespace: "default", annotations: { "kubernetes.io/config.mirror": "x" } },
        spec: { ...spec, volumes: [{ name: "v", secret: { secretName: "hidden" } }] },
      },
    });
    const csi = { driver: "d", volumeHandle: "h", nodeStageSecretRef: { namespace: "far", name: "staged" } };
    await cluster.create("persistentvolumes", "pv", {
      content: {
        spec: {
          capacity: { storage: "1Gi" },
          accessModes: ["ReadWriteOnce"],
          csi,
          claimRef: { namespace: "default", name: "claim" },
        },
      },
    });
    const related = (plural: string, namespace: string, name: string) => graph.isRelated("n1", plural, namespace, name);
    await until(() => related("secrets", "far", "staged"));
    await until(() => related("pods", "default", "mirror"));
    assert.ok(related("secrets", "default", "env") && related("persistentvolumes", "", "pv"));
    assert.equal(related("secrets", "default", "hidden"), false, "a mirror pod gives nothing");
    assert.equal(graph.isRelated("n2", "secrets", "default", "env"), false);
    await cluster.delete("pods", "p", { gracePeriodSeconds: 0 });
    await until(() => !related("secrets", "far", "staged"));
    assert.equal(related("secrets", "default", "env"), false);
    stop.abort();
    await running;
    await cluster.stop();
  });
});
