import assert from "node:assert/strict";
import { test } from "node:test";
import type { JsonObject } from "../../../base/api/object.ts";
import type { Node } from "../../../kinds/types/node.ts";
import type { Pod } from "../../../kinds/types/workloads.ts";
import { podInfoOf } from "../pod-info.ts";
import { AFFINITY_ARGS, interPodAffinity } from "./inter-pod-affinity.ts";
import { node, PluginWorld, pod } from "./plugins.suite.ts";

const HOSTNAME = "kubernetes.io/hostname";
const NO_AFFINITY = "node(s) didn't match pod affinity rules";
const ANTI_AFFINITY = "node(s) didn't match pod anti-affinity rules";
const EXISTING = "node(s) didn't satisfy existing pods anti-affinity rules";

type Labels = { [key: string]: string };

const term = (labels: Labels, topologyKey: string, more: JsonObject = {}): JsonObject => ({
  labelSelector: { matchLabels: labels },
  topologyKey,
  ...more,
});
const required = (...terms: JsonObject[]) => ({ requiredDuringSchedulingIgnoredDuringExecution: terms });
const preferred = (weight: number, one: JsonObject) => ({
  preferredDuringSchedulingIgnoredDuringExecution: [{ weight, podAffinityTerm: one }],
});
const labelled = (name: string, labels: Labels, affinity: JsonObject = {}, namespace = "default"): Pod =>
  pod(name, { affinity }, { labels, namespace });

/** Two nodes in zone 1 and one in zone 2. */
const NODES: readonly Node[] = [
  node("a", { labels: { zone: "1" } }),
  node("b", { labels: { zone: "1" } }),
  node("x", { labels: { zone: "2" } }),
];
const worldOf = (nodes = NODES) => new PluginWorld(interPodAffinity, AFFINITY_ARGS, ...nodes);
const web = { app: "web" };
const db = { app: "db" };

test("InterPodAffinity allows only domains with a Pod that all affinity terms select", () => {
  const world = worldOf().place("a", labelled("db", { ...db, tier: "1" }));
  const check = (...terms: JsonObject[]) => world.check(labelled("p", web, { podAffinity: required(...terms) }));
  assert.deepEqual(check(term(db, "zone")), { a: undefined, b: undefined, x: NO_AFFINITY });
  assert.deepEqual(check(term(db, HOSTNAME)), { a: undefined, b: NO_AFFINITY, x: NO_AFFINITY });
  assert.deepEqual(check(term(db, "zone"), term({ tier: "1" }, HOSTNAME)).b, NO_AFFINITY);
  assert.deepEqual(check(term(db, "zone"), term({ tier: "2" }, "zone")).a, NO_AFFINITY);
  assert.deepEqual(check(term(db, "rack")).a, NO_AFFINITY);
});

test("InterPodAffinity allows the first of Pods with affinity to themselves", () => {
  const first = labelled("p", web, { podAffinity: required(term(web, "zone")) });
  const nodes = [...NODES, node("y")];
  const world = worldOf(nodes);
  assert.deepEqual(world.check(first), { a: undefined, b: undefined, x: undefined, y: NO_AFFINITY });
  world.place("x", labelled("other", web));
  assert.deepEqual(world.check(first), { a: NO_AFFINITY, b: NO_AFFINITY, x: undefined, y: NO_AFFINITY });
  world.place("x", labelled("other", web, {}, "elsewhere"));
  assert.equal(world.check(first).a, undefined);
});

test("InterPodAffinity rejects domains with Pods that anti-affinity selects", () => {
  const world = worldOf().place("a", labelled("w", web));
  const check = (topologyKey: string) =>
    world.check(labelled("p", web, { podAntiAffinity: required(term(web, topologyKey)) }));
  assert.deepEqual(check("zone"), { a: ANTI_AFFINITY, b: ANTI_AFFINITY, x: undefined });
  assert.deepEqual(check(HOSTNAME), { a: ANTI_AFFINITY, b: undefined, x: undefined });
  assert.deepEqual(check("rack"), { a: undefined, b: undefined, x: undefined });
});

