import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { type Choice, NodeChooser, NoNodes } from "./choose-node.ts";
import { ClusterState } from "./cluster-state.ts";
import { NominatedPods } from "./nominated-pods.ts";
import { type Plugin, unresolvable, unschedulable } from "./plugin.ts";
import { node, pod } from "./plugins/plugins.suite.ts";
import { podInfoOf } from "./pod-info.ts";
import { Profile } from "./profile.ts";
import { Unfit } from "./unfit.ts";

function chooserOf(count: number, ...plugins: readonly Plugin[]) {
  const cluster = new ClusterState();
  for (let index = 0; index < count; index++) cluster.setNode(node(`n${index}`));
  const profile = new Profile(
    "test",
    plugins.map((plugin) => ({ plugin, weight: 1 })),
  );
  const chooser = new NodeChooser(cluster, new NominatedPods());
  return () => chooser.choose(podInfoOf(pod("p")), profile);
}

const messageOf = (result: Choice | Unfit) => (result instanceof Unfit ? result.message : result.node.name);
const naming = (name: string, ...nodeNames: readonly string[]): Plugin => ({
  name,
  filter: () => ({ nodeNames: new Set(nodeNames), check: () => undefined }),
});

suite("choosing a node", () => {
  test("throws if there are no nodes", () => {
    assert.throws(chooserOf(0), NoNodes);
  });

  test("takes the first of the nodes with the highest score", () => {
    const plugin: Plugin = { name: "P", score: () => ({ score: ({ name }) => (name === "n0" ? 0 : 7) }) };
    assert.equal(messageOf(chooserOf(3, plugin)()), "n1");
  });

  test("counts the reasons of all nodes, in the order of their text", () => {
    const [one, other] = [unschedulable("P", "b", "a"), unresolvable("P", "c")];
    const plugin: Plugin = { name: "P", filter: () => ({ check: ({ name }) => (name === "n0" ? other : one) }) };
    assert.equal(messageOf(chooserOf(12, plugin)()), "0/12 nodes are available: 1 c, 11 a, 11 b.");
  });

  test("reports plugins that name nodes which no other allows", () => {
    assert.equal(
      messageOf(chooserOf(3, naming("A", "n0"), naming("B", "n1"))()),
      "0/3 nodes are available: node(s) didn't satisfy plugin(s) [A B] simultaneously.",
    );
    assert.equal(
      messageOf(chooserOf(3, naming("A", "gone"))()),
      "0/3 nodes are available: 3 node(s) didn't satisfy plugin(s) [A].",
    );
    assert.equal(messageOf(chooserOf(3, naming("A", "n0", "n1"), naming("B", "n1", "n2"))()), "n1");
  });

  test("tries a part of many nodes, and others the next time", () => {
    const tried: string[] = [];
    const plugin: Plugin = {
      name: "P",
      filter: () => ({
        check({ name }) {
          tried.push(name);
          return undefined;
        },
      }),
    };
    const choose = chooserOf(1000, plugin);
    assert.equal(messageOf(choose()), "n0");
    assert.equal(tried.length, 420);
    assert.equal(messageOf(choose()), "n420");
  });
});
