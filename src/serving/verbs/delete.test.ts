import assert from "node:assert/strict";
import { test } from "node:test";
import { currentMeter, Meter, metered, TooCostly, UNLIMITED } from "../../base/util/meter.ts";
import { CONFIG_MAPS, configMap, refusal, World } from "./verbs.suite.ts";

test("delete returns a Status that names the deleted object", async () => {
  const world = new World();
  const [a] = await world.configMaps({ a: {} });
  world.admitted.length = 0;
  const reply = await world.ask("DELETE", `${CONFIG_MAPS}/a`);
  assert.ok(reply.type === "status");
  assert.partialDeepStrictEqual(reply.status, {
    status: "Success",
    details: { name: "a", kind: "configmaps", uid: a?.metadata.uid },
  });
  assert.deepEqual(world.admitted, ["mutate DELETE configmaps/a", "validate DELETE configmaps/a"]);
  await assert.rejects(world.ask("DELETE", `${CONFIG_MAPS}/a`), refusal(404, /^configmaps "a" not found$/));
});

test("delete returns the object while it has finalizers", async () => {
  const world = new World();
  const metadata = { finalizers: ["example.com/hold"] };
  await world.object("POST", CONFIG_MAPS, { body: configMap("a", { metadata }) });
  const held = await world.object("DELETE", `${CONFIG_MAPS}/a`);
  assert.deepEqual([held.metadata.deletionGracePeriodSeconds, held.metadata.finalizers], [0, ["example.com/hold"]]);
});

test("reads delete options from the body, otherwise from the query", async () => {
  const world = new World();
  const options = (more: object) => ({ kind: "DeleteOptions", apiVersion: "v1", ...more });
  const [a] = await world.configMaps({ a: {} });
  const url = `${CONFIG_MAPS}/a`;
  const refused = refusal(409, /the UID in the precondition \(other\) does not match/);
  await assert.rejects(world.ask("DELETE", url, { body: options({ preconditions: { uid: "other" } }) }), refused);
  await assert.rejects(world.ask("DELETE", url, { body: configMap("a") }), refusal(400, /no kind "ConfigMap"/));
  const both = options({ propagationPolicy: "Orphan", orphanDependents: true });
  await assert.rejects(
    world.ask("DELETE", url, { body: both }),
    refusal(422, /orphanDependents and deletionPropagation/i),
  );
  const before = await world.store.revision();
  await world.ask("DELETE", `${url}?dryRun=All`);
  assert.equal(await world.store.revision(), before);
  const orphaned = await world.object("DELETE", `${url}?propagationPolicy=Foreground`, {
    body: options({ preconditions: { uid: a?.metadata.uid }, propagationPolicy: "Orphan" }),
  });
  assert.deepEqual(orphaned.metadata.finalizers, ["orphan"], "the body takes precedence over the query");
});

test("deletecollection deletes and returns what the query selects", async () => {
  const world = new World();
  await world.configMaps({ a: { tier: "back" }, b: {}, c: { tier: "back" } });
  const { names } = await world.list(`${CONFIG_MAPS}?labelSelector=tier=back`, "DELETE");
  assert.deepEqual(names, ["a", "c"]);
  assert.deepEqual((await world.list(CONFIG_MAPS)).names, ["b"]);
  assert.deepEqual(
    world.admitted.filter((line) => line.startsWith("validate DELETE")),
    // Compat: `DeleteCollection` gives admission attributes without a name.
    ["validate DELETE configmaps/", "validate DELETE configmaps/"],
  );
  await world.list(`${CONFIG_MAPS}?dryRun=All`, "DELETE");
  assert.deepEqual((await world.list(CONFIG_MAPS)).names, ["b"]);
  await assert.rejects(world.ask("DELETE", "/api/v1/configmaps"), refusal(405, /does not allow this method/));
});

test("deletecollection has a meter for every object", async () => {
  const world = new World();
  await world.configMaps({ a: {}, b: {}, c: {} });
  let units = 60;
  world.onAdmission = () => currentMeter().charge(units / 2);
  const remove = () => metered(new Meter(100), () => world.list(`${CONFIG_MAPS}?dryRun=All`, "DELETE"));
  assert.deepEqual((await remove()).names, ["a", "b", "c"]);
  units = 110;
  await assert.rejects(remove, TooCostly);
  world.onAdmission = () => assert.equal(currentMeter(), UNLIMITED, "expressions compare it");
  await world.list(`${CONFIG_MAPS}?dryRun=All`, "DELETE");
});
