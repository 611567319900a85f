import assert from "node:assert/strict";
import { test } from "node:test";
import type { KubeObject } from "../../base/api/object.ts";
import { refusal, World } from "./verbs.suite.ts";

const PODS = "/api/v1/namespaces/n/pods";
const pod: KubeObject = {
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: "p" },
  spec: { containers: [{ name: "one", image: "a" }] },
};
const binding = (name: string): KubeObject => ({
  apiVersion: "v1",
  kind: "Binding",
  metadata: { name: "p" },
  target: { kind: "Node", name },
});

test("an action changes its object and returns a Status", async () => {
  const world = new World();
  await world.object("POST", PODS, { body: pod });
  world.admitted.length = 0;
  const reply = await world.ask("POST", `${PODS}/p/binding`, { body: binding("node-1") });
  assert.ok(reply.type === "status");
  assert.deepEqual([reply.status.status, reply.status.code], ["Success", 201]);
  const bound = await world.object("GET", `${PODS}/p`);
  assert.equal((bound.spec as { nodeName: string }).nodeName, "node-1");
  assert.deepEqual(world.admitted, ["mutate CREATE pods/p", "validate CREATE pods/p"]);
  const again = world.ask("POST", `${PODS}/p/binding`, { body: binding("node-2") });
  await assert.rejects(again, refusal(409, /already assigned to node "node-1"/));
});

test("an action with dryRun changes nothing", async () => {
  const world = new World();
  await world.object("POST", PODS, { body: pod });
  const before = await world.store.revision();
  await world.ask("POST", `${PODS}/p/binding?dryRun=All`, { body: binding("node-1") });
  assert.equal(await world.store.revision(), before);
});

test("an action accepts only the kind and method of its path", async () => {
  const world = new World();
  await world.object("POST", PODS, { body: pod });
  await assert.rejects(world.ask("POST", `${PODS}/p/binding`, { body: pod }), refusal(400, /Pod/));
  await assert.rejects(world.ask("GET", `${PODS}/p/binding`), refusal(405, /does not allow this method/));
});

test("review kinds are answered without being stored", async () => {
  const world = new World();
  const before = await world.store.revision();
  const review: KubeObject = { apiVersion: "authentication.k8s.io/v1", kind: "SelfSubjectReview", metadata: {} };
  const path = "/apis/authentication.k8s.io/v1/selfsubjectreviews";
  const { status } = await world.object("POST", path, { body: review });
  assert.partialDeepStrictEqual(status, { userInfo: { username: "ann" } });
  assert.equal(await world.store.revision(), before);
});
