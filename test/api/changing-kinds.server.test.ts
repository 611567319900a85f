import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, suite, test } from "node:test";
import { plainError } from "../../src/base/api/api-error.ts";
import type { JsonObject } from "../../src/base/api/object.ts";
import { systemEnvironment } from "../../src/base/log/system-environment.ts";
import { defaultConfig } from "../../src/programs/server/config.ts";
import { type ServerWithParts, startWithParts } from "../../src/programs/server/server.ts";
import type { ServedResource } from "../../src/resources/model/catalog.ts";
import type { ResourceDefinition } from "../../src/resources/model/definition.ts";
import { type Client, clientFor } from "../support/client.ts";
import { GROUP, LateConverter, widgets, widgetsPath } from "./widgets.ts";

const [V1, V2] = [widgetsPath("v1"), widgetsPath("v2")];
const CONFIG_MAPS = "/api/v1/namespaces/default/configmaps";
const MERGE = { "content-type": "application/merge-patch+json" };
const APPLY = { "content-type": "application/apply-patch+yaml" };

const widget = (name: string, spec: JsonObject, version = "v1") => ({
  apiVersion: `${GROUP}/${version}`,
  kind: "Widget",
  metadata: { name },
  spec,
});

suite("a kind that comes, changes and goes while the server runs", () => {
  let folder: string;
  let server: ServerWithParts;
  let client: Client;
  let builtIn: readonly ResourceDefinition[];
  const converter = new LateConverter();
  const stop = new AbortController();

  before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), "binnacle-kinds-"));
    const own = {
      certDir: folder,
      securePort: 0,
      controllers: "none",
      customObjects: "defined",
      shutdownGraceMs: 100,
    } as const;
    server = await startWithParts({ ...defaultConfig, ...own }, systemEnvironment());
    client = clientFor(server.url, server.token);
    builtIn = server.resources.catalog.definitions;
    assert.equal((await client.call("POST", CONFIG_MAPS, { metadata: { name: "warm" } })).status, 201);
  });
  after(async () => {
    stop.abort();
    await server.close();
    await rm(folder, { recursive: true });
  });

  /** Cached values of a built-in kind: its served resource, and the decoded object of an entry. */
  async function builtInCaches(): Promise<[ServedResource, unknown]> {
    const { catalog, keys, store, views } = server.resources;
    const resource = catalog.find("", "v1", "configmaps") ?? assert.fail("no configmaps");
    const entry = await store.get(keys.key(resource.definition, { namespace: "default", name: "warm" }));
    return [resource, views.view(resource, entry ?? assert.fail("no entry")).object];
  }

  /** Watches from now on, even if the first event is read later. */
  async function watchFrom(collection: string, selector = ""): Promise<ReturnType<Client["watch"]>> {
    const { body } = await client.call("GET", `${collection}?limit=1`);
    const from = `watch=1&resourceVersion=${body.metadata.resourceVersion}`;
    return client.watch(`${collection}?${from}${selector}`, stop.signal);
  }

  const shown = ({
    value,
  }: IteratorResult<{ type: string; object: { metadata: { name: string }; spec: unknown } }>) => [
    value.type,
    value.object.metadata.name,
    value.object.spec,
  ];

  test("its path is not served before", async () => {
    assert.equal((await client.call("GET", V1)).status, 404);
  });

  test("is added, and built-in kinds keep their caches", async () => {
    const caches = await builtInCaches();
    server.resources.catalog.replace([...builtIn, widgets(converter.convert)]);
    assert.equal((await client.call("GET", V1)).status, 200);
    const [resource, object] = await builtInCaches();
    assert.equal(resource, caches[0]);
    assert.equal(object, caches[1]);
  });

  test("an object of one version is served in the other; unknown fields are pruned, defaults are set", async () => {
    const created = await client.call("POST", V2, widget("a", { count: 3, odd: 1 }, "v2"));
    assert.equal(created.status, 201);
    assert.deepEqual(created.body.spec, { count: 3, color: "red" });
    const [one, two] = [await client.call("GET", `${V1}/a`), await client.call("GET", `${V2}/a`)];
    assert.deepEqual(one.body.spec, { size: 3, color: "red" });
    assert.deepEqual(two.body.spec, { count: 3, color: "red" });
    assert.equal(two.body.metadata.resourceVersion, one.body.metadata.resourceVersion);
    const strict = await client.call("POST", `${V2}?fieldValidation=Strict`, widget("b", { odd: 1 }, "v2"));
    assert.equal(strict.status, 400);
    assert.match(strict.body.message, /strict decoding error: unknown field "spec.odd"$/);
  });

  test("a read waits for its converter; others do not", async () => {
    const asked = converter.hold();
    const late = client.call("GET", `${V2}/a`);
    await asked;
    assert.equal((await client.call("GET", `${CONFIG_MAPS}/warm`)).status, 200);
    assert.deepEqual((await client.call("GET", `${V1}/a`)).body.spec, { size: 3, color: "red" });
    converter.release();
    assert.deepEqual((await late).body.spec, { count: 3, color: "red" });
  });

  test("patches through both versions, dry run or not, and field ownership", async () => {
    const dry = await client.call("PATCH", `${V2}/a?dryRun=All`, { spec: { count: 9 } }, MERGE);
    assert.deepEqual(dry.body.spec, { count: 9, color: "red" });
    const patched = await client.call("PATCH", `${V2}/a`, { spec: { count: 4 } }, MERGE);
    assert.deepEqual(patched.body.spec, { count: 4, color: "red" });
    assert.equal(patched.body.metadata.generation, 2);
    const applied = await client.call(
      "PATCH",
      `${V1}/a?fieldManager=applier&force=true`,
      widget("a", { size: 5 }),
      APPLY,
    );
    assert.deepEqual(applied.body.spec, { size: 5, color: "red" });
    const managers = (applied.body.metadata.managedFields as { apiVersion: string; fieldsV1: object }[]).map(
      ({ apiVersion, fieldsV1 }) => [apiVersion, JSON.stringify(fieldsV1)],
    );
    assert.deepEqual(managers, [
      [`${GROUP}/v1`, '{"f:spec":{"f:size":{}}}'],
      [`${GROUP}/v2`, '{"f:spec":{".":{},"f:color":{}}}'],
    ]);
    const put = await client.call("PUT", `${V2}/a`, {
      ...widget("a", { count: 6 }, "v2"),
      metadata: { name: "a", resourceVersion: applied.body.metadata.resourceVersion },
    });
    assert.deepEqual(put.body.spec, { count: 6, color: "red" });
  });

  test("rejects encodings that only Go types have", async () => {
    const strategic = { "content-type": "application/strategic-merge-patch+json" };
    const patched = await client.call("PATCH", `${V1}/a`, { spec: { size: 1 } }, strategic);
    assert.equal(patched.status, 415);
    assert.match(patched.body.message, /: application\/json-patch\+json, application\/merge-patch\+json, /);
    const accept = { accept: "application/vnd.kubernetes.protobuf" };
    assert.equal((await client.call("GET", `${V1}/a`, undefined, accept)).status, 406);
  });

  test("converts long lists in batches and keeps their order", async () => {
    const { codec, keys, store, catalog } = server.resources;
    const resource = catalog.find(GROUP, "v1", "widgets") ?? assert.fail("no widgets");
    const names = Array.from({ length: 1201 }, (_, index) => `many-${String(index).padStart(4, "0")}`);
    for (const [index, name] of names.entries()) {
      const metadata = { name, namespace: "default", uid: name, labels: { odd: String(index % 2) } };
      const value = codec.write({ ...widget(name, { size: index }), metadata });
      await store.put(keys.key(resource.definition, metadata), value, 0);
    }
    converter.batches.length = 0;
    const all = await client.call("GET", V2);
    const found = (all.body.items as { metadata: { name: string }; spec: object }[]).slice(1);
    assert.deepEqual(
      found.map(({ metadata, spec }) => [metadata.name, spec]),
      names.map((name, count) => [name, { count, color: "red" }]),
    );
    assert.ok(Math.max(...converter.batches) <= 500);
    const page = await client.call("GET", `${V2}?limit=2`);
    assert.deepEqual(page.body.items[1].spec, { count: 0, color: "red" });
    const next = await client.call("GET", `${V2}?limit=2&continue=${page.body.metadata.continue}`);
    assert.deepEqual(next.body.items[0].spec, { count: 1, color: "red" });
    const selected = await client.call("GET", `${V2}?fieldSelector=spec.count=700&labelSelector=odd=0`);
    assert.deepEqual(
      (selected.body.items as { metadata: { name: string } }[]).map(({ metadata }) => metadata.name),
      ["many-0700"],
    );
    assert.equal((await client.call("GET", `${V2}?fieldSelector=spec.size=1`)).status, 400);
    const removed = await client.call("DELETE", `${V2}?labelSelector=odd`);
    assert.equal(removed.status, 200);
    assert.equal((await client.call("GET", V1)).body.items.length, 1);
  });

  test("watches of both versions see everything in order, however slow the converter is", async () => {
    const [one, two, some] = [
      await watchFrom(V1),
      await watchFrom(V2),
      await watchFrom(V2, "&fieldSelector=spec.count=8"),
    ];
    const asked = converter.hold();
    const [first, firstOfSome] = [two.next(), some.next()];
    await client.call("POST", V1, widget("x", { size: 1 }));
    await client.call("PATCH", `${V1}/x`, { spec: { size: 8 } }, MERGE);
    await client.call("DELETE", `${V1}/x`);
    await asked;
    assert.deepEqual(shown(await one.next()), ["ADDED", "x", { size: 1, color: "red" }]);
    converter.release();
    assert.deepEqual(shown(await first), ["ADDED", "x", { count: 1, color: "red" }]);
    assert.deepEqual(shown(await two.next()), ["MODIFIED", "x", { count: 8, color: "red" }]);
    const deleted = await two.next();
    assert.deepEqual(shown(deleted), ["DELETED", "x", { count: 8, color: "red" }]);
    assert.deepEqual(shown(await firstOfSome), ["ADDED", "x", { count: 8, color: "red" }]);
    assert.deepEqual(shown(await some.next()), ["DELETED", "x", { count: 8, color: "red" }]);
    await client.call("POST", V2, widget("y", { count: 8 }, "v2"));
    assert.deepEqual(shown(await some.next()), ["ADDED", "y", { count: 8, color: "red" }]);
    const added = await two.next();
    assert.ok(
      Number(added.value.object.metadata.resourceVersion) > Number(deleted.value.object.metadata.resourceVersion),
    );
    for (const watch of [one, two, some]) await watch.return(undefined);
  });

  test("returns an error of the converter, without other effects", async () => {
    converter.failure = plainError(500, "conversion failed");
    for (const url of [`${V2}/a`, V2]) {
      const { status, body } = await client.call("GET", url);
      assert.deepEqual([status, body.message], [500, "conversion failed"]);
    }
    assert.equal((await client.call("GET", `${V1}/a`)).status, 200);
    converter.failure = undefined;
    assert.equal((await client.call("GET", `${V2}/a`)).status, 200);
  });

  test("ends watches when its schema changes, and uses the new schema", async () => {
    const caches = await builtInCaches();
    const watches = [await watchFrom(V1), await watchFrom(V2), await watchFrom(CONFIG_MAPS)];
    const [one, two, other] = watches.map((watch) => watch.next());
    await client.call("POST", V1, widget("z", { size: 1 }));
    assert.deepEqual([(await one)?.value.type, (await two)?.value.type], ["ADDED", "ADDED"]);
    const ends = watches.slice(0, 2).map((watch) => watch.next());
    server.resources.catalog.replace([
      ...builtIn,
      widgets(converter.convert, { odd: { type: "integer", default: 7 } }),
    ]);
    for (const end of ends) assert.equal((await end).done, true);
    assert.deepEqual((await client.call("GET", `${V2}/a`)).body.spec, { count: 6, color: "red", odd: 7 });
    const patched = await client.call("PATCH", `${V1}/a`, { spec: { odd: 1 } }, MERGE);
    assert.deepEqual(patched.body.spec, { size: 6, color: "red", odd: 1 });
    await client.call("POST", CONFIG_MAPS, { metadata: { name: "later" } });
    assert.equal((await other)?.value.object.metadata.name, "later");
    assert.deepEqual(await builtInCaches(), caches);
    assert.equal((await builtInCaches())[1], caches[1]);
  });

  test("ends watches when it is removed and its path is gone; its objects return with it", async () => {
    const watches = [await watchFrom(V1), await watchFrom(V2)];
    const firsts = watches.map((watch) => watch.next());
    await client.call("DELETE", `${V1}/z`);
    for (const first of firsts) assert.equal((await first).value.type, "DELETED");
    const ends = watches.map((watch) => watch.next());
    server.resources.catalog.replace(builtIn);
    for (const end of ends) assert.equal((await end).done, true);
    const { status, body } = await client.call("GET", `${V1}/a`);
    assert.deepEqual([status, body], [404, "404 page not found\n"]);
    server.resources.catalog.replace([...builtIn, widgets(converter.convert)]);
    assert.deepEqual((await client.call("GET", `${V2}/a`)).body.spec, { count: 6, color: "red" });
  });
});
