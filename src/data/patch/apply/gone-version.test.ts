import assert from "node:assert/strict";
import { test } from "node:test";
import type { KubeObject } from "../../../base/api/object.ts";
import type { Schema } from "../../schema/schema.ts";
import { applyPatch } from "./apply-patch.ts";
import type { TrackingScope } from "./scope.ts";
import { trackUpdate } from "./track-update.ts";

const schema: Schema = { type: "object", preserveUnknownFields: true };
const now = "2026-11-16T07:00:00Z";

const scope = (refusesUnknownVersions: boolean): TrackingScope => ({
  apiVersion: "example.com/v1",
  kind: "Lamp",
  isUnstructured: true,
  refusesUnknownVersions,
  schemaOf: (apiVersion) => (apiVersion === "example.com/v1" ? schema : undefined),
  convert: (object, apiVersion) => (apiVersion === "example.com/v1" ? object : undefined),
});

const fieldsV1 = { "f:spec": { "f:a": {} } };
const old = {
  manager: "old",
  operation: "Apply",
  apiVersion: "example.com/v1beta1",
  time: now,
  fieldsType: "FieldsV1",
  fieldsV1,
};

const lamp = (fields: Record<string, string>): KubeObject => ({
  apiVersion: "example.com/v1",
  kind: "Lamp",
  metadata: { name: "x", managedFields: [old] },
  spec: fields,
});

const applied = { apiVersion: "example.com/v1", kind: "Lamp", metadata: { name: "x" }, spec: { b: "2" } };
const request = { live: lamp({ a: "1" }), applied, manager: "new", isForced: true, now };

test("rejects an apply if the version of a manager was removed from the CustomResourceDefinition", () => {
  const message = "request to convert CR to an invalid group/version: example.com/v1beta1";
  assert.throws(() => applyPatch(scope(true), request), { message });
});

test("allows an update, and keeps the fields of all managers", () => {
  const update = { live: lamp({ a: "1" }), next: lamp({ a: "2" }), manager: "new", now };
  assert.deepEqual(trackUpdate(scope(true), update).managedFields, [old]);
});

test("drops the fields of such a manager for other kinds", () => {
  const { metadata } = applyPatch(scope(false), request);
  assert.deepEqual(
    metadata.managedFields?.map((entry) => (entry as { manager: string }).manager),
    ["new"],
  );
});
