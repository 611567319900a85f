import assert from "node:assert/strict";
import { test } from "node:test";
import { invalid } from "../../base/api/api-error.ts";
import { defaultFeatureGates } from "../../base/api/feature-gates.ts";
import type { KubeObject } from "../../base/api/object.ts";
import { ManualClock } from "../../base/util/environment.suite.ts";
import type { Schema } from "../../data/schema/schema.ts";
import { serve } from "../model/catalog.ts";
import type { ResourceDefinition, ServedVersion } from "../model/definition.ts";
import { withObjectMembers } from "./object-members.ts";
import { open } from "./open.ts";
import { strategyOf } from "./strategy-of.ts";
import { structural } from "./structural.ts";
import { typed } from "./typed.ts";

const objectMeta: Schema = {
  component: "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta",
  type: "object",
  properties: new Map<string, Schema>([
    ["labels", { type: "object", values: { type: "string", zero: "omitted" }, zero: "omitted" }],
    ["name", { type: "string", zero: "omitted" }],
  ]),
};
const spec: Schema = {
  type: "object",
  properties: new Map<string, Schema>([
    ["size", { type: "integer", default: 3 }],
    ["note", { type: "string" }],
    ["hint", { type: "string", nullable: true }],
    ["list", { type: "array", items: { type: "string" } }],
    ["free", { type: "object", preserveUnknownFields: true }],
  ]),
};
const schema = withObjectMembers({ type: "object", properties: new Map([["spec", spec]]) }, objectMeta);

const BODY = {
  apiVersion: "example.com/v1",
  kind: "Thing",
  metadata: { name: "a", creationTimestamp: null, owner: "x", labels: {} },
  spec: { size: null, note: null, hint: null, list: [], free: { any: 1 }, wrong: { deep: 1 }, zero: 0 },
  more: 1,
};

test("structural: prunes and reports unknown fields, drops nulls, keeps empty lists", () => {
  const { value, strict, empties, error } = structural.decode(BODY, schema, {
    duplicates: ['duplicate field "spec.note"'],
  });
  assert.equal(error, undefined);
  assert.deepEqual(empties, []);
  assert.deepEqual(value, {
    apiVersion: "example.com/v1",
    kind: "Thing",
    metadata: { name: "a" },
    spec: { size: null, hint: null, list: [], free: { any: 1 } },
  });
  assert.deepEqual(strict, [
    'duplicate field "spec.note"',
    'unknown field "metadata.creationTimestamp"',
    'unknown field "metadata.owner"',
    'unknown field "more"',
    'unknown field "spec.wrong"',
    'unknown field "spec.zero"',
  ]);
  assert.equal(BODY.spec.wrong.deep, 1, "the body itself is not changed");
});

test("structural: sets schema defaults for bodies and stored objects", () => {
  const version = { name: "v1", schema: () => schema, schemaName: "" } satisfies ServedVersion;
  const definition = { group: "example.com", versions: [version], subresources: {} } as unknown as ResourceDefinition;
  const object = structural.decode(BODY, schema).value as KubeObject;
  const context = { clock: new ManualClock(), features: defaultFeatureGates };
  structural.setDefaults(serve(definition, version), object, context);
  assert.deepEqual(object.spec, { size: 3, hint: null, list: [], free: { any: 1 } });
  const stored: KubeObject = {
    kind: "Thing",
    apiVersion: "example.com/v1",
    metadata: {},
    spec: { gone: 1, note: null },
  };
  structural.coerce(stored, schema, "stored");
  assert.deepEqual(stored.spec, { size: 3 });
});

test("rejects metadata of the wrong type with the message of Go's decoder", () => {
  for (const strategy of [structural, open]) {
    const { error } = strategy.decode({ metadata: { labels: { a: 1 } } }, schema);
    assert.equal(error, "json: cannot unmarshal number into Go struct field ObjectMeta.labels of type string");
  }
});

test("structural: reports fields required by both schema and embedded object twice", () => {
  const required = [{ required: ["kind"] }, { required: ["kind"] }];
  const embedded: Schema = { type: "object", embeddedResource: true, preserveUnknownFields: true, allOf: required };
  const own = withObjectMembers({ type: "object", properties: new Map([["spec", embedded]]) }, objectMeta);
  const version = { name: "v1", schema: () => own, schemaName: "" } satisfies ServedVersion;
  const object = { apiVersion: "example.com/v1", kind: "Thing", metadata: { name: "a" }, spec: {} } as KubeObject;
  const errors = structural.validate?.(version, object, undefined, { subresource: "", warn: () => {} }) ?? [];
  const { causes = [] } = invalid({ group: "example.com", kind: "Thing" }, "a", errors).status.details ?? {};
  assert.deepEqual(
    causes.map(({ field }) => field),
    ["spec.kind", "<nil>", "spec.apiVersion", "spec.kind"],
  );
});

test("open: keeps everything but unknown metadata fields", () => {
  const { value, strict } = open.decode(BODY, withObjectMembers({}, objectMeta));
  assert.deepEqual(value, { ...BODY, metadata: { name: "a" } });
  assert.deepEqual(strict, ['unknown field "metadata.creationTimestamp"', 'unknown field "metadata.owner"']);
});

test("the definition selects the strategy", () => {
  assert.equal(strategyOf({ reading: "typed" }), typed);
  assert.equal(strategyOf({ reading: "structural" }), structural);
  assert.equal(strategyOf({ reading: "open" }), open);
});
