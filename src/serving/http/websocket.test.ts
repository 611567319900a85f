import assert from "node:assert/strict";
import { once } from "node:events";
import net from "node:net";
import type { Duplex } from "node:stream";
import { after, before, describe, it } from "node:test";
import { WebSocket } from "ws";
import { eventually } from "../../../test/support/time.ts";
import type { ApiRequest } from "../../base/api/call.ts";
import type { EncodedReply } from "../../data/encoding/reply/encoded-reply.ts";
import { type Listener, listen } from "./listener.ts";
import { serveUpgrades } from "./websocket.ts";

const frame = (text: string): Buffer => {
  const out = Buffer.alloc(4 + text.length, text);
  out.writeUInt32BE(text.length);
  out.write(text, 4);
  return out;
};

let lastSignal: AbortSignal | undefined;
let lastSocket: Duplex | undefined;
let produced = 0;

async function* chunks(list: readonly (string | Buffer)[]): AsyncGenerator<Uint8Array> {
  for (const chunk of list) yield Buffer.from(chunk);
}

async function* endless(signal: AbortSignal): AsyncGenerator<Uint8Array> {
  for (produced = 0; !signal.aborted; produced++) yield Buffer.from(`${"x".repeat(50_000)}\n`);
}

async function* quiet(signal: AbortSignal): AsyncGenerator<Uint8Array> {
  yield Buffer.from("first\n");
  if (!signal.aborted) await once(signal, "abort");
}

const BODIES: Readonly<Record<string, (request: ApiRequest) => AsyncIterable<Uint8Array>>> = {
  "/lines": () => chunks(['{"a":1}\n{"b":2}\n', '{"c":3}\n']),
  "/messages": () => chunks([Buffer.concat([frame("one"), frame("two")]), frame("three")]),
  "/endless": ({ signal }) => endless(signal),
  "/quiet": ({ signal }) => quiet(signal),
};

async function answer(request: ApiRequest): Promise<EncodedReply> {
  lastSignal = request.signal;
  const body = BODIES[request.path]?.(request);
  if (body === undefined) return { status: 403, headers: { "content-type": "text/plain" }, body: "no watch" };
  const type = request.path === "/messages" ? "application/x;stream=watch" : "application/json";
  return { status: 200, headers: { "content-type": type }, body, isLongRunning: true };
}

