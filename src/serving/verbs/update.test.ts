import assert from "node:assert/strict";
import { test } from "node:test";
import type { KubeObject } from "../../base/api/object.ts";
import { CONFIG_MAPS, configMap, refusal, World } from "./verbs.suite.ts";

test("update replaces the object and adds its manager", async () => {
  const world = new World();
  await world.object("POST", `${CONFIG_MAPS}?fieldManager=maker`, {
    body: configMap("a", { data: { k: "v", l: "w" } }),
  });
  world.admitted.length = 0;
  const object = await world.object("PUT", `${CONFIG_MAPS}/a`, { body: configMap("a", { data: { k: "x" } }) });
  assert.deepEqual(object.data, { k: "x" });
  const managers = object.metadata.managedFields as { manager: string; fieldsV1: { "f:data": object } }[];
  assert.deepEqual(
    // The maker still owns the data map itself.
    managers.map(({ manager, fieldsV1 }) => [manager, Object.keys(fieldsV1["f:data"])]),
    [
      ["maker", []],
      ["tester", ["f:k"]],
    ],
  );
  assert.deepEqual(world.admitted, ["mutate UPDATE configmaps/a", "validate UPDATE configmaps/a"]);
});

test("update rejects a wrong name, stale resourceVersion, wrong UID and missing object", async () => {
  const world = new World();
  const [old] = await world.configMaps({ a: {} });
  const { resourceVersion } = old?.metadata ?? {};
  await world.object("PUT", `${CONFIG_MAPS}/a`, { body: configMap("a", { data: { k: "v" } }) });
  const refused: [string, KubeObject, number, RegExp][] = [
    ["a", configMap("b"), 400, /name of the object \(b\) does not match the name on the URL \(a\)/],
    ["a", configMap("a", { metadata: { resourceVersion } }), 409, /the object has been modified/],
    ["a", configMap("a", { metadata: { uid: "other" } }), 409, /Precondition failed: UID in precondition: other/],
    ["b", configMap("b"), 404, /^configmaps "b" not found$/],
  ];
  for (const [name, body, code, message] of refused)
    await assert.rejects(world.ask("PUT", `${CONFIG_MAPS}/${name}`, { body }), refusal(code, message));
});

test("update of the status keeps the spec, and vice versa", async () => {
  const world = new World();
  const path = "/api/v1/namespaces";
  const namespace = (name: string, more: object): KubeObject => ({
    ...{ apiVersion: "v1", kind: "Namespace", metadata: { name } },
    ...more,
  });
  await world.object("POST", path, { body: namespace("a", { status: { phase: "Terminating" } }) });
  const condition = {
    type: "X",
    status: "True",
    lastTransitionTime: "2030-01-01T00:00:00Z",
    reason: "r",
    message: "m",
  };
  const status = { phase: "Active", conditions: [condition] };
  const spec = { finalizers: ["kubernetes"] };
  const labels = { "kubernetes.io/metadata.name": "a" };
  const written = await world.object("PUT", `${path}/a/status`, {
    body: namespace("a", { metadata: { name: "a", labels }, status, spec: { finalizers: [] } }),
  });
  assert.deepEqual([written.status, written.spec], [status, spec]);
  const replaced = await world.object("PUT", `${path}/a`, {
    body: namespace("a", { metadata: { name: "a", labels: { ...labels, x: "y" } }, spec }),
  });
  assert.deepEqual([replaced.status, replaced.metadata.labels], [status, { ...labels, x: "y" }]);
});
