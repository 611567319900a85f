import assert from "node:assert/strict";
import { test } from "node:test";
import type { KubeObject, ObjectMeta } from "../../base/api/object.ts";
import type { ResourceDefinition, ResourceHooks, ResourceRules } from "../model/definition.ts";
import { isReleased, planDeletion } from "./deletion.ts";

const NOW = Date.parse("2030-01-01T00:00:00Z");

function kind(hooks: ResourceHooks = {}, rules: ResourceRules = {}): ResourceDefinition {
  return {
    group: "example.com",
    kind: "Thing",
    listKind: "ThingList",
    plural: "things",
    singular: "thing",
    shortNames: [],
    categories: [],
    scope: "Namespaced",
    verbs: [],
    reading: "typed",
    versions: [],
    subresources: {},
    rules,
    hooks,
  };
}

const graceful = kind({ gracePeriodSeconds: (_object, requested) => requested ?? 30 });

function object(metadata: ObjectMeta): KubeObject {
  return { kind: "Thing", apiVersion: "example.com/v1", metadata };
}

test("removes an object without finalizers at once", () => {
  assert.deepEqual(planDeletion(kind(), object({ name: "a" }), {}, NOW), { action: "remove" });
});

test("marks an object with finalizers and increments its generation", () => {
  const plan = planDeletion(kind(), object({ name: "a", finalizers: ["x/y"], generation: 3 }), {}, NOW);
  assert.ok(plan.action === "mark");
  assert.equal(plan.next.metadata.deletionTimestamp, "2030-01-01T00:00:00Z");
  assert.equal(plan.next.metadata.deletionGracePeriodSeconds, 0);
  assert.equal(plan.next.metadata.generation, 4);
});

test("propagation policies add and remove their finalizers", () => {
  const finalizers = (policy: string | undefined, before: string[] = [], rules: ResourceRules = {}) => {
    const plan = planDeletion(kind({}, rules), object({ finalizers: before }), { propagationPolicy: policy }, NOW);
    return plan.action === "mark" ? plan.next.metadata.finalizers : plan.action;
  };
  assert.deepEqual(finalizers("Orphan"), ["orphan"]);
  assert.deepEqual(finalizers("Foreground", ["x/y", "orphan"]), ["x/y", "foregroundDeletion"]);
  assert.equal(finalizers("Background", ["orphan"]), "remove");
  assert.deepEqual(finalizers(undefined, ["orphan"]), ["orphan"]);
  assert.deepEqual(finalizers(undefined, [], { garbageCollection: "orphan" }), ["orphan"]);
  assert.equal(finalizers("Foreground", [], { garbageCollection: "unsupported" }), "remove");
});

test("a graceful deletion waits and can be shortened but not extended", () => {
  const first = planDeletion(graceful, object({ name: "a" }), { gracePeriodSeconds: 10 }, NOW);
  assert.ok(first.action === "mark" && !first.thenRemove);
  assert.equal(first.next.metadata.deletionTimestamp, "2030-01-01T00:00:10Z");
  assert.deepEqual(planDeletion(graceful, first.next, { gracePeriodSeconds: 30 }, NOW), { action: "none" });
  assert.deepEqual(planDeletion(graceful, first.next, {}, NOW), { action: "none" });
  const shorter = planDeletion(graceful, first.next, { gracePeriodSeconds: 4 }, NOW);
  assert.ok(shorter.action === "mark");
  assert.equal(shorter.next.metadata.deletionTimestamp, "2030-01-01T00:00:04Z");
  const now = planDeletion(graceful, first.next, { gracePeriodSeconds: 0 }, NOW);
  assert.ok(now.action === "mark" && now.thenRemove);
  assert.equal(now.next.metadata.deletionGracePeriodSeconds, 0);
});

test("a grace period of zero marks the object and then removes it", () => {
  const plan = planDeletion(graceful, object({ name: "a" }), { gracePeriodSeconds: 0 }, NOW);
  assert.ok(plan.action === "mark" && plan.thenRemove);
});

test("an update removes an object only if nothing else blocks its deletion", () => {
  const marked: ObjectMeta = { deletionTimestamp: "2030-01-01T00:00:00Z", finalizers: ["x/y"] };
  assert.equal(isReleased(kind(), object({}), object(marked)), true);
  assert.equal(isReleased(kind(), object({}), object({})), false);
  assert.equal(isReleased(kind(), object(marked), object(marked)), false);
  assert.equal(isReleased(kind(), object({}), object({ ...marked, deletionGracePeriodSeconds: 5 })), false);
  assert.equal(isReleased(kind({ isHeld: () => true }), object({}), object(marked)), false);
});
