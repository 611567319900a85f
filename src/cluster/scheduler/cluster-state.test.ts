import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { ClusterState } from "./cluster-state.ts";
import { node, pod, requesting } from "./plugins/plugins.suite.ts";
import { podInfoOf } from "./pod-info.ts";

const zone = (name: string) => ({ labels: { "topology.kubernetes.io/zone": name } });
const names = (cluster: ClusterState) => cluster.nodes.map(({ name }) => name);

suite("cluster state", () => {
  test("lists the nodes of different zones in turn", () => {
    const cluster = new ClusterState();
    for (const one of [node("a1", zone("a")), node("a2", zone("a")), node("a3", zone("a")), node("b1", zone("b"))]) {
      cluster.setNode(one);
    }
    assert.deepEqual(names(cluster), ["a1", "b1", "a2", "a3"]);
    cluster.setNode(node("a2", zone("b")));
    cluster.removeNode("a1");
    assert.deepEqual(names(cluster), ["a3", "b1", "a2"]);
  });

  test("counts a Pod once, whether it is assumed, bound or changed", () => {
    const cluster = new ClusterState();
    cluster.setNode(node("a"));
    const waiting = requesting("p", { cpu: "1" });
    const used = () => [cluster.node("a")?.requested.milliCpu, cluster.node("a")?.pods.size];
    cluster.assume(podInfoOf(waiting), "a");
    assert.deepEqual([used(), cluster.isAssumed("p")], [[1000, 1], true]);
    cluster.setPod({ ...waiting, spec: { ...waiting.spec, nodeName: "a" } });
    assert.deepEqual([used(), cluster.isAssumed("p")], [[1000, 1], false]);
    const smaller = requesting("p", { cpu: "500m" }, { nodeName: "a" });
    cluster.setPod(smaller);
    assert.deepEqual(used(), [500, 1]);
    cluster.removePod("p");
    assert.deepEqual(used(), [0, 0]);
  });

  test("keeps Pods of a node that does not exist yet", () => {
    const cluster = new ClusterState();
    cluster.setPod(pod("p", { nodeName: "later" }));
    assert.deepEqual([names(cluster), cluster.node("later")], [[], undefined]);
    cluster.setNode(node("later"));
    assert.equal(cluster.node("later")?.pods.size, 1);
  });
});