describe("watches over WebSockets", () => {
  let listener: Listener;
  const errors: unknown[] = [];

  before(async () => {
    const reportError = (error: unknown) => errors.push(error);
    const serve = serveUpgrades(answer, reportError);
    const onUpgrade: typeof serve = (exchange, socket, head) => {
      lastSocket = socket;
      serve(exchange, socket, head);
    };
    listener = await listen(answer, { host: "127.0.0.1", port: 0, onUpgrade, reportError });
  });

  after(async () => {
    await listener.close(100);
    assert.deepEqual(errors, []);
  });

  const open = (path: string, protocols: string[] = [], headers: Record<string, string> = {}): WebSocket =>
    new WebSocket(`ws://127.0.0.1:${listener.port}${path}`, protocols, { origin: "http://here", headers });

  const collect = async (path: string): Promise<{ messages: [string, boolean][]; code: number }> => {
    const webSocket = open(path);
    const messages: [string, boolean][] = [];
    webSocket.on("message", (data, isBinary) => messages.push([String(data), isBinary]));
    const [code] = await once(webSocket, "close");
    return { messages, code };
  };

  const refused = async (webSocket: WebSocket): Promise<string> => {
    webSocket.on("error", () => {});
    const [, response] = await once(webSocket, "unexpected-response");
    return `${response.statusCode} ${Buffer.concat(await response.toArray())}`;
  };

  it("sends one text message per line and closes at the end", async () => {
    assert.deepEqual(await collect("/lines"), {
      messages: [
        ['{"a":1}\n', false],
        ['{"b":2}\n', false],
        ['{"c":3}\n', false],
      ],
      code: 1000,
    });
  });

  it("sends one binary message per event, without its length prefix", async () => {
    assert.deepEqual(await collect("/messages"), {
      messages: [
        ["one", true],
        ["two", true],
        ["three", true],
      ],
      code: 1000,
    });
  });

  it("accepts exactly one protocol besides the one that carries a token", async () => {
    const webSocket = open("/quiet", ["base64url.bearer.authorization.k8s.io.dG9rZW4", "foo"]);
    await once(webSocket, "message");
    assert.equal(webSocket.protocol, "foo");
    webSocket.close();
    assert.equal(await refused(open("/quiet", ["foo", "bar"])), "400 ");
  });

  it("rejects invalid handshakes like kube-apiserver", async () => {
    const path = `ws://127.0.0.1:${listener.port}/quiet`;
    assert.equal(await refused(new WebSocket(path)), "403 ");
    assert.equal(await refused(new WebSocket(path, { origin: "null" })), "403 ");
    const old = new WebSocket(path, { origin: "http://here", protocolVersion: 8 });
    assert.equal(await refused(old), "400 missing or bad WebSocket Version");
  });

  it("sends an ordinary reply if the request is not a watch", async () => {
    assert.equal(await refused(open("/other")), "403 no watch");
  });

  it("ends the request when the client disconnects, answers pings and ignores messages", async () => {
    const webSocket = open("/quiet");
    await once(webSocket, "message");
    webSocket.send("hello");
    webSocket.ping("there");
    assert.equal(String((await once(webSocket, "pong"))[0]), "there");
    assert.equal(lastSignal?.aborted, false);
    webSocket.terminate();
    const signal = lastSignal;
    await eventually(() => signal?.aborted);
  });

  it("applies backpressure to a client that does not read", async () => {
    const webSocket = open("/endless");
    await once(webSocket, "message");
    webSocket.pause();
    // Other requests are served meanwhile; the connection itself buffers some MB.
    for (let others = 0; others < 50; others++) assert.equal((await collect("/lines")).code, 1000);
    assert.ok(produced < 500, `${produced} chunks of 50 KB for a client that reads none`);
    webSocket.resume();
    await eventually(() => produced > 1000);
    webSocket.terminate();
  });

  it("disconnects a client that sends pings and reads no pongs, and buffers few pongs for it", async () => {
    const socket = net.connect(listener.port, "127.0.0.1").pause();
    const handshake = ["Host: x", "Origin: http://x", "Connection: Upgrade", "Upgrade: websocket"];
    const key = ["Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==", "Sec-WebSocket-Version: 13"];
    socket.write(`GET /quiet HTTP/1.1\r\n${[...handshake, ...key].join("\r\n")}\r\n\r\n`);
    const ping = Buffer.concat([Buffer.from([0x89, 0x80 | 125, 0, 0, 0, 0]), Buffer.alloc(125)]);
    const pings = Buffer.concat(Array.from({ length: 1000 }, () => ping));
    socket.on("error", () => {});
    let isOver = false;
    let sent = 0;
    let unread = 0;
    for (; !isOver && sent < 300e6; sent += pings.length) {
      isOver = await new Promise((resolve) => socket.write(pings, (error) => resolve(Boolean(error))));
      unread = Math.max(unread, lastSocket?.writableLength ?? 0);
    }
    socket.destroy();
    assert.ok(isOver, `${sent} bytes of pings were taken`);
    assert.ok(unread > 0 && unread < 64 * 1024, `${unread} bytes of pongs were kept`);
  });

  it("answers every ping of a client that reads", async () => {
    const webSocket = open("/quiet");
    await once(webSocket, "message");
    let last = "";
    webSocket.on("pong", (data) => {
      last = String(data);
    });
    for (let count = 1; count <= 30_000; count++) webSocket.ping(String(count));
    await eventually(() => last === "30000");
    webSocket.terminate();
  });
});
