import assert from "node:assert/strict";
import { test } from "node:test";
import type { KubeObject } from "../../base/api/object.ts";
import type { ResourceDefinition } from "../../resources/model/definition.ts";
import { World } from "./admission.suite.ts";
import { isInGroup, nameIn, targets } from "./matches.ts";

test("recognises built-in groups by their default names in any API domain", () => {
  const object = { kind: "PriorityClass", apiVersion: "", metadata: { name: "x" } };
  const usual = new World().request({ group: "scheduling.k8s.io", plural: "priorityclasses", object });
  const renamed = new World(undefined, "example.org").request({
    group: "scheduling.example.org",
    plural: "priorityclasses",
    object,
  });
  for (const request of [usual, renamed]) {
    assert.ok(targets(request, "scheduling.k8s.io", "priorityclasses"));
    assert.ok(!targets(request, "scheduling.k8s.io", "priorityclasses", "status"));
    assert.ok(!targets(request, "scheduling.k8s.io", "podgroups"));
    assert.ok(!targets(request, "storage.k8s.io", "priorityclasses"));
    assert.ok(!targets(request, "", "priorityclasses"));
  }
});

test("does not recognise a custom group with a similar name", () => {
  const { definition } = new World().resource("storage.k8s.io", "storageclasses");
  const [version] = definition.versions;
  assert.ok(version);
  const custom: ResourceDefinition = {
    ...definition,
    group: "storage.example.org",
    versions: [{ ...version, schemaName: "org.example.storage.v1.StorageClass" }],
  };
  assert.ok(!isInGroup(custom, "storage.k8s.io"));
  assert.ok(isInGroup(custom, "storage.example.org"));
  assert.ok(isInGroup({ ...definition, group: "storage.example.org" }, "storage.k8s.io"));
});

test("names the object or its generateName in a rejection", () => {
  const world = new World();
  const name = (metadata: KubeObject["metadata"]) =>
    nameIn(world.request({ plural: "pods", object: { kind: "Pod", apiVersion: "v1", metadata } }));
  assert.equal(name({ name: "a", generateName: "b-" }), "a");
  assert.equal(name({ generateName: "b-" }), "b-");
  assert.equal(name({}), "Unknown");
});
