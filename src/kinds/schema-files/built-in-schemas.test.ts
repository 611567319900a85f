import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { schemaFileName } from "../../data/schema/built-in.ts";
import type { Schema } from "../../data/schema/schema.ts";
import { builtInKinds } from "../built-in/all.ts";
import { builtInSchema, findBuiltInSchema } from "./built-in-schemas.ts";

const CORE = "io.k8s.api.core.v1";
const META = "io.k8s.apimachinery.pkg.apis.meta.v1";
const folder = new URL("../../../schemas/", import.meta.url);

function* allComponents(): Generator<string> {
  for (const file of readdirSync(folder).filter((name) => name.endsWith(".json"))) {
    const content = JSON.parse(readFileSync(new URL(file, folder), "utf8"));
    assert.equal(schemaFileName(content.package), file);
    for (const name of Object.keys(content.components)) yield `${content.package}.${name}`;
  }
}

function field(component: string, ...path: string[]): Schema {
  let node: Schema | undefined = builtInSchema(component);
  for (const name of path) {
    if (node?.items !== undefined && name === "[]") node = node.items;
    else node = node?.properties?.get(name);
  }
  assert.ok(node, `${component} ${path.join(".")}`);
  return node;
}

test("resolves every component with all its references", () => {
  const components = [...allComponents()];
  assert.ok(components.length > 900, `${components.length} components`);
  let fields = 0;
  for (const component of components) {
    const schema = builtInSchema(component);
    assert.equal(schema.component, component);
    for (const [name, property] of schema.properties ?? []) {
      fields++;
      const isTyped = property.type ?? property.wire;
      assert.ok(isTyped, `${component}.${name} has no type`);
      if (property.listType === "map") assert.ok(property.listMapKeys, `${component}.${name} has no keys`);
      if (property.type === "array") assert.ok(property.items, `${component}.${name} has no items`);
    }
    for (const name of schema.required ?? []) assert.ok(schema.properties?.has(name), `${component}.${name}`);
  }
  assert.ok(fields > 3700, `${fields} fields`);
});

test("has a schema with the kind, and a list, for every version of every row", () => {
  for (const { group, kind, listKind, verbs, versions } of builtInKinds()) {
    for (const { name, schema, schemaName } of versions) {
      const expected = { group, version: name, kind };
      assert.deepEqual(schema().groupVersionKinds, [expected], schemaName);
      if (!verbs.includes("list")) continue;
      const list = builtInSchema(schemaName.replace(/[^.]+$/, listKind));
      assert.equal(list.properties?.get("items")?.items?.component, schemaName);
    }
  }
});

test("has unique field numbers within a message", () => {
  for (const component of allComponents()) {
    const schema = builtInSchema(component);
    if (schema.wire !== undefined) continue;
    const numbers = [...(schema.properties?.values() ?? [])].flatMap(({ proto }) =>
      proto === undefined ? [] : [[...(proto.within ?? []), proto.number].join(".")],
    );
    assert.equal(new Set(numbers).size, numbers.length, component);
  }
});

test("has merge keys and list keys of a pod's containers", () => {
  const containers = field(`${CORE}.Pod`, "spec", "containers");
  assert.deepEqual(containers.patchStrategy, ["merge"]);
  assert.equal(containers.patchMergeKey, "name");
  assert.equal(containers.listType, "map");
  assert.deepEqual(containers.listMapKeys, ["name"]);
  const ports = field(`${CORE}.Container`, "ports");
  assert.deepEqual(ports.listMapKeys, ["containerPort", "protocol"]);
  assert.equal(ports.patchMergeKey, "containerPort");
  assert.equal(ports.items?.properties?.get("protocol")?.default, "TCP");
  assert.deepEqual(field(`${CORE}.PodSpec`, "volumes").patchStrategy, ["merge", "retainKeys"]);
  assert.deepEqual(field("io.k8s.api.apps.v1.Deployment", "spec", "strategy").patchStrategy, ["retainKeys"]);
  assert.equal(field(`${CORE}.PodSpec`, "nodeSelector").mapType, "atomic");
  assert.equal(field(`${CORE}.ConfigMapKeySelector`).mapType, "atomic");
});

test("has field numbers, formats and zero values of metadata", () => {
  const expected: Readonly<Record<string, number>> = {
    ...{ name: 1, generateName: 2, namespace: 3, selfLink: 4, uid: 5, resourceVersion: 6, generation: 7 },
    ...{ creationTimestamp: 8, deletionTimestamp: 9, deletionGracePeriodSeconds: 10, labels: 11, annotations: 12 },
    ...{ ownerReferences: 13, finalizers: 14, managedFields: 17 },
  };
  const { properties } = builtInSchema(`${META}.ObjectMeta`);
  assert.deepEqual([...(properties?.keys() ?? [])], Object.keys(expected));
  for (const [name, number] of Object.entries(expected)) assert.deepEqual(properties?.get(name)?.proto, { number });
  assert.equal(properties?.get("creationTimestamp")?.wire, "time");
  assert.equal(properties?.get("deletionGracePeriodSeconds")?.zero, undefined);
  assert.equal(properties?.get("generation")?.zero, "omitted");
  assert.equal(field(`${CORE}.Container`, "resources").zero, "written");
});

test("has embedded messages, wrapped lists and types with special encodings", () => {
  assert.deepEqual(field(`${CORE}.Volume`, "secret").proto, { number: 6, within: [2] });
  assert.deepEqual(field(`${CORE}.Probe`, "httpGet").proto, { number: 2, within: [1] });
  const operations = field("io.k8s.api.admissionregistration.v1.NamedRuleWithOperations", "resources");
  assert.equal(operations.proto?.within?.length, 2);
  const extra = field("io.k8s.api.authentication.v1.UserInfo", "extra").values;
  assert.equal(extra !== true && extra?.wire, "wrapped-list");
  assert.equal(field(`${CORE}.ResourceRequirements`, "limits").values !== undefined, true);
  assert.equal(field(`${CORE}.ServicePort`, "targetPort").intOrString, true);
  assert.equal(field("io.k8s.api.apps.v1.ControllerRevision", "data").preserveUnknownFields, true);
  assert.equal(field(`${CORE}.Secret`, "data").values !== true, true);
});

test("has enums, also of list items and map values", () => {
  assert.deepEqual(field(`${CORE}.Container`, "imagePullPolicy").enum, ["Always", "IfNotPresent", "Never"]);
  assert.ok(field(`${CORE}.PersistentVolumeClaimSpec`, "accessModes", "[]").enum?.includes("ReadWriteOnce"));
  const statuses = field(`${CORE}.PersistentVolumeClaimStatus`, "allocatedResourceStatuses").values;
  assert.ok(statuses !== true && statuses?.enum?.includes("NodeResizePending"));
});

test("resolves a recursive schema", () => {
  const props = "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaProps";
  assert.equal(field(props, "items").wire, "schema-or-array");
  assert.equal(field(props, "items", "additionalProperties", "not", "maxLength").format, "int64");
});

test("returns undefined for unknown components", () => {
  assert.equal(findBuiltInSchema("io.k8s.api.core.v1.Nothing"), undefined);
  assert.throws(() => builtInSchema("io.k8s.api.core.v1.Nothing"), /no built-in schema named/);
});
