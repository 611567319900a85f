import assert from "node:assert/strict";
import { test } from "node:test";
import { defaultFeatureGates } from "../../base/api/feature-gates.ts";
import type { JsonObject, KubeObject } from "../../base/api/object.ts";
import { Draft } from "../../resources/model/draft.ts";
import { atMostCharacters, groupDotResource, nameHook, pluralDotGroup, versionDotGroup } from "./own-names.ts";

const object = (name: string, spec: JsonObject): KubeObject => ({
  kind: "K",
  apiVersion: "v1",
  metadata: { name },
  spec,
});
const WAY = {
  subresource: "",
  apiVersion: "v1",
  now: 0,
  features: defaultFeatureGates,
  draft: new Draft(object("one", {})),
};

test("checks names on create only", () => {
  const { validate } = nameHook(atMostCharacters(3));
  assert.deepEqual(validate(object("long", {}), undefined, WAY), [
    {
      type: "FieldValueInvalid",
      field: "metadata.name",
      message: 'Invalid value: "long": must be no more than 3 characters',
    },
  ]);
  assert.deepEqual(validate(object("abc", {}), undefined, WAY), []);
  assert.deepEqual(validate(object("long", {}), object("long", {}), WAY), []);
  assert.deepEqual(validate({ kind: "K", apiVersion: "v1", metadata: {} }, undefined, WAY), []);
});

test("checks names that consist of other fields", () => {
  const crd = { group: "example.com", names: { plural: "widgets" } };
  assert.deepEqual(pluralDotGroup("widgets.example.com", object("", crd)), []);
  assert.deepEqual(pluralDotGroup("x.example.com", object("", crd)), ['must be spec.names.plural+"."+spec.group']);
  const service = { version: "v1", group: "example.com" };
  assert.deepEqual(versionDotGroup("v1.example.com", object("", service)), []);
  assert.deepEqual(versionDotGroup("x", object("", service)), [
    'must be `spec.version+"."+spec.group`: "v1.example.com"',
  ]);
  assert.deepEqual(versionDotGroup("v1.", object("", { version: "v1" })), []);
  assert.deepEqual(groupDotResource("apps.deployments", object("", {})), []);
  assert.deepEqual(groupDotResource("deployments", object("", {})), ["name must be in the form of <group>.<resource>"]);
  assert.equal(groupDotResource("apps.1x", object("", {})).length, 1);
});
