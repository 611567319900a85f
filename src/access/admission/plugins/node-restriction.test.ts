import assert from "node:assert/strict";
import { suite, test } from "node:test";
import type { Attributes, Decision } from "../../../base/api/attributes.ts";
import type { UserInfo } from "../../../base/api/user-info.ts";
import { pod, World, type Write } from "../admission.suite.ts";
import { nodeRestriction } from "./node-restriction/node-restriction.ts";
import { isForbidden } from "./node-restriction/node-rules.ts";

// test/api/node-restriction.kube-apiserver.test.ts compares all rules with those of kube-apiserver.

const kubelet: UserInfo = { name: "system:node:n1", groups: ["system:nodes"] };
const noOpinion = { authorize: async (_: Attributes): Promise<Decision> => ({ decision: "noOpinion" }) };

const judged = async (write: Write, user = kubelet) => {
  const world = new World();
  await world.given("pods", pod({ nodeName: "n2" }, { name: "foreign", uid: "u" }));
  return (await world.judge(nodeRestriction(world.access, noOpinion), { ...write, user })).refusal;
};

suite("NodeRestriction", () => {
  test("applies to nodes only", async () => {
    const write = { plural: "pods", object: pod() };
    assert.equal(await judged(write, { name: "alice", groups: [] }), undefined);
    assert.equal(await judged(write, { name: "system:node:n1", groups: [] }), undefined);
    assert.match((await judged(write)) ?? "", /node "n1" can only create mirror pods$/);
    const nameless = { name: "system:node:", groups: ["system:nodes"] };
    assert.match((await judged(write, nameless)) ?? "", /could not determine node from user "system:node:"$/);
  });

  test("rejects token requests for pods of other nodes", async () => {
    const object = (uid: string) => ({
      kind: "TokenRequest",
      apiVersion: "authentication.k8s.io/v1",
      metadata: { name: "account", namespace: "ns" },
      spec: { boundObjectRef: { apiVersion: "v1", kind: "Pod", name: "foreign", uid } },
    });
    const write = { plural: "serviceaccounts", subresource: "token" };
    assert.match((await judged({ ...write, object: object("u") })) ?? "", /scheduled on a different node$/);
    assert.match((await judged({ ...write, object: object("x") })) ?? "", /does not match the UID in record/);
  });

  test("forbids kubelets to set labels that influence scheduling", () => {
    for (const label of ["a", "example.com/a", "kubernetes.io/os", "x.node.kubernetes.io/y"]) {
      assert.equal(isForbidden(label), false, label);
    }
    for (const label of ["k8s.io/a", "a.kubernetes.io/b", "x.node-restriction.kubernetes.io/y"]) {
      assert.equal(isForbidden(label), true, label);
    }
  });
});
