import assert from "node:assert/strict";
import { test } from "node:test";
import type { JsonObject } from "../../../base/api/object.ts";
import { kindUnderTest } from "../kind.suite.ts";
import { coreKinds } from "./group.ts";
import { internalForm } from "./pod/internal-form.ts";

const controller = kindUnderTest(coreKinds, "ReplicationController");
const template: JsonObject = {
  metadata: { labels: { app: "a" } },
  spec: { containers: [{ name: "main", image: "registry.example/app:1" }] },
};

test("a ReplicationController gets selector and labels from its template", () => {
  const { metadata, spec } = controller.complete({ spec: { template } });
  const { replicas, selector } = spec as JsonObject;
  assert.deepEqual([metadata.labels, replicas, selector], [{ app: "a" }, 1, { app: "a" }]);
});

test("rejects an invalid ReplicationController", () => {
  assert.deepEqual(controller.problems({ spec: { template, selector: { app: "b" }, replicas: -1 } }), [
    'spec.template.metadata.labels: Invalid value: {"app":"a"}: `selector` does not match template `labels`',
    "spec.replicas: Invalid value: -1: must be greater than or equal to 0",
  ]);
  assert.deepEqual(controller.problems({ spec: { selector: { a: "b" } } }), ["spec.template: Required value"]);
});

test("validates a PodTemplate like any template", () => {
  const kind = kindUnderTest(coreKinds, "PodTemplate");
  assert.deepEqual(kind.problems({ template }), []);
  assert.deepEqual(kind.problems({ template: {} }), ["template.spec.containers: Required value"]);
});

test("shows kube-apiserver's internal form of a value in messages", () => {
  const form = internalForm({ name: "v", emptyDir: { medium: "Memory" } }, "Volume") as JsonObject;
  assert.deepEqual(Object.keys(form).slice(0, 3), ["Name", "HostPath", "EmptyDir"]);
  assert.deepEqual(form.EmptyDir, { Medium: "Memory", SizeLimit: null, Mode: null });
  const claim = internalForm(
    { metadata: { name: "c" }, spec: { resources: { requests: { b: "1", a: "2" } } } },
    "PersistentVolumeClaim",
  );
  assert.match(
    JSON.stringify(claim),
    /^\{"name":"c","Spec":\{.*"Requests":\{"a":"2","b":"1"\}.*"Status":\{"Phase":"",/,
  );
});
