import assert from "node:assert/strict";
import { suite, test } from "node:test";
import type { MakePlugin } from "../plugin.ts";
import { BALANCED_ARGS, nodeResourcesBalancedAllocation } from "./node-resources-balanced-allocation.ts";
import { FIT_ARGS, nodeResourcesFit } from "./node-resources-fit.ts";
import { node, PluginWorld, pod, requesting } from "./plugins.suite.ts";

const sized = (name: string, cpu: string, memory: string, more: { [name: string]: string } = {}) =>
  node(name, { status: { allocatable: { cpu, memory, pods: "110", ...more } } });
const strategy = (type: string, more: object = {}) => ({
  scoringStrategy: { ...FIT_ARGS.scoringStrategy, type, ...more },
});
const SHAPE = [
  { utilization: 0, score: 10 },
  { utilization: 100, score: 0 },
];

suite("NodeResourcesFit", () => {
  test("rejects nodes that lack something, and says what", () => {
    const world = new PluginWorld(nodeResourcesFit, FIT_ARGS, sized("a", "2", "4Gi"), sized("b", "1", "8Gi"));
    world.place("a", requesting("other", { cpu: "1500m", memory: "1Gi" }));
    assert.deepEqual(world.check(requesting("p", { cpu: "1", memory: "6Gi", "example.com/gpu": "1" })), {
      a: "Insufficient cpu, Insufficient memory, Insufficient example.com/gpu",
      b: "Insufficient example.com/gpu",
    });
    assert.deepEqual(world.check(pod("p")), { a: undefined, b: undefined });
  });

  test("rejects nodes with as many Pods as they may have", () => {
    const full = node("a", { status: { allocatable: { cpu: "1", memory: "1Gi", pods: "1" } } });
    const world = new PluginWorld(nodeResourcesFit, FIT_ARGS, full).place("a", pod("other"));
    assert.deepEqual(world.check(requesting("p", { cpu: "2" })), { a: "Too many pods, Insufficient cpu" });
  });

  test("is unresolvable only if an empty node would be too small", () => {
    const world = new PluginWorld(nodeResourcesFit, FIT_ARGS, sized("a", "2", "4Gi"));
    world.place("a", requesting("other", { cpu: "2" }));
    const [info] = world.state.nodes;
    const check = (cpu: string) => world.plugin.filter?.(world.info(requesting("p", { cpu })))?.check(info as never);
    assert.deepEqual([check("1")?.isUnresolvable, check("3")?.isUnresolvable], [false, true]);
  });

  test("counts the largest init container and all sidecars", () => {
    const requests = (cpu: string) => ({ resources: { requests: { cpu } } });
    const world = new PluginWorld(nodeResourcesFit, FIT_ARGS, sized("a", "3", "4Gi"));
    const spec = (init: string) => ({
      initContainers: [
        { name: "sidecar", restartPolicy: "Always", ...requests("1") },
        { name: "init", ...requests(init) },
      ],
      containers: [{ name: "main", ...requests("1") }],
    });
    assert.deepEqual(world.check(pod("p", spec("2"))), { a: undefined });
    assert.deepEqual(world.check(pod("p", spec("2001m"))), { a: "Insufficient cpu" });
  });

  test("does not check ignored extended resources", () => {
    const args = { ...FIT_ARGS, ignoredResources: ["example.com/a"], ignoredResourceGroups: ["example.org"] };
    const world = new PluginWorld(nodeResourcesFit, args, sized("a", "2", "4Gi"));
    const wanted = { "example.com/a": "1", "example.org/b": "1", "example.com/c": "1" };
    assert.deepEqual(world.check(requesting("p", wanted)), { a: "Insufficient example.com/c" });
  });

  // Expected scores: least_allocated_test.go, most_allocated_test.go, requested_to_capacity_ratio_test.go
  const scored: readonly [string, object, readonly number[]][] = [
    ["LeastAllocated", FIT_ARGS, [37, 50]],
    ["MostAllocated", strategy("MostAllocated"), [62, 50]],
    [
      "RequestedToCapacityRatio",
      strategy("RequestedToCapacityRatio", { requestedToCapacityRatio: { shape: SHAPE } }),
      [38, 50],
    ],
  ];
  for (const [type, args, expected] of scored) {
    test(`scores nodes of different sizes by ${type}`, () => {
      const world = new PluginWorld(nodeResourcesFit, args, sized("a", "4", "10000"), sized("b", "6", "10000"));
      const scores = world.scores(requesting("p", { cpu: "3", memory: "5000" }));
      assert.deepEqual(Object.values(scores ?? {}), expected);
    });
  }

  test("assumes a minimum for containers without requests when it scores", () => {
    const world = new PluginWorld(nodeResourcesFit, FIT_ARGS, sized("a", "1", "2000Mi"));
    assert.deepEqual(world.scores(pod("p")), { a: 90 });
    assert.deepEqual(world.place("a", pod("other")).scores(pod("p")), { a: 80 });
  });

  test("weights resources, and leaves out extended ones that the Pod does not request", () => {
    const resources = [
      { name: "cpu", weight: 3 },
      { name: "example.com/gpu", weight: 1 },
    ];
    const args = { scoringStrategy: { type: "MostAllocated", resources } };
    const world = new PluginWorld(nodeResourcesFit, args, sized("a", "4", "8Gi", { "example.com/gpu": "2" }));
    assert.deepEqual(world.scores(requesting("p", { cpu: "2" })), { a: 50 });
    assert.deepEqual(world.scores(requesting("p", { cpu: "2", "example.com/gpu": "2" })), { a: 62 });
  });
});

suite("NodeResourcesBalancedAllocation", () => {
  const make: MakePlugin<never> = nodeResourcesBalancedAllocation;

  test("prefers the node whose resources stay in balance", () => {
    const world = new PluginWorld(make, BALANCED_ARGS, sized("a", "4", "10000"), sized("b", "6", "10000"));
    assert.deepEqual(world.scores(requesting("p", { cpu: "3", memory: "5000" })), { a: 68, b: 75 });
  });

  test("has no opinion about Pods without requests", () => {
    assert.equal(new PluginWorld(make, BALANCED_ARGS, sized("a", "4", "10000")).scores(pod("p")), undefined);
  });
});
