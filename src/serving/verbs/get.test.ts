import assert from "node:assert/strict";
import { test } from "node:test";
import { CONFIG_MAPS, configMap, refusal, World } from "./verbs.suite.ts";

test("get returns the object as it was written", async () => {
  const world = new World();
  const created = await world.object("POST", CONFIG_MAPS, { body: configMap("a", { data: { k: "v" } }) });
  assert.deepEqual(await world.object("GET", `${CONFIG_MAPS}/a`), created);
  const { resourceVersion } = created.metadata;
  assert.deepEqual(await world.object("GET", `${CONFIG_MAPS}/a?resourceVersion=${resourceVersion}`), created);
});

test("get rejects missing objects, unknown paths and invalid resource versions", async () => {
  const world = new World();
  await world.configMaps({ a: {} });
  const refused: [string, number, RegExp][] = [
    [`${CONFIG_MAPS}/b`, 404, /^configmaps "b" not found$/],
    ["/api/v1/namespaces/other/configmaps/a", 404, /^configmaps "a" not found$/],
    ["/api/v1/configmaps/a", 404, /could not find the requested resource/],
    [`${CONFIG_MAPS}/a/status`, 404, /could not find the requested resource/],
    [`${CONFIG_MAPS}/a?resourceVersion=x`, 500, /resourceVersion: Invalid value: "x"/],
  ];
  for (const [url, code, message] of refused) await assert.rejects(world.ask("GET", url), refusal(code, message));
});
