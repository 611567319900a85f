import assert from "node:assert/strict";
import { test } from "node:test";
import { CONFIG_MAPS, refusal, World } from "./verbs.suite.ts";

async function worldWithFour(): Promise<World> {
  const world = new World();
  await world.configMaps({ d: { tier: "back" }, b: { tier: "front" }, a: { tier: "back" }, c: {} });
  return world;
}

test("list selects by labels and fields, sorted by name", async () => {
  const world = await worldWithFour();
  const selected: [string, string[]][] = [
    ["", ["a", "b", "c", "d"]],
    ["labelSelector=tier=back", ["a", "d"]],
    ["labelSelector=tier", ["a", "b", "d"]],
    ["labelSelector=!tier", ["c"]],
    ["labelSelector=tier+notin+(back)", ["b", "c"]],
    ["fieldSelector=metadata.name=b", ["b"]],
    ["fieldSelector=metadata.name!=b&labelSelector=tier", ["a", "d"]],
  ];
  for (const [query, names] of selected)
    assert.deepEqual((await world.list(`${CONFIG_MAPS}?${query}`)).names, names, query);
  assert.deepEqual((await world.list("/api/v1/configmaps")).names, ["a", "b", "c", "d"]);
  assert.deepEqual((await world.list("/api/v1/namespaces/other/configmaps")).names, []);
});

test("list pages through one snapshot despite concurrent writes", async () => {
  const world = await worldWithFour();
  const first = await world.list(`${CONFIG_MAPS}?limit=3`);
  assert.deepEqual([first.names, first.metadata.remainingItemCount], [["a", "b", "c"], 1]);
  await world.configMaps({ aa: {}, e: {} });
  const second = await world.list(`${CONFIG_MAPS}?limit=3&continue=${first.metadata.continue}`);
  assert.deepEqual([second.names, second.metadata.continue], [["d"], undefined]);
  assert.equal(second.metadata.resourceVersion, first.metadata.resourceVersion);
});

test("list returns an exact past state and rejects a compacted one", async () => {
  const world = await worldWithFour();
  const { resourceVersion } = (await world.list(CONFIG_MAPS)).metadata;
  await world.configMaps({ later: {} });
  const past = `${CONFIG_MAPS}?resourceVersion=${resourceVersion}&resourceVersionMatch=Exact`;
  assert.deepEqual((await world.list(past)).names, ["a", "b", "c", "d"]);
  await world.store.compact(await world.store.revision());
  await assert.rejects(world.list(past), refusal(410, /^The resourceVersion for the provided list is too old\.$/));
});

test("list rejects invalid queries", async () => {
  const world = await worldWithFour();
  const refused: [string, number, RegExp][] = [
    ["labelSelector=a==b==c", 400, /^found '==', expected: ',' or 'end of string'$/],
    [
      "fieldSelector=data.k=v",
      400,
      /^"data.k" is not a known field selector: only "metadata.name", "metadata.namespace"$/,
    ],
    ["resourceVersionMatch=Exact", 422, /resourceVersionMatch is forbidden unless resourceVersion is provided/],
    ["continue=garbage", 400, /continue key is not valid/],
    ["resourceVersion=x", 400, /invalid resource version/],
  ];
  for (const [query, code, message] of refused)
    await assert.rejects(world.list(`${CONFIG_MAPS}?${query}`), refusal(code, message), query);
});
