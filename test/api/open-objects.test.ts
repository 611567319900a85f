import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, suite, test } from "node:test";
import type { JsonObject } from "../../src/api/object.ts";
import { MAX_OPEN_RESOURCES, MAX_OPEN_VERSIONS } from "../../src/custom/open/open-kinds.ts";
import { systemClock } from "../../src/lib/clock.ts";
import { defaultConfig } from "../../src/server/config.ts";
import { type Server, startServer } from "../../src/server/server.ts";
import { systemEnvironment } from "../../src/server/system-environment.ts";
import { type Client, clientFor } from "../support/client.ts";

const GROUP = "open.example.com";
const at = (plural: string, version = "v1", group = GROUP): string =>
  `/apis/${group}/${version}/namespaces/default/${plural}`;
const cluster = (plural: string): string => `/apis/${GROUP}/v1/${plural}`;
const thing = (name: string, more: JsonObject = {}): JsonObject => ({
  apiVersion: `${GROUP}/v1`,
  kind: "Thing",
  metadata: { name },
  ...more,
});

suite("objects of resources that nobody defined", { timeout: 120_000 }, () => {
  let server: Server;
  let client: Client;
  let passedMs = 0;

  before(async () => {
    const clock = { ...systemClock, now: () => systemClock.now() + passedMs };
    const own = { securePort: 0, controllers: "none", shutdownGraceMs: 100 } as const;
    server = await startServer({ ...defaultConfig, ...own }, { ...systemEnvironment(), clock });
    client = clientFor(server.url, server.token);
  });
  after(() => server.close());

  const statusOf = async (method: string, place: string, body?: unknown) =>
    (await client.call(method, place, body)).status;

  test("have the names that a CustomResourceDefinition could give", async () => {
    for (const place of [
      at("things", "v1", "nodot"),
      at("things", "v1", "a..b"),
      at("things", "v1", `${"x".repeat(250)}.example.com`),
      at("things", "1"),
      at("things", "V1"),
      at("1things"),
      at("thi_ngs"),
      at("x".repeat(64)),
      at("watch"),
    ]) {
      const [, group = "", version = ""] = /^\/apis\/([^/]*)\/([^/]*)/.exec(place) ?? [];
      const body = { ...thing("a"), apiVersion: `${group}/${version}` };
      assert.equal(await statusOf("POST", place, body), 404, place);
    }
    for (const kind of [undefined, "", "1Thing", "Thi ng", "x".repeat(64), 3]) {
      const refused = await client.call("POST", at("kinds"), thing("a", { kind: kind as string }));
      assert.equal(refused.status, 400, JSON.stringify(kind));
    }
    const long = await client.call("POST", at("names"), thing("x".repeat(254)));
    assert.equal(long.status, 422, JSON.stringify(long.body));
    assert.equal((await client.call("GET", `/apis/${GROUP}`)).status, 404);
  });

  test("are never those of Kubernetes' own extension servers", async () => {
    for (const group of ["metrics.k8s.io", "custom.metrics.k8s.io", "external.metrics.k8s.io"]) {
      assert.equal(await statusOf("GET", at("pods", "v1beta1", group)), 404);
      const body = { apiVersion: `${group}/v1beta1`, kind: "PodMetrics", metadata: { name: "a" } };
      assert.equal(await statusOf("POST", at("pods", "v1beta1", group), body), 404);
    }
    assert.equal(await statusOf("GET", at("nodemetrics", "v1beta1", "my.metrics.example.com")), 200);
  });

  test("are as large as others may be", async () => {
    const fits = await client.call("POST", at("sizes"), thing("fits", { spec: { text: "x".repeat(1_000_000) } }));
    assert.equal(fits.status, 201, JSON.stringify(fits.body).slice(0, 500));
    const large = await client.call("POST", at("sizes"), thing("large", { spec: { text: "x".repeat(1_600_000) } }));
    assert.deepEqual([large.status, large.body.message], [500, "etcdserver: request is too large"]);
  });

  test("teach another kind and scope once the last of them is gone", async () => {
    assert.equal(await statusOf("POST", at("changing"), thing("a")), 201);
    assert.equal(await statusOf("POST", at("changing"), thing("b", { kind: "Other" })), 422);
    assert.equal(await statusOf("POST", cluster("changing"), thing("b")), 405);
    await client.call("DELETE", `${at("changing")}/a`);
    assert.equal(await statusOf("POST", at("changing"), thing("b", { kind: "Other" })), 201);
    assert.equal((await client.call("GET", at("changing"))).body.kind, "OtherList");
    await client.call("DELETE", `${at("changing")}/b`);
    assert.equal(await statusOf("POST", cluster("changing"), thing("c", { kind: "Third" })), 201);
    const { body } = await client.call("GET", `/apis/${GROUP}/v1`);
    const { namespaced, kind } = body.resources.find((one: JsonObject) => one.name === "changing");
    assert.deepEqual([namespaced, kind], [false, "Third"]);
  });

  test("are in so many versions and no more", async () => {
    for (let number = 1; number <= MAX_OPEN_VERSIONS; number += 1) {
      const body = thing(`a${number}`, { apiVersion: `${GROUP}/v${number}` });
      assert.equal(await statusOf("POST", at("versions", `v${number}`), body), 201);
    }
    const one = MAX_OPEN_VERSIONS + 1;
    const refused = await client.call(
      "POST",
      at("versions", `v${one}`),
      thing("b", { apiVersion: `${GROUP}/v${one}` }),
    );
    assert.equal(refused.status, 403);
    assert.match(refused.body.message, /there are 10 versions of it already/);
  });

  test("are of so many resources and no more; one without objects makes room", async () => {
    const { body: before } = await client.call("GET", `/apis/${GROUP}/v1`);
    const known = new Set(before.resources.map(({ name }: JsonObject) => String(name).split("/")[0]));
    const wanted = Array.from({ length: MAX_OPEN_RESOURCES - known.size }, (_, number) => `many${number}`);
    for (let done = 0; done < wanted.length; done += 50) {
      const made = wanted.slice(done, done + 50).map((plural) => statusOf("POST", cluster(plural), thing("a")));
      for (const status of await Promise.all(made)) assert.equal(status, 201);
    }
    const refused = await client.call("POST", cluster("toomany"), thing("a"));
    assert.equal(refused.status, 403);
    assert.match(refused.body.message, /there are 1000 resources without a definition already/);
    assert.equal(await statusOf("POST", cluster("many1"), thing("b")), 201);
    await client.call("DELETE", `${cluster("many2")}/a`);
    // Whoever saw the resource just now may be about to create an object of it.
    passedMs += 20_000;
    assert.equal(await statusOf("POST", cluster("toomany"), thing("a")), 403);
    passedMs += 70_000;
    assert.equal(await statusOf("POST", cluster("toomany"), thing("a")), 201);
    assert.equal(await statusOf("POST", cluster("many2"), thing("a")), 403);
  });
});

