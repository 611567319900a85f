import assert from "node:assert/strict";
import { test } from "node:test";
import type { JsonObject } from "../../../base/api/object.ts";
import type { Node } from "../../../kinds/types/node.ts";
import type { Pod } from "../../../kinds/types/workloads.ts";
import { podInfoOf } from "../pod-info.ts";
import { node, PluginWorld, pod } from "./plugins.suite.ts";
import { podTopologySpread, SPREAD_ARGS } from "./pod-topology-spread.ts";

const ZONE = "topology.kubernetes.io/zone";
const HOSTNAME = "kubernetes.io/hostname";
const FOO = { matchExpressions: [{ key: "foo", operator: "Exists" }] };
const TOO_MANY = "node(s) didn't match pod topology spread constraints";
const MISSING = `${TOO_MANY} (missing required label)`;

/** Two zones with two nodes each. */
const NODES: readonly Node[] = [
  node("a", { labels: { zone: "1" } }),
  node("b", { labels: { zone: "1" } }),
  node("x", { labels: { zone: "2" } }),
  node("y", { labels: { zone: "2" } }),
];

const spread = (topologyKey: string, maxSkew = 1, more: JsonObject = {}): JsonObject => ({
  topologyKey,
  maxSkew,
  whenUnsatisfiable: "DoNotSchedule",
  labelSelector: FOO,
  ...more,
});

const { labelSelector: _, ...unselective } = spread("zone");

const soft = (topologyKey: string, maxSkew = 1, more: JsonObject = {}): JsonObject =>
  spread(topologyKey, maxSkew, { whenUnsatisfiable: "ScheduleAnyway", ...more });

const foo = (constraints: JsonObject[], spec: JsonObject = {}, labels: { [key: string]: string } = { foo: "" }): Pod =>
  pod("p", { topologySpreadConstraints: constraints, ...spec }, { labels });

/** Nodes with this many matching Pods. */
function worldOf(counts: Readonly<Record<string, number>>, nodes = NODES, args: unknown = SPREAD_ARGS): PluginWorld {
  const world = new PluginWorld(podTopologySpread, args, ...nodes);
  for (const [name, count] of Object.entries(counts)) {
    for (let index = 0; index < count; index++) {
      world.place(name, pod(`${name}${index}`, {}, { labels: { foo: "" } }));
    }
  }
  return world;
}

/** The nodes that are possible. */
const possible = (world: PluginWorld, waiting: Pod) =>
  Object.entries(world.check(waiting)).flatMap(([name, reason]) => (reason === undefined ? [name] : []));

test("PodTopologySpread allows nodes whose domain stays within maxSkew", () => {
  const cases: readonly (readonly [string, Record<string, number>, Pod, string])[] = [
    ["no Pods", {}, foo([spread("zone")]), "axby"],
    ["zones 3/3", { a: 2, b: 1, y: 3 }, foo([spread("zone")]), "axby"],
    ["nodes 2/1/0/3", { a: 2, b: 1, y: 3 }, foo([spread(HOSTNAME)]), "x"],
    ["nodes 2/1/0/3 with maxSkew 2", { a: 2, b: 1, y: 3 }, foo([spread(HOSTNAME, 2)]), "bx"],
    ["a Pod that does not match itself", { a: 2, b: 1, y: 3 }, foo([spread(HOSTNAME)], {}, { bar: "" }), "bx"],
    ["no selector", { x: 1, y: 1 }, foo([unselective]), "axby"],
    ["zones 3/4 and nodes 2/1/0/4", { a: 2, b: 1, y: 4 }, foo([spread("zone"), spread(HOSTNAME)]), ""],
    ["nodes 0/1/0/1", { b: 1, y: 1 }, foo([spread("zone"), spread(HOSTNAME)]), "ax"],
    ["too few domains", { a: 1, x: 1 }, foo([spread("zone", 1, { minDomains: 3 })]), ""],
    ["enough domains", { a: 1, x: 1 }, foo([spread("zone", 1, { minDomains: 2 })]), "axby"],
    ["a node selector", { a: 2, b: 1, y: 3 }, foo([spread(HOSTNAME)], { nodeSelector: { zone: "1" } }), "bxy"],
    [
      "an ignored node selector",
      { a: 2, b: 1, y: 3 },
      foo([spread(HOSTNAME, 1, { nodeAffinityPolicy: "Ignore" })], { nodeSelector: { zone: "1" } }),
      "x",
    ],
    [
      "label keys that match none",
      { a: 1 },
      foo([spread("zone", 1, { matchLabelKeys: ["foo", "v"] })], {}, { foo: "", v: "2" }),
      "axby",
    ],
    ["label keys that match", { a: 1 }, foo([spread("zone", 1, { matchLabelKeys: ["foo", "v"] })]), "xy"],
  ];
  for (const [name, counts, waiting, expected] of cases) {
    assert.deepEqual(possible(worldOf(counts), waiting).sort(), [...expected].sort(), name);
  }
});