test("InterPodAffinity rejects domains whose Pods have anti-affinity to the Pod", () => {
  const world = worldOf().place("a", labelled("w", db, { podAntiAffinity: required(term(web, "zone")) }));
  assert.deepEqual(world.check(labelled("p", web)), { a: EXISTING, b: EXISTING, x: undefined });
  assert.equal(world.plugin.filter?.(podInfoOf(labelled("p", db))), undefined);
  assert.equal(world.plugin.filter?.(podInfoOf(labelled("p", web, {}, "other"))), undefined);
});

test("InterPodAffinity ignores Pods on nodes that do not exist", () => {
  const world = worldOf().place("gone", labelled("w", db, { podAntiAffinity: required(term(web, "zone")) }));
  assert.equal(world.plugin.filter?.(podInfoOf(labelled("p", web))), undefined);
});

test("InterPodAffinity finds Pods in the namespaces of a term", async () => {
  const world = worldOf();
  const { kinds } = world;
  await world.load();
  for (const [name, team] of [
    ["one", "1"],
    ["two", "2"],
    ["default", "0"],
  ] as const) {
    await kinds.create("namespaces", name, { content: { metadata: { name, labels: { team } } } });
  }
  await world.load();
  world.place("a", labelled("w1", web, {}, "one")).place("x", labelled("w2", web, {}, "two"));
  const rejected = (more: JsonObject, namespace = "default") =>
    Object.entries(
      world.check(labelled("p", {}, { podAntiAffinity: required(term(web, HOSTNAME, more)) }, namespace)),
    ).flatMap(([name, reason]) => (reason ? [name] : []));
  assert.deepEqual(rejected({}), []);
  assert.deepEqual(rejected({ namespaces: ["one"] }), ["a"]);
  assert.deepEqual(rejected({ namespaceSelector: { matchLabels: { team: "2" } } }), ["x"]);
  assert.deepEqual(rejected({ namespaceSelector: {} }).sort(), ["a", "x"]);
  assert.deepEqual(rejected({ namespaces: ["one"], namespaceSelector: { matchLabels: { team: "2" } } }).sort(), [
    "a",
    "x",
  ]);
  const selecting = { namespaceSelector: { matchLabels: { team: "0" } } };
  world.place("b", labelled("w3", {}, { podAntiAffinity: required(term(db, HOSTNAME, selecting)) }, "two"));
  assert.equal(world.check(labelled("p", db)).b, EXISTING);
  assert.equal(world.check(labelled("p", db, {}, "one")).b, undefined);
  await world.stop();
});

test("InterPodAffinity follows Pods that come and go in a simulation", () => {
  const world = worldOf().place("a", labelled("w", web, { podAntiAffinity: required(term(web, "zone")) }));
  const waiting = labelled("p", web, {
    podAntiAffinity: required(term(web, HOSTNAME)),
    podAffinity: required(term(db, "zone")),
  });
  const filter = world.plugin.filter?.(podInfoOf(waiting));
  const [a, b] = [world.state.node("a"), world.state.node("b")];
  assert.ok(filter && a && b);
  const copy = filter.copy?.();
  const [w] = a.pods.values();
  assert.ok(copy && w);
  assert.deepEqual(copy.check(b)?.reasons, [NO_AFFINITY]);
  copy.addPod(podInfoOf(labelled("db", db)), a);
  assert.deepEqual(copy.check(b)?.reasons, [EXISTING]);
  assert.deepEqual(copy.check(a)?.reasons, [ANTI_AFFINITY]);
  copy.removePod(w, a);
  assert.deepEqual([copy.check(a), copy.check(b)], [undefined, undefined]);
  assert.deepEqual(filter.check(b)?.reasons, [NO_AFFINITY]);
});

