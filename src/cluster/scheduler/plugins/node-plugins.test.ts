import assert from "node:assert/strict";
import { suite, test } from "node:test";
import type { JsonObject } from "../../../base/api/object.ts";
import { nodeAffinity } from "./node-affinity.ts";
import { nodePorts } from "./node-ports.ts";
import { nodeUnschedulable } from "./node-unschedulable.ts";
import { node, PluginWorld, pod } from "./plugins.suite.ts";
import { schedulingGates } from "./scheduling-gates.ts";
import { taintToleration } from "./taint-toleration.ts";

const tainted = (name: string, ...effects: readonly string[]) =>
  node(name, { spec: { taints: effects.map((effect, index) => ({ key: `k${index}`, value: "v", effect })) } });

suite("NodeUnschedulable", () => {
  const world = new PluginWorld(nodeUnschedulable, {}, node("a", { spec: { unschedulable: true } }), node("b"));

  test("rejects cordoned nodes", () => {
    assert.deepEqual(world.check(pod("p")), { a: "node(s) were unschedulable", b: undefined });
  });

  test("allows them to Pods that tolerate the taint of cordoned nodes", () => {
    const tolerations = [{ key: "node.kubernetes.io/unschedulable", operator: "Exists", effect: "NoSchedule" }];
    assert.deepEqual(world.check(pod("p", { tolerations })), { a: undefined, b: undefined });
  });
});

suite("TaintToleration", () => {
  test("rejects nodes with NoSchedule and NoExecute that the Pod does not tolerate", () => {
    const nodes = ["NoSchedule", "NoExecute", "PreferNoSchedule"].map((effect) => tainted(effect, effect));
    const world = new PluginWorld(taintToleration, {}, ...nodes);
    const reason = "node(s) had untolerated taint(s)";
    assert.deepEqual(world.check(pod("p")), { NoSchedule: reason, NoExecute: reason, PreferNoSchedule: undefined });
    const tolerations = [{ key: "k0", operator: "Equal", value: "v", effect: "NoSchedule" }];
    assert.equal(world.check(pod("p", { tolerations })).NoSchedule, undefined);
  });

  test("prefers nodes with few taints PreferNoSchedule", () => {
    const nodes = [
      node("none"),
      tainted("one", "PreferNoSchedule"),
      tainted("two", "PreferNoSchedule", "PreferNoSchedule"),
    ];
    const world = new PluginWorld(taintToleration, {}, ...nodes);
    assert.deepEqual(world.scores(pod("p")), { none: 100, one: 50, two: 0 });
    const tolerations = [{ key: "k0", operator: "Exists" }];
    assert.deepEqual(world.scores(pod("p", { tolerations })), { none: 100, one: 100, two: 0 });
  });
});

suite("NodePorts", () => {
  const withPort = (name: string, port: JsonObject) =>
    pod(name, { containers: [{ name: "c", image: "i", ports: [{ containerPort: 80, ...port }] }] });
  const reason = "node(s) didn't have free ports for the requested pod ports";
  const cases: readonly [used: JsonObject, wanted: JsonObject, isFree: boolean][] = [
    [{ hostPort: 80 }, { hostPort: 80 }, false],
    [{ hostPort: 80 }, { hostPort: 81 }, true],
    [{ hostPort: 80, protocol: "UDP" }, { hostPort: 80 }, true],
    [{ hostPort: 80, hostIP: "127.0.0.1" }, { hostPort: 80 }, false],
    [{ hostPort: 80 }, { hostPort: 80, hostIP: "127.0.0.1" }, false],
    [{ hostPort: 80, hostIP: "127.0.0.1" }, { hostPort: 80, hostIP: "127.0.0.2" }, true],
  ];
  for (const [used, wanted, isFree] of cases) {
    test(`${JSON.stringify(wanted)} is ${isFree ? "free" : "in use"} beside ${JSON.stringify(used)}`, () => {
      const world = new PluginWorld(nodePorts, {}, node("a")).place("a", withPort("other", used));
      assert.deepEqual(world.check(withPort("p", wanted)), { a: isFree ? undefined : reason });
    });
  }
});

suite("NodeAffinity", () => {
  const nodes = [node("a", { labels: { disk: "ssd", rank: "3" } }), node("b", { labels: { disk: "hdd" } })];
  const required = (...nodeSelectorTerms: readonly JsonObject[]) => ({
    affinity: {
      nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [...nodeSelectorTerms] } },
    },
  });
  const named = (...values: readonly string[]) => ({
    matchFields: values.map((value) => ({ key: "metadata.name", operator: "In", values: [value] })),
  });
  const reason = "node(s) didn't match Pod's node affinity/selector";

  test("rejects nodes that neither the selector nor a term matches", () => {
    const world = new PluginWorld(nodeAffinity, {}, ...nodes);
    assert.deepEqual(world.check(pod("p", { nodeSelector: { disk: "ssd" } })), { a: undefined, b: reason });
    const term = { matchExpressions: [{ key: "rank", operator: "Gt", values: ["2"] }] };
    assert.deepEqual(world.check(pod("p", required(term))), { a: undefined, b: reason });
    assert.deepEqual(world.check(pod("p", required({}))), { a: reason, b: reason });
  });

  test("names the only possible nodes if all terms do", () => {
    const { plugin, info } = new PluginWorld(nodeAffinity, {}, ...nodes);
    const filter = (...terms: readonly JsonObject[]) => plugin.filter?.(info(pod("p", required(...terms))));
    assert.deepEqual([...(filter(named("a"), named("c"))?.nodeNames ?? [])], ["a", "c"]);
    assert.equal(filter(named("a"), { matchExpressions: [{ key: "disk", operator: "Exists" }] })?.nodeNames, undefined);
    assert.deepEqual(filter(named("a", "b"))?.rejection?.reasons, ["pod affinity terms conflict"]);
  });

  test("adds the affinity of the profile", () => {
    const { nodeAffinity: addedAffinity } = required({
      matchExpressions: [{ key: "disk", operator: "In", values: ["hdd"] }],
    }).affinity;
    const world = new PluginWorld(nodeAffinity, { addedAffinity }, ...nodes);
    assert.deepEqual(world.check(pod("p")), {
      a: "node(s) didn't match scheduler-enforced node affinity",
      b: undefined,
    });
  });

  test("prefers nodes by the weights of the terms that match", () => {
    const prefer = (weight: number, disk: string) => ({
      weight,
      preference: { matchExpressions: [{ key: "disk", operator: "In", values: [disk] }] },
    });
    const preferredDuringSchedulingIgnoredDuringExecution = [prefer(4, "hdd"), prefer(1, "ssd"), prefer(1, "ssd")];
    const affinity = { nodeAffinity: { preferredDuringSchedulingIgnoredDuringExecution } };
    const world = new PluginWorld(nodeAffinity, {}, ...nodes);
    assert.deepEqual(world.scores(pod("p", { affinity })), { a: 50, b: 100 });
    assert.equal(world.scores(pod("p")), undefined);
  });
});

test("SchedulingGates names the gates of a Pod", () => {
  const { plugin } = new PluginWorld(schedulingGates);
  assert.equal(
    plugin.preEnqueue?.(pod("p", { schedulingGates: [{ name: "a" }, { name: "b" }] })),
    "waiting for scheduling gates: [a b]",
  );
  assert.equal(plugin.preEnqueue?.(pod("p")), undefined);
});
