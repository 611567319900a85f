import assert from "node:assert/strict";
import { test } from "node:test";
import type { KubeObject } from "../../base/api/object.ts";
import { CONFIG_MAPS, configMap, refusal, World } from "./verbs.suite.ts";

test("create runs admission, stores the object and records its manager", async () => {
  const world = new World();
  const object = await world.object("POST", CONFIG_MAPS, { body: configMap("a", { data: { k: "v" } }) });
  const [entry] = object.metadata.managedFields as { manager: string; operation: string; fieldsV1: object }[];
  assert.partialDeepStrictEqual(entry, { manager: "tester", operation: "Update" });
  assert.deepEqual(entry?.fieldsV1, { "f:data": { ".": {}, "f:k": {} } });
  assert.equal(object.metadata.namespace, "n");
  assert.deepEqual(world.admitted, ["mutate CREATE configmaps/a", "validate CREATE configmaps/a"]);
  assert.equal(await world.store.revision(), Number(object.metadata.resourceVersion));
});

test("create with dryRun runs admission and stores nothing", async () => {
  const world = new World();
  const before = await world.store.revision();
  await world.object("POST", `${CONFIG_MAPS}?dryRun=All`, { body: configMap("a") });
  assert.deepEqual(world.admitted, ["mutate CREATE configmaps/a (dry run)", "validate CREATE configmaps/a (dry run)"]);
  assert.equal(await world.store.revision(), before);
});

test("create rejects bodies that do not fit the path", async () => {
  const world = new World();
  await world.configMaps({ a: {} });
  const refused: [KubeObject, number, RegExp][] = [
    [configMap("a"), 409, /^configmaps "a" already exists$/],
    [configMap("b", { metadata: { namespace: "other" } }), 400, /namespace of the provided object does not match/],
    [{ ...configMap("b"), kind: "Secret" }, 400, /Secret/],
    [configMap("Bad_Name"), 422, /metadata.name: Invalid value: "Bad_Name"/],
    [configMap("b", { data: { "bad key": "v" } }), 422, /data\[bad key\]: Invalid value/],
  ];
  for (const [body, code, message] of refused)
    await assert.rejects(world.ask("POST", CONFIG_MAPS, { body }), refusal(code, message));
});

test("fieldValidation decides whether an unknown field is dropped, warned about or rejected", async () => {
  const world = new World();
  const body = (name: string) => ({ ...configMap(name), colour: "red" });
  const ask = (name: string, how: string) =>
    world.object("POST", `${CONFIG_MAPS}?fieldValidation=${how}`, { body: body(name) });
  assert.equal((await ask("a", "Ignore")).colour, undefined);
  assert.deepEqual(world.warnings, []);
  assert.equal((await ask("b", "Warn")).colour, undefined);
  assert.deepEqual(world.warnings, ['unknown field "colour"']);
  await assert.rejects(ask("c", "Strict"), refusal(400, /strict decoding error: unknown field "colour"/));
});
