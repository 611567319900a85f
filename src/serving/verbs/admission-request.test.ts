import assert from "node:assert/strict";
import { test } from "node:test";
import type { Json } from "../../base/api/object.ts";
import { CONFIG_MAPS, configMap, World } from "./verbs.suite.ts";

const MERGE = "application/merge-patch+json";
const APPLY = "application/apply-patch+yaml";

/** What the last admission request contained. */
function lastRequest(world: World) {
  const request = world.requests.at(-1);
  assert.ok(request);
  const { operation, resource, subresource, body, name, object, previous } = request;
  const what = `${operation} ${resource.apiVersion} ${resource.definition.plural}/${subresource}`;
  const objects = `${previous ? "old" : "-"} ${object ? "new" : "-"}`;
  return { what: `${what} ${body.apiVersion} ${body.definition.kind} ${name}`, objects, options: request.options() };
}

const options = (kind: string, more: Record<string, Json> = {}) => ({ kind, apiVersion: "meta.k8s.io/v1", ...more });

test("admission receives the resource of the path, the kind of the body, both objects and the options", async () => {
  const world = new World();
  await world.ask("POST", `${CONFIG_MAPS}?fieldManager=me&fieldValidation=Strict`, { body: configMap("a") });
  const kinds = "v1 ConfigMap a";
  const common = { what: `UPDATE v1 configmaps/ ${kinds}`, objects: "old new" };
  const created = { what: `CREATE v1 configmaps/ ${kinds}`, objects: "- new" };
  const sent = { fieldManager: "me", fieldValidation: "Strict" };
  assert.deepEqual(lastRequest(world), { ...created, options: options("CreateOptions", sent) });
  await world.ask("PUT", `${CONFIG_MAPS}/a?dryRun=All`, { body: configMap("a", { data: { k: "v" } }) });
  assert.deepEqual(lastRequest(world), { ...common, options: options("UpdateOptions", { dryRun: ["All"] }) });
  await world.ask("PATCH", `${CONFIG_MAPS}/a`, { body: { data: { k: "w" } }, type: MERGE });
  assert.deepEqual(lastRequest(world), { ...common, options: options("UpdateOptions") });
  const applied = { body: configMap("b"), type: APPLY };
  await world.ask("PATCH", `${CONFIG_MAPS}/b?fieldManager=me`, applied);
  const other = { ...created, what: "CREATE v1 configmaps/ v1 ConfigMap b" };
  assert.deepEqual(lastRequest(world), { ...other, options: options("CreateOptions", { fieldManager: "me" }) });
  await world.ask("DELETE", `${CONFIG_MAPS}/b?gracePeriodSeconds=3`);
  assert.deepEqual(lastRequest(world), {
    what: "DELETE v1 configmaps/ v1 ConfigMap b",
    objects: "old -",
    options: options("DeleteOptions", { gracePeriodSeconds: 3 }),
  });
  await world.ask("DELETE", `${CONFIG_MAPS}?propagationPolicy=Background`);
  assert.deepEqual(lastRequest(world), {
    what: "DELETE v1 configmaps/ v1 ConfigMap ",
    objects: "old -",
    options: options("DeleteOptions", { propagationPolicy: "Background" }),
  });
});

test("admission receives a scale as subresource of its parent resource", async () => {
  const world = new World();
  const selector = { matchLabels: { app: "a" } };
  const template = { metadata: { labels: { app: "a" } }, spec: { containers: [{ name: "a", image: "a" }] } };
  const deployment = {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name: "d" },
    spec: { selector, template },
  };
  await world.ask("POST", "/apis/apps/v1/namespaces/n/deployments", { body: deployment });
  const path = "/apis/apps/v1/namespaces/n/deployments/d/scale";
  await world.ask("PATCH", path, { body: { spec: { replicas: 3 } }, type: MERGE });
  assert.deepEqual(lastRequest(world), {
    what: "UPDATE apps/v1 deployments/scale autoscaling/v1 Scale d",
    objects: "old new",
    options: options("UpdateOptions"),
  });
});

test("admission receives an action as create of its body below the resource", async () => {
  const world = new World();
  const pod = {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "p" },
    spec: { containers: [{ name: "a", image: "a" }] },
  };
  await world.ask("POST", "/api/v1/namespaces/n/pods", { body: pod });
  const eviction = { apiVersion: "policy/v1", kind: "Eviction", metadata: { name: "p" } };
  await world.ask("POST", "/api/v1/namespaces/n/pods/p/eviction?dryRun=All", { body: eviction });
  assert.deepEqual(lastRequest(world), {
    what: "CREATE v1 pods/eviction policy/v1 Eviction p",
    objects: "- new",
    options: options("CreateOptions", { dryRun: ["All"] }),
  });
});
