import assert from "node:assert/strict";
import { once } from "node:events";
import https from "node:https";
import type { Duplex, Readable } from "node:stream";
import { after, before, describe, it } from "node:test";
import { WebSocket } from "ws";
import { eventually } from "../../../test/support/time.ts";
import { connectHttp2, testCa } from "../http/listener.suite.ts";
import { CHUNK_BYTES, DEADLINE_MS, type StreamServer, startStreams, TOKEN } from "./streams.suite.ts";

const AUTHORIZATION = { authorization: `Bearer ${TOKEN}` };

/** A response that is read as it arrives, while `upload` is sent. */
interface Open {
  readonly status: number;
  readonly body: Readable;
  /** Closes the request abruptly. */
  leave(): void;
}

type OpenStream = (server: StreamServer, path: string, upload?: AsyncIterable<Buffer>) => Promise<Open>;

const openHttp1: OpenStream = async ({ listener }, path, upload) => {
  const request = https.request({
    port: listener.port,
    path,
    method: upload ? "POST" : "GET",
    headers: AUTHORIZATION,
    ca: testCa.certificate,
    agent: false,
  });
  request.on("error", () => {});
  send(request, upload);
  const [response] = await once(request, "response");
  response.on("error", () => {});
  return { status: response.statusCode, body: response, leave: () => request.destroy() };
};

const openHttp2: OpenStream = async ({ listener }, path, upload) => {
  const session = connectHttp2(listener.port);
  const stream = session.request(
    { ":path": path, ":method": upload ? "POST" : "GET", ...AUTHORIZATION },
    { endStream: !upload },
  );
  stream.on("error", () => {});
  stream.on("close", () => session.close());
  if (upload) send(stream, upload);
  const [headers] = await once(stream, "response");
  return { status: headers[":status"], body: stream, leave: () => stream.close(8) };
};

function send(target: NodeJS.WritableStream, upload?: AsyncIterable<Buffer>): void {
  if (!upload) {
    target.end();
    return;
  }
  (async () => {
    for await (const chunk of upload) if (!target.write(chunk)) await once(target, "drain");
    target.end();
  })().catch(() => {});
}

/** Serves 50 other requests, to give an unthrottled stream time to go on. */
async function serveOthers(server: StreamServer): Promise<void> {
  for (let others = 0; others < 50; others++) {
    const { body } = await openHttp1(server, "/first");
    assert.equal(Buffer.concat(await body.toArray()).toString(), "nothing");
  }
}