test("PodTopologySpread counts no terminating Pods and no Pods of other namespaces", () => {
  const world = worldOf({ x: 1 });
  world.place("a", pod("gone", {}, { labels: { foo: "" }, deletionTimestamp: "2026-01-01T00:00:00Z" }));
  world.place("a", pod("other", {}, { labels: { foo: "" }, namespace: "other" }));
  assert.deepEqual(possible(world, foo([spread("zone")])), ["a", "b"]);
});

test("PodTopologySpread rejects nodes without the topology key", () => {
  const nodes = [node("a", { labels: { zone: "1" } }), node("b"), node("x", { labels: { zone: "2" } })];
  const world = worldOf({ a: 1, b: 1, x: 2 }, nodes);
  assert.deepEqual(world.check(foo([spread("zone")])), { a: undefined, b: MISSING, x: TOO_MANY });
});

test("PodTopologySpread ignores tainted nodes if nodeTaintsPolicy is Honor", () => {
  const taints = [{ key: "k", value: "v", effect: "NoSchedule" }];
  const nodes = [node("a", { spec: { taints } }), node("b"), node("c")];
  const world = worldOf({ b: 1, c: 1 }, nodes);
  assert.deepEqual(possible(world, foo([spread(HOSTNAME)])), ["a"]);
  const honoring = [spread(HOSTNAME, 1, { nodeTaintsPolicy: "Honor" })];
  assert.deepEqual(possible(world, foo(honoring)), ["a", "b", "c"]);
  const tolerations = [{ key: "k", operator: "Exists" }];
  assert.deepEqual(possible(world, foo(honoring, { tolerations })), ["a"]);
});

test("PodTopologySpread follows Pods that come and go in a simulation", () => {
  const world = worldOf({ a: 1, b: 1, x: 1, y: 1 });
  const { cluster } = world.context;
  const filter = world.plugin.filter?.(podInfoOf(foo([spread(HOSTNAME)])));
  const [a, b] = [cluster.node("a"), cluster.node("b")];
  assert.ok(filter && a && b);
  const copy = filter.copy?.();
  const other = podInfoOf(pod("other", {}, { labels: { foo: "" } }));
  copy?.addPod(other, a);
  assert.equal(copy?.check(a)?.reasons[0], TOO_MANY);
  assert.equal(filter.check(a), undefined);
  copy?.removePod(other, a);
  assert.equal(copy?.check(a), undefined);
  copy?.removePod(other, a);
  assert.equal(copy?.check(a), undefined);
  assert.equal(copy?.check(b)?.reasons[0], TOO_MANY);
});

test("PodTopologySpread prefers domains with few Pods", () => {
  const cases: readonly (readonly [Record<string, number>, Pod, Record<string, number>])[] = [
    [{}, foo([soft(HOSTNAME)]), { a: 100, b: 100, x: 100, y: 100 }],
    [{ a: 2, b: 1, y: 3 }, foo([soft(HOSTNAME)]), { a: 20, b: 60, x: 100, y: 0 }],
    [{ a: 2, b: 1, y: 3 }, foo([soft(HOSTNAME, 2)]), { a: 33, b: 66, x: 100, y: 16 }],
    [{ a: 4, b: 3, x: 2, y: 1 }, foo([soft(HOSTNAME, 3)]), { a: 44, b: 66, x: 77, y: 100 }],
    [{ a: 2, b: 1, y: 3 }, foo([soft("zone")]), { a: 100, b: 100, x: 100, y: 100 }],
    [{ a: 2, b: 1, y: 5 }, foo([soft("zone")]), { a: 100, b: 100, x: 57, y: 57 }],
  ];
  for (const [counts, waiting, expected] of cases) assert.deepEqual(worldOf(counts).scores(waiting), expected);
});

test("PodTopologySpread gives 0 to nodes without a topology key", () => {
  const nodes = [node("a", { labels: { zone: "1" } }), node("b"), node("c", { labels: { zone: "2" } })];
  assert.deepEqual(worldOf({ a: 1, b: 2 }, nodes).scores(foo([soft("zone")])), { a: 0, b: 0, c: 100 });
});

