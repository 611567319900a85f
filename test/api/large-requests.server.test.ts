import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { connect, type IncomingHttpHeaders } from "node:http2";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, suite, test } from "node:test";
import { clientFor } from "../support/client.ts";
import { testLargeRequests } from "./large-requests.suite.ts";
import { LargeServer } from "./large-servers.ts";
import { GROUP, LateConverter, widgets, widgetsPath } from "./widgets.ts";

testLargeRequests("memory", async () => ({ one: {}, other: {}, stop: async () => {} }));

testLargeRequests("SQLite", async () => {
  const folder = await mkdtemp(path.join(tmpdir(), "binnacle-large-"));
  const store = (name: string) => ({ store: { type: "sqlite", file: path.join(folder, name) } as const });
  return { one: store("one.db"), other: store("other.db"), stop: () => rm(folder, { recursive: true }) };
});

suite("a large request", () => {
  let server: LargeServer;
  const LARGE = "x".repeat(1_000_000);
  const MAPS = "/api/v1/namespaces/default/configmaps";
  const map = (name: string) => JSON.stringify({ metadata: { name }, data: { large: LARGE } });

  before(async () => {
    server = await LargeServer.start();
  });
  after(() => server?.close());

  test("is seen by watchers", async (t) => {
    const stop = new AbortController();
    t.after(() => stop.abort());
    const events = clientFor(server.url, server.token).watch(`${MAPS}?watch=1`, stop.signal);
    const first = events.next();
    const { status, body } = await server.send({ method: "POST", path: MAPS, body: map("watched") });
    assert.equal(status, 201);
    const { value } = await first;
    assert.deepEqual([value.type, value.object], ["ADDED", JSON.parse(String(body))]);
  });

  test("gets the same response over HTTP/2, in chunks", async (t) => {
    await server.send({ method: "POST", path: MAPS, body: map("both") });
    const read = { method: "GET", path: `${MAPS}/both?pretty=true` };
    const expected = await server.send(read);
    const session = connect(server.url, { rejectUnauthorized: false });
    t.after(() => session.destroy());
    const stream = session.request({ ":path": read.path, authorization: `Bearer ${server.token}` });
    const [headers] = (await once(stream, "response")) as [IncomingHttpHeaders];
    const body = Buffer.concat(await stream.toArray());
    assert.equal(headers["content-length"], String(expected.body.length));
    assert.ok(body.equals(expected.body));
    assert.ok(body.length > 1_000_000);
  });

  test("leaves nothing behind if its client disconnects", async () => {
    const leave = new AbortController();
    const sent = server.send({ method: "POST", path: MAPS, body: map("left"), signal: leave.signal });
    const before = await server.metric("binnacle_offloaded_requests_total");
    leave.abort();
    await assert.rejects(sent);
    const { status } = await server.send({ method: "POST", path: MAPS, body: map("stayed") });
    assert.equal(status, 201);
    assert.equal(await server.metric("binnacle_requests_waiting_for_thread"), 0);
    assert.ok((await server.metric("binnacle_offloaded_requests_total")) > before);
    assert.deepEqual(
      server.lines.filter(({ level }) => level === "error"),
      [],
    );
  });

  test("is handled in the main thread if its kind is neither built in nor stored", async (t) => {
    const { catalog } = server.resources;
    const builtIn = catalog.definitions;
    t.after(() => catalog.replace(builtIn));
    catalog.replace([...builtIn, widgets(new LateConverter().convert)]);
    const before = await server.metric("binnacle_offloaded_requests_total");
    const widget = {
      apiVersion: `${GROUP}/v1`,
      kind: "Widget",
      metadata: { name: "a", annotations: { a: "x".repeat(200_000) } },
    };
    const { status, body } = await server.send({
      method: "POST",
      path: widgetsPath("v1"),
      body: JSON.stringify(widget),
    });
    assert.equal(status, 201, String(body).slice(0, 300));
    assert.equal(await server.metric("binnacle_offloaded_requests_total"), before);
  });
});
