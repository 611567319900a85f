import assert from "node:assert/strict";
import { afterEach, beforeEach, suite, test } from "node:test";
import { NodeCluster } from "../nodes.suite.ts";
import { ttl } from "./ttl.ts";

suite("ttl-controller", () => {
  let cluster: NodeCluster;

  beforeEach(() => {
    cluster = new NodeCluster();
    cluster.start(ttl(cluster));
  });
  afterEach(() => cluster.end());

  const ttlOf = async (name: string) =>
    (await cluster.node(name))?.metadata.annotations?.["node.alpha.kubernetes.io/ttl"];
  const hasTtl = (name: string, seconds: string) => cluster.pass(async () => (await ttlOf(name)) === seconds);
  const corrects = async (name: string, seconds: string) => {
    const patch = { metadata: { annotations: { "node.alpha.kubernetes.io/ttl": "x" } } };
    await cluster.client.patch(cluster.resource("nodes"), { namespace: "", name }, patch);
    await hasTtl(name, seconds);
  };
  const nameOf = (index: number) => `n${index}`;

  test("sets the annotation by the number of nodes, with overlapping ranges", async () => {
    for (let index = 0; index < 100; index += 1) await cluster.create("nodes", nameOf(index));
    await hasTtl(nameOf(0), "0");
    await hasTtl(nameOf(99), "0");
    // After it, no change of an earlier node is left in the queue.
    await corrects(nameOf(99), "0");
    await cluster.create("nodes", nameOf(100));
    await hasTtl(nameOf(100), "15");
    assert.equal(await ttlOf(nameOf(0)), "0");
    await cluster.setCondition(nameOf(0), "Ready", "True");
    await hasTtl(nameOf(0), "15");
    for (let index = 91; index < 101; index += 1) await cluster.delete("nodes", nameOf(index), {}, "");
    await cluster.setCondition(nameOf(1), "Ready", "True");
    await hasTtl(nameOf(1), "15");
    for (let index = 89; index < 91; index += 1) await cluster.delete("nodes", nameOf(index), {}, "");
    await cluster.setCondition(nameOf(0), "Ready", "False");
    await hasTtl(nameOf(0), "0");
  });

  test("corrects an annotation", async () => {
    await cluster.create("nodes", "a");
    await hasTtl("a", "0");
    await corrects("a", "0");
  });
});
