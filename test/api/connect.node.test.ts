import assert from "node:assert/strict";
import { once } from "node:events";
import { connect as connectHttp2 } from "node:http2";
import type { Duplex } from "node:stream";
import { buffer, text } from "node:stream/consumers";
import { after, before, suite, test } from "node:test";
import { gunzipSync } from "node:zlib";
import { eventually } from "../support/time.ts";
import { type Connected, NAMESPACE, startConnected, UPGRADE } from "./connected.ts";

suite("connections with nodes, pods and services", () => {
  let connected: Connected;

  before(async () => {
    connected = await startConnected();
  });
  after(() => connected?.[Symbol.asyncDispose]());

  suite("a proxy", () => {
    test("redirects a request without a path to the slash", async () => {
      const { status, headers } = await connected.admin.call("GET", `${connected.proxy}?a=b`);
      assert.deepEqual([status, headers.location], [301, `${connected.proxy}/?a=b`]);
    });

    test("sets forwarding headers, and passes on no credentials", async () => {
      connected.app.seen.length = 0;
      await connected.admin.call("GET", `${connected.proxy}/a%20b`, undefined, {
        "x-remote-user": "root",
        "x-forwarded-for": "10.1.2.3",
        "x-own": "kept",
        connection: "x-hop",
        "x-hop": "dropped",
      });
      const { headers = {}, url } = connected.app.seen[0] as (typeof connected.app.seen)[0];
      assert.equal(url, "/a%20b");
      assert.equal(headers["x-forwarded-uri"], `${connected.proxy}/a%20b`);
      assert.match(String(headers["x-forwarded-for"]), /^10\.1\.2\.3, .*127\.0\.0\.1$/);
      const { authorization, "x-remote-user": user, "x-hop": hop, "x-own": own } = headers;
      assert.deepEqual([authorization, user, hop, own], [undefined, undefined, undefined, "kept"]);
    });

    test("rewrites links and Location to go through it", async () => {
      const page = `<html><head><link href="${connected.proxy}/style.css"></head><a href="${connected.proxy}/x">x</a> <a href="y">y</a></html>`;
      assert.equal((await connected.admin.call("GET", `${connected.proxy}/page`)).body, page);
      const packed = await connected.open("GET", `${connected.proxy}/packed`);
      assert.equal(gunzipSync(await buffer(packed)).toString(), page);
      assert.equal(
        (await connected.admin.call("GET", `${connected.proxy}/moved`)).headers.location,
        `${connected.proxy}/here?a=b`,
      );
      assert.equal(
        (await connected.admin.call("GET", `${connected.proxy}/away`)).headers.location,
        "https://away.example/x",
      );
    });

    test("isolates cookies, and drops CORS headers", async () => {
      const { headers } = await connected.admin.call("GET", `${connected.proxy}/cookies`);
      assert.deepEqual(headers["set-cookie"], ["a=1", "b=2"]);
      assert.equal(headers["access-control-allow-origin"], undefined);
    });

    test("streams bodies both ways", async () => {
      const sent = Buffer.alloc(5_000_000, "x");
      const chunked = await connected.open("POST", `${connected.proxy}/echo`, { "transfer-encoding": "chunked" }, sent);
      assert.ok((await buffer(chunked)).equals(sent));
    });

    test("supports HTTP/2", async () => {
      const session = connectHttp2(connected.server.url, { rejectUnauthorized: false });
      const ask = async (method: string, body?: string) => {
        const authorization = `Bearer ${connected.server.token}`;
        const stream = session.request(
          { ":method": method, ":path": `${connected.proxy}/echo`, authorization },
          { endStream: false },
        );
        stream.end(body);
        const [headers] = await once(stream, "response");
        return [headers[":status"], await text(stream)];
      };
      assert.deepEqual(await ask("POST", "hello"), [200, "hello"]);
      assert.deepEqual(await ask("GET", "a body of a GET"), [200, "a body of a GET"]);
      assert.deepEqual(await ask("HEAD"), [200, ""]);
      session.close();
    });

    test("forwards upgrades", async () => {
      const { upgraded, statusCode } = await connected.open("GET", `${connected.proxy}/socket`, UPGRADE);
      assert.equal(statusCode, 101);
      upgraded?.write("hello");
      const [heard] = await once(upgraded as Duplex, "data");
      assert.equal(String(heard), "hello");
      upgraded?.destroy();
    });

    test("names unreachable backends", async () => {
      const { status, body } = await connected.admin.call("GET", `${NAMESPACE}/pods/web:1/proxy/`);
      const message = "error trying to reach service: dial tcp 127.0.0.1:1: connect: connection refused";
      assert.deepEqual([status, body.message, body.reason], [503, message, "ServiceUnavailable"]);
    });

    test("rejects invalid names", async () => {
      for (const name of ["ftp:web:80", "a:b:c:d", ":web", "web:70000", "web:x"]) {
        const { status, body } = await connected.admin.call("GET", `${NAMESPACE}/pods/${name}/proxy/`);
        assert.deepEqual([status, body.message], [400, `invalid pod request "${name}"`], name);
      }
    });
  });

  test("cleans up after a node that dies, and a client that leaves", async () => {
    const headers = { connection: "Upgrade", upgrade: "SPDY/3.1", "x-stream-protocol-version": "v4.channel.k8s.io" };
    const exec = () => connected.open("POST", `${NAMESPACE}/pods/web/exec?command=cat&stdin=1&stdout=1`, headers);
    const [one, other] = await Promise.all([exec(), exec()]);
    assert.equal(connected.node.streams(), 2);
    one.upgraded?.destroy();
    await eventually(() => connected.node.streams() === 1);
    const closed = once(other.upgraded as Duplex, "close");
    connected.node.cut();
    await closed;
  });
});
