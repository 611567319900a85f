import assert from "node:assert/strict";
import { test } from "node:test";
import type { Json, KubeObject } from "../../base/api/object.ts";
import { CONFIG_MAPS, configMap, refusal, World } from "./verbs.suite.ts";

const JSON_PATCH = "application/json-patch+json";
const MERGE = "application/merge-patch+json";
const STRATEGIC = "application/strategic-merge-patch+json";
const APPLY = "application/apply-patch+yaml";

const PODS = "/api/v1/namespaces/n/pods";
const pod: KubeObject = {
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: "p" },
  spec: { containers: [{ name: "one", image: "a" }], tolerations: [{ key: "x", operator: "Exists" }] },
};
const containersOf = ({ spec }: KubeObject) =>
  (spec as { containers: { name: string; image: string }[] }).containers.map(({ name, image }) => `${name} ${image}`);

test("applies each type of patch", async () => {
  const world = new World();
  const container = { name: "two", image: "b" };
  const cases: [string, Json, string[]][] = [
    [JSON_PATCH, [{ op: "replace", path: "/spec/containers/0/image", value: "z" }], ["one z"]],
    [MERGE, { spec: { containers: [{ name: "one", image: "z" }] } }, ["one z"]],
    [STRATEGIC, { spec: { containers: [{ name: "one", image: "z" }] } }, ["one z"]],
    [STRATEGIC, { metadata: { labels: { x: "y" } } }, ["one a"]],
  ];
  for (const [type, body, expected] of cases) {
    await world.object("POST", PODS, { body: structuredClone(pod) });
    assert.deepEqual(containersOf(await world.object("PATCH", `${PODS}/p`, { type, body })), expected, type);
    await world.ask("DELETE", `${PODS}/p?gracePeriodSeconds=0`);
  }
  await world.object("POST", PODS, { body: structuredClone(pod) });
  // A merge by name would add a container; a list replacement would replace the first one.
  const added = { spec: { containers: [container] } };
  await assert.rejects(
    world.ask("PATCH", `${PODS}/p`, { type: STRATEGIC, body: added }),
    refusal(422, /pod updates may not add or remove containers/),
  );
  await assert.rejects(
    world.ask("PATCH", `${PODS}/p`, { type: MERGE, body: added }),
    refusal(422, /pod updates may not change fields/),
  );
});

test("the error for an invalid strategic merge result quotes the patch in Go syntax", async () => {
  const world = new World();
  await world.object("POST", PODS, { body: structuredClone(pod) });
  await assert.rejects(
    world.ask("PATCH", `${PODS}/p`, { type: STRATEGIC, body: { spec: { tolerations: { a: [1, true] } } } }),
    refusal(
      422,
      /patch: Invalid value: "map\[spec:map\[tolerations:map\[a:\[1 true\]\]\]\]": cannot restore slice from map/,
    ),
  );
});

test("a patch without changes writes nothing; null removes a field", async () => {
  const world = new World();
  await world.object("POST", CONFIG_MAPS, { body: configMap("a", { data: { k: "v", l: "w" } }) });
  const before = await world.store.revision();
  await world.object("PATCH", `${CONFIG_MAPS}/a`, { type: MERGE, body: { data: { k: "v" } } });
  assert.equal(await world.store.revision(), before);
  const { data } = await world.object("PATCH", `${CONFIG_MAPS}/a`, { type: MERGE, body: { data: { l: null } } });
  assert.deepEqual(data, { k: "v" });
});

test("rejects patches that cannot be decoded or applied", async () => {
  const world = new World();
  await world.configMaps({ a: {} });
  const refused: [string, string, Json, number, RegExp][] = [
    [
      "a",
      JSON_PATCH,
      [{ op: "test", path: "/data/k", value: "x" }],
      422,
      /^the server rejected our request due to an error in our request$/,
    ],
    ["a", JSON_PATCH, { op: "add" }, 400, /json/i],
    ["a", MERGE, { metadata: { resourceVersion: "1" } }, 409, /the object has been modified/],
    ["a", MERGE, { metadata: { name: "b" } }, 400, /does not match the name on the URL/],
    ["b", MERGE, {}, 404, /^configmaps "b" not found$/],
    ["a", "text/plain", {}, 415, /^415: Unsupported Media Type$/],
  ];
  for (const [name, type, body, code, message] of refused)
    await assert.rejects(world.ask("PATCH", `${CONFIG_MAPS}/${name}`, { type, body }), refusal(code, message), type);
});

test("apply creates objects, takes over fields with force, and removes fields its manager no longer applies", async () => {
  const world = new World();
  const apply = (manager: string, data: Record<string, string>, more = "") =>
    world.ask("PATCH", `${CONFIG_MAPS}/a?fieldManager=${manager}${more}`, {
      type: APPLY,
      body: configMap("a", { data }),
    });
  const dataOf = (reply: Awaited<ReturnType<typeof apply>>) =>
    reply.type === "object" ? reply.view.object.data : reply;
  const created = await apply("one", { k: "v", l: "w" });
  assert.ok(created.type === "object" && created.code === 201);
  assert.deepEqual(dataOf(await apply("two", { m: "x" })), { k: "v", l: "w", m: "x" });
  await assert.rejects(apply("two", { k: "other" }), refusal(409, /conflict with "one": \.data\.k/));
  assert.deepEqual(dataOf(await apply("two", { k: "other" }, "&force=true")), { k: "other", l: "w" });
  assert.deepEqual(dataOf(await apply("one", { k: "other" })), { k: "other" }, "two still owns k, one gave up l");
  await assert.rejects(apply("", {}), refusal(422, /fieldManager: Required value/));
});

test("apply rejects a number that does not fit, like FromUnstructured", async () => {
  const world = new World();
  const apply = (containerPort: number) => {
    const spec = { containers: [{ name: "one", image: "a", ports: [{ containerPort }] }] };
    const body = { apiVersion: "v1", kind: "Pod", metadata: { name: "p" }, spec };
    return world.ask("PATCH", `${PODS}/p?fieldManager=m`, { type: APPLY, body });
  };
  const converting = "failed to convert new object (/p; /v1, Kind=Pod) to proper version: ";
  const text = `${converting}unable to convert unstructured object to /v1, Kind=Pod: cannot convert float64 to int32`;
  await assert.rejects(apply(1.5), { code: 500, message: text });
  await assert.rejects(
    apply(2 ** 32 - 1),
    refusal(422, /containerPort: Invalid value: -1: must be between 1 and 65535/),
  );
});
