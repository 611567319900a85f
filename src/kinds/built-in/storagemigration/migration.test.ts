import assert from "node:assert/strict";
import { test } from "node:test";
import type { JsonObject } from "../../../base/api/object.ts";
import { kindUnderTest } from "../kind.suite.ts";
import { storagemigrationKinds } from "./group.ts";

const migration = kindUnderTest(storagemigrationKinds, "StorageVersionMigration");
const good = { spec: { resource: { group: "apps", resource: "deployments" } } };
const condition = (type: string): JsonObject => {
  return { type, status: "True", lastTransitionTime: "2024-01-02T03:04:05Z", reason: "Done", message: "" };
};

test("the resource to migrate is required and immutable", () => {
  assert.deepEqual(migration.problems(good), []);
  assert.deepEqual(migration.problems({ spec: {} }), [
    "spec.resource.resource: Required value: resource is required to be set",
  ]);
  assert.deepEqual(migration.problems({ spec: { resource: { resource: "pods" } } }, { previous: good }), [
    'spec: Invalid value: {"Resource":{"group":"","resource":"pods"}}: field is immutable',
  ]);
});

test("Succeeded and Failed are final", () => {
  const status = (conditions: JsonObject[], resourceVersion = "5") => ({ status: { conditions, resourceVersion } });
  const previous = { ...good, ...status([condition("Succeeded")]) };
  const problems = (body: JsonObject) => migration.problems(body, { previous, subresource: "status" });
  const shown = JSON.stringify([condition("Failed")]);
  assert.deepEqual(problems(status([condition("Succeeded")])), []);
  assert.deepEqual(problems(status([condition("Failed")])), [
    `status.conditions: Invalid value: ${shown}: Success condition cannot be set to false once it is true`,
  ]);
  assert.deepEqual(problems(status([condition("Succeeded")], "05")), [
    'status.resourceVersion: Invalid value: "05": resource version is not well formed: 05',
    'status.resourceVersion: Invalid value: "05": field is immutable',
  ]);
});
