import assert from "node:assert/strict";
import { test } from "node:test";
import { CONFIG_MAPS, configMap, refusal, World } from "./verbs.suite.ts";

test("delete answers with a Status that names what is gone", async () => {
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

test("delete answers with the object while something holds it", async () => {
  const world = new World();
  const metadata = { finalizers: ["example.com/hold"] };
  await world.object("POST", CONFIG_MAPS, { body: configMap("a", { metadata }) });
  const held = await world.object("DELETE", `${CONFIG_MAPS}/a`);
  assert.deepEqual([held.metadata.deletionGracePeriodSeconds, held.metadata.finalizers], [0, ["example.com/hold"]]);
});

test("options come from the body or the query", async () => {
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
  assert.deepEqual(orphaned.metadata.finalizers, ["orphan"], "the body counts, not the query");
});

test("deletecollection deletes what the query selects, and answers with it", async () => {
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