test("InterPodAffinity prefers domains by the weights of both sides", () => {
  const s1 = { security: "S1" };
  const s2 = { security: "S2" };
  const region = (name: string, labels: Labels) => node(name, { labels });
  const china = { region: "China" };
  const india = { region: "India" };
  const both = {
    podAffinity: preferred(8, term(s1, "region")),
    podAntiAffinity: preferred(5, term(s2, "az")),
  };
  const away = { podAntiAffinity: preferred(5, term(s1, "az")) };
  const world = worldOf([
    region("n1", china),
    region("n2", { az: "1" }),
    region("n3", india),
    region("n4", { az: "2" }),
  ]);
  world.place("n1", labelled("p1", s1)).place("n2", labelled("p2", s2));
  world.place("n3", labelled("p3", {}, both)).place("n4", labelled("p4", {}, away));
  assert.deepEqual(world.scores(labelled("p", s1, both)), { n1: 100, n2: 0, n3: 100, n4: 0 });

  const hard = worldOf([region("n1", china), region("n2", india), region("n3", { az: "1" })]);
  const hardAffinity = { podAffinity: required(term(s1, "region")) };
  hard.place("n1", labelled("p1", s1, hardAffinity)).place("n2", labelled("p2", s2, hardAffinity));
  assert.deepEqual(hard.scores(labelled("p", s1)), { n1: 100, n2: 100, n3: 0 });
  assert.equal(hard.scores(labelled("p", s2)), undefined);

  const counts = worldOf();
  for (const [index, name] of ["a", "b", "b", "b"].entries()) counts.place(name, labelled(`w${index}`, web));
  const close = labelled("p", web, { podAffinity: preferred(1, term(web, HOSTNAME)) });
  assert.deepEqual(counts.scores(close), { a: 33, b: 100, x: 0 });
  assert.equal(counts.scores(labelled("p", web)), undefined);
});

test("InterPodAffinity queues Pods after changes that matter", () => {
  const { events = [] } = worldOf().plugin;
  const hintOf = (resource: string) => events.find((event) => event.resource === resource)?.hint;
  const waiting = labelled("p", web, {
    podAffinity: required(term(db, "zone")),
    podAntiAffinity: required(term({ app: "cache" }, "rack")),
  });
  const placed = (labels: Labels, affinity: JsonObject = {}, nodeName = "a") =>
    pod("other", { nodeName, affinity }, { labels });
  const cache = { app: "cache" };
  const assigned: readonly (readonly [Pod | undefined, Pod | undefined, boolean])[] = [
    [undefined, placed(db), true],
    [undefined, placed(web), false],
    [undefined, placed(db, {}, ""), false],
    [placed(web), placed(db), true],
    [placed(db), placed(web), false],
    [placed(cache), placed(web), true],
    [placed(cache), undefined, true],
    [placed(db), undefined, false],
    [placed(db, { podAntiAffinity: required(term(web, "zone")) }), undefined, true],
  ];
  for (const [before, after, expected] of assigned) {
    assert.equal(hintOf("AssignedPod")?.(waiting, before, after), expected);
  }
  const [zone, rack] = [
    (value: string) => node("n", { labels: { zone: value } }),
    node("n", { labels: { rack: "1" } }),
  ];
  const onlyAffinity = labelled("p", web, { podAffinity: required(term(db, "zone")) });
  const nodes: readonly (readonly [Pod, Node | undefined, Node, boolean])[] = [
    [waiting, undefined, node("n"), true],
    [onlyAffinity, undefined, node("n"), false],
    [onlyAffinity, undefined, zone("1"), true],
    [waiting, node("n"), zone("1"), true],
    [waiting, zone("1"), zone("2"), true],
    [waiting, zone("1"), node("n"), false],
    [waiting, rack, node("n"), true],
    [waiting, node("n"), rack, false],
  ];
  for (const [target, before, after, expected] of nodes) {
    assert.equal(hintOf("Node")?.(target, before, after), expected);
  }
});