test("objects of resources that nobody defined, and what is known of them, outlive the server", async () => {
  const folder = await mkdtemp(path.join(tmpdir(), "binnacle-open-"));
  const own = { securePort: 0, controllers: "none", shutdownGraceMs: 100, certDir: folder } as const;
  const store = { type: "sqlite", file: path.join(folder, "store.db") } as const;
  const start = () => startServer({ ...defaultConfig, ...own, store }, systemEnvironment());
  try {
    const first = await start();
    const client = clientFor(first.url, first.token);
    assert.equal((await client.call("POST", at("things"), thing("a", { spec: { colour: "red" } }))).status, 201);
    const second = thing("b", { apiVersion: `${GROUP}/v2` });
    assert.equal((await client.call("POST", at("things", "v2"), second)).status, 201);
    const discovered = (await client.call("GET", `/apis/${GROUP}`)).body;
    await first.close();
    const again = await start();
    const later = clientFor(again.url, again.token);
    assert.deepEqual((await later.call("GET", `/apis/${GROUP}`)).body, discovered);
    const { kind, items } = (await later.call("GET", at("things", "v2"))).body;
    assert.equal(kind, "ThingList");
    assert.deepEqual(
      items.map(({ metadata }: { metadata: JsonObject }) => metadata.name),
      ["a", "b"],
    );
    assert.deepEqual((await later.call("GET", `${at("things")}/a`)).body.spec, { colour: "red" });
    assert.equal((await later.call("POST", at("things"), thing("c", { kind: "Other" }))).status, 422);
    await again.close();
  } finally {
    await rm(folder, { recursive: true });
  }
});