for (const [name, open] of [
  ["HTTP/1.1", openHttp1],
  ["HTTP/2", openHttp2],
] as const) {
  describe(`streams over ${name}`, () => {
    let server: StreamServer;
    before(async () => {
      server = await startStreams();
    });
    after(() => server.listener.close(0));

    it("delivers chunks as they are produced and finishes after the last byte", async () => {
      const { status, body } = await open(server, "/log");
      assert.equal(status, 200);
      const [first] = await once(body, "data");
      assert.equal(String(first), "one\n");
      let isOver = false;
      const outcome = server.outcome("/log").then((value) => {
        isOver = true;
        return value;
      });
      await serveOthers(server);
      assert.equal(isOver, false);
      server.goOn();
      const [second] = await once(body, "data");
      assert.equal(String(second), "two\n");
      assert.deepEqual(await outcome, { code: 200, bytes: 8 });
    });

    it("applies backpressure and ends when the client disconnects", async () => {
      server.produced = 0;
      const ended = server.ended;
      const { body, leave } = await open(server, "/endless");
      body.pause();
      await serveOthers(server);
      const held = server.produced;
      assert.ok(held * CHUNK_BYTES < 16 * 1024 * 1024, `${held} chunks were made for a client that does not read`);
      body.resume();
      await eventually(() => server.produced > held + 100);
      leave();
      const { code, bytes, error } = await server.outcome("/endless");
      assert.equal(code, 200);
      assert.ok(bytes > held * CHUNK_BYTES && error instanceof Error);
      assert.equal(server.calls.get("/endless")?.signal.aborted, true);
      await eventually(() => server.ended === ended + 1);
    });

    it("ends a waiting source when the client disconnects", async () => {
      const ended = server.ended;
      const { body, leave } = await open(server, "/quiet");
      await once(body, "data");
      leave();
      assert.equal((await server.outcome("/quiet")).bytes, 4);
      await eventually(() => server.ended === ended + 1);
      assert.deepEqual(server.errors, []);
    });

    it("breaks off and reports an error if the source throws", async () => {
      server.errors.length = 0;
      const { body } = await open(server, "/broken");
      await assert.rejects(body.toArray());
      const { error } = await server.outcome("/broken");
      assert.equal((error as Error).message, "expected by the test");
      assert.equal(server.errors.splice(0).length, 1);
    });

    it("reads the request body as it arrives and echoes it", async () => {
      const sent = Buffer.alloc(CHUNK_BYTES, 97);
      const { body } = await open(
        server,
        "/echo",
        (async function* () {
          yield Buffer.from("first");
          yield sent;
          yield sent;
        })(),
      );
      let [text, size] = ["", 0];
      for await (const chunk of body) {
        text ||= String(chunk);
        size += chunk.length;
      }
      assert.equal(text.slice(0, 5), "first");
      assert.equal(size, 5 + 2 * CHUNK_BYTES);
      assert.deepEqual(await server.outcome("/echo"), { code: 200, bytes: size });
    });

    it("responds before an upload has been read completely", async () => {
      let sent = 0;
      const upload = (async function* () {
        for (; sent < 100; sent++) yield Buffer.alloc(CHUNK_BYTES, 98);
      })();
      const { status, body } = await open(server, "/first", upload);
      assert.deepEqual([status, Buffer.concat(await body.toArray()).toString()], [200, "98"]);
    });

    it("aborts an upload that exceeds the limit", async () => {
      server.errors.length = 0;
      const upload = (async function* () {
        for (let i = 0; i < 4; i++) yield Buffer.alloc(CHUNK_BYTES, 99);
      })();
      const { body } = await open(server, `/echo?max=${CHUNK_BYTES}`, upload);
      body.on("error", () => {}).resume();
      const { error } = await server.outcome("/echo");
      assert.match((error as Error).message, /Request entity too large/);
      assert.equal(server.errors.splice(0).length, 1);
    });

    it("times out requests that do not stream and aborts their signal", async () => {
      const started = Date.now();
      const { status, body } = await open(server, "/slow");
      assert.equal(status, 504);
      assert.match(Buffer.concat(await body.toArray()).toString(), /request did not complete within/);
      assert.ok(Date.now() - started >= DEADLINE_MS - 5);
      const call = server.calls.get("/slow");
      assert.equal(call?.signal.aborted, true);
      assert.equal((await server.outcome("/slow")).code, 504);
    });

    it("rejects a request without Upgrade where one is required", async () => {
      const { status, body } = await open(server, "/exec");
      assert.equal(status, 400);
      assert.equal(JSON.parse(Buffer.concat(await body.toArray()).toString()).message, "Upgrade request required");
    });
  });
}

