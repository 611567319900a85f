import assert from "node:assert/strict";
import { test } from "node:test";
import type { JsonObject, KubeObject } from "../../base/api/object.ts";
import { drivenEnvironment } from "../../base/util/environment.suite.ts";
import { Catalog } from "../../resources/model/catalog.ts";
import type { ResourceDefinition } from "../../resources/model/definition.ts";
import { Draft } from "../../resources/model/draft.ts";
import { KeySpace } from "../../resources/model/keys.ts";
import { Resources } from "../../resources/resources.ts";
import { MemoryStore } from "../../storage/memory.ts";
import { scaleTarget } from "./scale.ts";

/** A kind with its own paths for replica counts. */
const herd: ResourceDefinition = {
  group: "farm.example",
  kind: "Herd",
  listKind: "HerdList",
  plural: "herds",
  singular: "herd",
  shortNames: [],
  categories: [],
  scope: "Namespaced",
  verbs: ["create", "get", "update"],
  reading: "typed",
  versions: [{ name: "v1", schema: () => ({ type: "object" }), schemaName: "" }],
  storage: { version: "v1", prefix: "herds", hash: "" },
  subresources: {
    scale: {
      verbs: ["get", "update", "patch"],
      kind: { group: "autoscaling", version: "v1", kind: "Scale" },
      scale: { specReplicas: ".spec.animals.wanted", statusReplicas: ".status.counted", selector: ".status.selector" },
    },
  },
  rules: { generation: "counted" },
};

async function withHerd(run: (setting: Awaited<ReturnType<typeof prepare>>) => Promise<void>): Promise<void> {
  const setting = await prepare();
  try {
    await run(setting);
  } finally {
    await setting.resources.store.close();
  }
}

async function prepare() {
  const catalog = new Catalog([herd]);
  const { clock, random } = drivenEnvironment();
  clock.set(Date.parse("2030-01-01T00:00:00Z"));
  const resources = new Resources({
    store: new MemoryStore(),
    catalog,
    clock,
    random,
    keys: new KeySpace("/registry"),
  });
  const resource = catalog.find("farm.example", "v1", "herds");
  assert.ok(resource);
  const collection = resources.collection(resource);
  const key = { namespace: "n", name: "sheep" };
  const fields = { "f:spec": { "f:animals": { "f:wanted": {} } } };
  const entry = { manager: "farmer", operation: "Update", apiVersion: "farm.example/v1", fieldsType: "FieldsV1" };
  const object: KubeObject = {
    kind: "Herd",
    apiVersion: "farm.example/v1",
    metadata: { name: "sheep", namespace: "n", managedFields: [{ ...entry, fieldsV1: fields }] },
    spec: { animals: { wanted: 3 } },
    status: { counted: 2, selector: "kind=sheep" },
  };
  await collection.create(resource, new Draft(object), {});
  const target = scaleTarget({ resource, collection, namespace: "n", name: "sheep", subresource: "scale" });
  assert.ok(target);
  const scale = (change: (current: KubeObject) => KubeObject, options = {}) =>
    target.collection.update(target.resource, key, (current) => new Draft(change(current as KubeObject)), {
      subresource: "scale",
      ...options,
    });
  return { resources, resource, collection, key, target, scale };
}

const wanting =
  (replicas: number, metadata: JsonObject = {}) =>
  (current: KubeObject): KubeObject => ({
    ...current,
    metadata: { ...current.metadata, ...metadata },
    spec: { replicas },
  });

test("a scale shows the replica counts at the configured paths", () =>
  withHerd(async ({ target, key }) => {
    const { object } = await target.collection.get(target.resource, key);
    const { uid, resourceVersion, creationTimestamp, ...metadata } = object.metadata;
    assert.ok(uid && resourceVersion && creationTimestamp);
    assert.deepEqual(
      { ...object, metadata },
      {
        kind: "Scale",
        apiVersion: "autoscaling/v1",
        metadata: { name: "sheep", namespace: "n" },
        spec: { replicas: 3 },
        status: { replicas: 2, selector: "kind=sheep" },
      },
    );
  }));

test("a write to the scale changes only the replica count", () =>
  withHerd(async ({ scale, collection, resource, key }) => {
    const { object: before } = await collection.get(resource, key);
    let owned: unknown;
    const { view } = await scale((current) => {
      owned = current.metadata.managedFields;
      return wanting(7, { labels: { not: "kept" } })(current);
    });
    assert.deepEqual(view.object.spec, { replicas: 7 });
    const { object } = await collection.get(resource, key);
    assert.deepEqual(object.spec, { animals: { wanted: 7 } });
    assert.equal(object.metadata.labels, undefined);
    assert.equal(object.metadata.generation, 2);
    assert.deepEqual(object.metadata.managedFields, before.metadata.managedFields);
    const expected = { apiVersion: "autoscaling/v1", fieldsV1: { "f:spec": { "f:replicas": {} } } };
    assert.partialDeepStrictEqual(owned, [{ manager: "farmer", ...expected }]);
  }));

test("an invalid scale is rejected with kube-apiserver's messages", () =>
  withHerd(async ({ scale, collection, resource, key }) => {
    const refused = async (change: (current: KubeObject) => KubeObject, message: string) =>
      assert.rejects(() => scale(change), { message });
    await refused(
      wanting(-1),
      'Scale.autoscaling "sheep" is invalid: spec.replicas: Invalid value: -1: must be greater than or equal to 0',
    );
    const { uid } = (await collection.get(resource, key)).object.metadata;
    await refused(
      wanting(1, { uid: "other" }),
      `Operation cannot be fulfilled on herds/scale.farm.example "sheep": Precondition failed: UID in precondition: other, UID in object meta: ${uid}`,
    );
    await refused(
      wanting(1, { resourceVersion: "1" }),
      'Operation cannot be fulfilled on herds.farm.example "sheep": the object has been modified; please apply your changes to the latest version and try again',
    );
  }));

test("dry run and admission receive the scale, not its object", () =>
  withHerd(async ({ scale, collection, resource, key }) => {
    const seen: unknown[] = [];
    const admit = async (next: KubeObject, previous?: KubeObject) => void seen.push(next.spec, previous?.spec);
    const { view } = await scale(wanting(0), { dryRun: true, admit });
    assert.deepEqual(view.object.spec, {});
    assert.deepEqual(seen, [{}, { replicas: 3 }]);
    assert.deepEqual((await collection.get(resource, key)).object.spec, { animals: { wanted: 3 } });
  }));
