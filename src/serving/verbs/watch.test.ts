import assert from "node:assert/strict";
import { test } from "node:test";
import { CONFIG_MAPS, configMap, readWatch, refusal, World } from "./verbs.suite.ts";

test("watch sends existing objects, then every change, and ends when aborted", async () => {
  const world = new World();
  await world.configMaps({ a: {}, b: {} });
  const leaving = new AbortController();
  const next = readWatch(await world.ask("GET", `${CONFIG_MAPS}?watch=1`, { signal: leaving.signal }));
  assert.deepEqual([await next(), await next()], ["ADDED a", "ADDED b"]);
  await world.object("PUT", `${CONFIG_MAPS}/a`, { body: configMap("a", { data: { k: "v" } }) });
  await world.ask("DELETE", `${CONFIG_MAPS}/b`);
  await world.configMaps({ c: {} });
  assert.deepEqual([await next(), await next(), await next()], ["MODIFIED a", "DELETED b", "ADDED c"]);
  leaving.abort();
  assert.equal(await next(), "END");
});

test("watch from a resourceVersion sends later changes", async () => {
  const world = new World();
  const [a] = await world.configMaps({ a: {}, b: {}, c: {} });
  const url = `${CONFIG_MAPS}?watch=1&resourceVersion=${a?.metadata.resourceVersion}`;
  const next = readWatch(await world.ask("GET", url));
  assert.deepEqual([await next(), await next()], ["ADDED b", "ADDED c"]);
  await world.store.compact(await world.store.revision());
  assert.equal(await readWatch(await world.ask("GET", url))(), "ERROR 410");
});

test("objects that start or stop matching the selector are ADDED or DELETED", async () => {
  const world = new World();
  const [a] = await world.configMaps({ a: { tier: "front" }, b: {} });
  const query = `watch=1&labelSelector=tier&resourceVersion=${a?.metadata.resourceVersion}`;
  const next = readWatch(await world.ask("GET", `${CONFIG_MAPS}?${query}`));
  const label = (name: string, labels: object) =>
    world.object("PUT", `${CONFIG_MAPS}/${name}`, { body: configMap(name, { metadata: { labels } }) });
  await label("a", {});
  await label("b", { tier: "back" });
  assert.deepEqual([await next(), await next()], ["DELETED a", "ADDED b"]);
});

test("the watch path of a single object sends only its events", async () => {
  const world = new World();
  await world.configMaps({ a: {}, b: {}, c: {} });
  const next = readWatch(await world.ask("GET", "/api/v1/watch/namespaces/n/configmaps/b"));
  assert.equal(await next(), "ADDED b");
  await world.ask("DELETE", `${CONFIG_MAPS}/a`);
  await world.ask("DELETE", `${CONFIG_MAPS}/b`);
  assert.equal(await next(), "DELETED b");
});

test("watch rejects invalid queries", async () => {
  const world = new World();
  const wrong = "sendInitialEvents=true&resourceVersionMatch=Exact&allowWatchBookmarks=true";
  await assert.rejects(world.ask("GET", `${CONFIG_MAPS}?watch=1&${wrong}`), refusal(422, /resourceVersionMatch/));
  await assert.rejects(world.ask("GET", `${CONFIG_MAPS}?watch=1&resourceVersion=x`), refusal(500, /Invalid value/));
});