describe("upgraded connections", () => {
  let server: StreamServer;
  before(async () => {
    server = await startStreams();
  });
  after(async () => {
    await server.listener.close(0);
    assert.deepEqual(server.errors, []);
  });

  const open = (path: string, protocols: string[] = [], headers: Record<string, string> = AUTHORIZATION): WebSocket =>
    new WebSocket(`wss://127.0.0.1:${server.listener.port}${path}`, protocols, {
      ca: testCa.certificate,
      origin: "https://here",
      headers,
    });

  const refused = async (webSocket: WebSocket): Promise<[number, string]> => {
    webSocket.on("error", () => {});
    const [, response] = await once(webSocket, "unexpected-response");
    return [response.statusCode, Buffer.concat(await response.toArray()).toString()];
  };

  it("sends a stream over a WebSocket as one binary message per chunk", async () => {
    const webSocket = open("/log");
    const [first, isBinary] = await once(webSocket, "message");
    assert.deepEqual([String(first), isBinary], ["one\n", true]);
    server.goOn();
    const [second] = await once(webSocket, "message");
    assert.equal(String(second), "two\n");
    assert.equal((await once(webSocket, "close"))[0], 1000);
    assert.deepEqual(await server.outcome("/log"), { code: 101, bytes: 8 });
  });

  it("pauses the source of a WebSocket that does not read, and ends it on disconnect", async () => {
    server.produced = 0;
    const webSocket = open("/endless");
    await once(webSocket, "message");
    webSocket.pause();
    await serveOthers(server);
    const held = server.produced;
    assert.ok(held * CHUNK_BYTES < 16 * 1024 * 1024);
    webSocket.resume();
    await eventually(() => server.produced > held);
    webSocket.terminate();
    assert.ok((await server.outcome("/endless")).error instanceof Error);
    await eventually(() => server.ended > 0);
  });

  it("negotiates a WebSocket subprotocol of the handler", async () => {
    const webSocket = open("/exec", ["other", "v4.channel.k8s.io", "v5.channel.k8s.io"]);
    await once(webSocket, "open");
    assert.equal(webSocket.protocol, "v4.channel.k8s.io");
    const messages: Buffer[] = [];
    webSocket.on("message", (data: Buffer) => messages.push(data));
    webSocket.send("hello");
    const large = Buffer.alloc(500_000, 7);
    for (let i = 0; i < 5; i++) webSocket.send(large);
    webSocket.send("bye");
    assert.equal((await once(webSocket, "close"))[0], 1000);
    assert.equal(String(messages.shift()), "v4.channel.k8s.io: hello");
    assert.deepEqual(
      messages.map((data) => large.equals(data)),
      [true, true, true, true, true],
    );
    const { code, bytes, error } = await server.outcome("/exec");
    assert.deepEqual([code, bytes, error], [101, 24 + 2_500_000, undefined]);
  });

  it("reports a client that disconnects", async () => {
    const webSocket = open("/exec", ["v5.channel.k8s.io"]);
    await once(webSocket, "open");
    webSocket.terminate();
    const { code, error } = await server.outcome("/exec");
    assert.ok(code === 101 && error instanceof Error);
    assert.equal(server.calls.get("/exec")?.signal.aborted, true);
  });

  it("rejects a WebSocket by HTTP status before the upgrade", async () => {
    assert.equal((await refused(open("/exec", ["v4.channel.k8s.io"], {})))[0], 401);
    const [code, body] = await refused(open("/exec?deny", ["v4.channel.k8s.io"]));
    assert.equal(code, 403);
    assert.match(JSON.parse(body).message, /not today/);
    assert.deepEqual(await server.outcome("/exec"), { code: 403, bytes: body.length });
    assert.deepEqual(await refused(open("/exec", ["unknown"])), [403, ""]);
    assert.deepEqual(await refused(open("/exec")), [403, ""]);
  });

  const upgrade = (path: string): https.RequestOptions => ({
    port: server.listener.port,
    path,
    headers: { ...AUTHORIZATION, connection: "Upgrade", upgrade: "SPDY/3.1" },
    ca: testCa.certificate,
    agent: false,
  });

  it("becomes a raw connection after an HTTP/1.1 upgrade", async () => {
    const request = https.get(upgrade("/exec"));
    const [response, socket]: [{ statusCode: number; headers: Record<string, string> }, Duplex] = (await once(
      request,
      "upgrade",
    )) as never;
    assert.deepEqual([response.statusCode, response.headers.upgrade], [101, "SPDY/3.1"]);
    assert.ok(response.headers["audit-id"]);
    socket.write("hello");
    assert.equal(String((await once(socket, "data"))[0]), "hello");
    socket.write("bye");
    await once(socket, "end");
    socket.end();
    assert.deepEqual(await server.outcome("/exec"), { code: 101, bytes: 5 });
  });

  it("responds with plain HTTP if the upgrade is rejected", async () => {
    const request = https.get(upgrade("/exec?deny"));
    const [response] = await once(request, "response");
    assert.equal(response.statusCode, 403);
    assert.match(Buffer.concat(await response.toArray()).toString(), /not today/);
  });

  it("ends streams when the server shuts down", async () => {
    const other = await startStreams();
    const { body } = await openHttp1(other, "/quiet");
    await once(body, "data");
    const closed = other.listener.close(5000);
    await body.toArray();
    await closed;
    assert.deepEqual(await other.outcome("/quiet"), { code: 200, bytes: 4 });
  });
});
