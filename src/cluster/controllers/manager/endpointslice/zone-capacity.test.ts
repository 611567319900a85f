import assert from "node:assert/strict";
import { suite, test } from "node:test";
import type { Node } from "../../../../kinds/types/node.ts";
import { allocate, isOverloaded, zoneShares } from "./zone-capacity.ts";

function node(zone: string, cpu: string, { labels = {}, ready = "True" } = {}): Node {
  return {
    kind: "Node",
    apiVersion: "v1",
    metadata: { labels: { "topology.kubernetes.io/zone": zone, ...labels } },
    status: { allocatable: { cpu }, conditions: [{ type: "Ready", status: ready }] },
  };
}

suite("zoneShares", () => {
  test("adds the CPUs of ready workers by zone", () => {
    const control = { labels: { "node-role.kubernetes.io/control-plane": "" } };
    const nodes = [node("a", "2"), node("a", "1"), node("b", "1000m"), node("c", "8", control), node("c", "8", { ready: "False" })]; // biome-ignore format: a table
    assert.deepEqual([...(zoneShares(nodes) ?? [])], [["a", 0.75], ["b", 0.25]]); // biome-ignore format: a table
  });

  test("needs two zones, and the zone and CPUs of every Node", () => {
    assert.equal(zoneShares([node("a", "2")]), undefined);
    assert.equal(zoneShares([node("a", "2"), node("b", "0")]), undefined);
    assert.equal(zoneShares([node("a", "2"), node("", "1")]), undefined);
  });
});

suite("allocate", () => {
  const shares = new Map([["a", 0.75], ["b", 0.25]]); // biome-ignore format: a table

  test("gives each zone its share within the overload threshold", () => {
    assert.deepEqual(allocate(shares, 8), new Map([
      ["a", { minimum: 5, maximum: 6, desired: 6 }],
      ["b", { minimum: 2, maximum: 3, desired: 2 }],
    ])); // biome-ignore format: a table
  });

  test("says why there can be no hints", () => {
    assert.equal(allocate(shares, 1), "Insufficient number of endpoints (1 endpoints, 2 zones)");
    assert.match(String(allocate(new Map([["a", 0.9], ["b", 0.1]]), 2)), /^Unable to allocate minimum .* \(2 endpoints, 2 zones\)$/); // biome-ignore format: a table
    assert.match(String(allocate(undefined, 2)), /^Insufficient Node information/);
  });
});

suite("isOverloaded", () => {
  test("tells whether a zone has too few endpoints", () => {
    const even = new Map([["a", 0.5], ["b", 0.5]]); // biome-ignore format: a table
    assert.equal(isOverloaded(new Map([["a", 3], ["b", 2]]), even), true); // biome-ignore format: a table
    assert.equal(isOverloaded(new Map([["a", 5], ["b", 5]]), even), false); // biome-ignore format: a table
    assert.equal(isOverloaded(new Map([["a", 5]]), even), true);
    assert.equal(isOverloaded(new Map([["a", 5]]), undefined), true);
    assert.equal(isOverloaded(new Map(), undefined), false);
  });
});