test("PodTopologySpread has no scores for Pods without constraints", () => {
  assert.equal(worldOf({}).scores(pod("p")), undefined);
  assert.equal(worldOf({}).scores(foo([spread("zone")])), undefined);
});

test("PodTopologySpread spreads the Pods of Services and controllers by default", async () => {
  const world = worldOf({ a: 4, b: 3, x: 2, y: 1 });
  const { kinds } = world;
  const waiting = pod("p", {}, { labels: { foo: "", app: "web" } });
  await world.load();
  assert.equal(world.scores(waiting), undefined);
  await kinds.create("services", "web", { content: { spec: { clusterIP: "None", selector: { foo: "" } } } });
  await world.load();
  assert.deepEqual(world.scores(waiting), { a: 44, b: 66, x: 77, y: 100 });

  const template = { metadata: { labels: { app: "web" } }, spec: { containers: [{ name: "c", image: "i" }] } };
  await kinds.create("replicasets", "web", {
    content: { spec: { selector: { matchLabels: { app: "web" } }, template } },
  });
  await world.load();
  const owner = { apiVersion: "apps/v1", kind: "ReplicaSet", name: "web", uid: "u", controller: true };
  const owned = pod("p", {}, { labels: { foo: "", app: "web" }, ownerReferences: [owner] });
  assert.deepEqual(world.scores(owned), { a: 100, b: 100, x: 100, y: 100 }, "no Pod matches both selectors");
  await world.stop();
});

test("PodTopologySpread uses default constraints of its arguments", () => {
  const defaultConstraints = [spread(ZONE), soft(HOSTNAME)];
  const world = worldOf({}, NODES, { defaultingType: "List", defaultConstraints });
  assert.equal(world.check(pod("p")).a, undefined, "a Pod that belongs to nothing");
  assert.deepEqual(worldOf({}, NODES, { defaultingType: "List" }).plugin.uses, []);
});

test("PodTopologySpread queues Pods after changes that matter", () => {
  const { events = [] } = worldOf({}).plugin;
  const hintOf = (resource: string) => events.find((event) => event.resource === resource)?.hint;
  const waiting = foo([spread("zone", 1, { nodeTaintsPolicy: "Honor" })]);
  const placed = (labels: { [key: string]: string }, namespace = "default", nodeName = "a") =>
    pod("other", { nodeName }, { labels, namespace });
  const assigned: readonly (readonly [Pod | undefined, Pod | undefined, boolean])[] = [
    [undefined, placed({ foo: "" }), true],
    [undefined, placed({ bar: "" }), false],
    [undefined, placed({ foo: "" }, "other"), false],
    [undefined, placed({ foo: "" }, "default", ""), false],
    [placed({ foo: "" }), undefined, true],
    [placed({ bar: "" }), undefined, false],
    [placed({ foo: "1" }), placed({ foo: "2" }), false],
    [placed({ foo: "1" }), placed({ bar: "2" }), true],
  ];
  for (const [before, after, expected] of assigned) {
    assert.equal(hintOf("AssignedPod")?.(waiting, before, after), expected);
  }
  const zone = (value: string, taints: JsonObject[] = []) => node("n", { labels: { zone: value }, spec: { taints } });
  const nodes: readonly (readonly [Node | undefined, Node | undefined, boolean])[] = [
    [undefined, zone("1"), true],
    [undefined, node("n"), false],
    [zone("1"), undefined, true],
    [node("n"), undefined, false],
    [node("n"), zone("1"), true],
    [zone("1"), zone("2"), true],
    [zone("1"), zone("1"), false],
    [zone("1"), zone("1", [{ key: "k", effect: "NoSchedule" }]), true],
    [node("n"), node("n", { spec: { taints: [{ key: "k", effect: "NoSchedule" }] } }), false],
  ];
  for (const [before, after, expected] of nodes) assert.equal(hintOf("Node")?.(waiting, before, after), expected);
  const tolerating = foo([spread("zone", 1, { nodeTaintsPolicy: "Honor" })], { tolerations: [{ operator: "Exists" }] });
  assert.equal(hintOf("TargetPod")?.(tolerating, waiting, tolerating), true);
  const ignoring = foo([spread("zone")]);
  assert.equal(hintOf("TargetPod")?.(ignoring, waiting, { ...tolerating }), false);
});
