import assert from "node:assert/strict";
import { once } from "node:events";
import { after, before, describe, it } from "node:test";
import { WebSocket } from "ws";
import { eventually } from "../../test/support/time.ts";
import type { ApiRequest } from "../api/call.ts";
import type { EncodedReply } from "../encoding/reply/encoded-reply.ts";
import { type Listener, listen } from "./listener.ts";
import { serveUpgrades } from "./websocket.ts";

const frame = (text: string): Buffer => {
  const out = Buffer.alloc(4 + text.length, text);
  out.writeUInt32BE(text.length);
  out.write(text, 4);
  return out;
};

let lastSignal: AbortSignal | undefined;
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
    const onUpgrade = serveUpgrades(answer, reportError);
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

  it("send one text message for each line and close at the end", async () => {
    assert.deepEqual(await collect("/lines"), {
      messages: [
        ['{"a":1}\n', false],
        ['{"b":2}\n', false],
        ['{"c":3}\n', false],
      ],
      code: 1000,
    });
  });

  it("send one binary message for each message, without its length", async () => {
    assert.deepEqual(await collect("/messages"), {
      messages: [
        ["one", true],
        ["two", true],
        ["three", true],
      ],
      code: 1000,
    });
  });

  it("take one protocol, never the one that carries a token, and no more", async () => {
    const webSocket = open("/quiet", ["base64url.bearer.authorization.k8s.io.dG9rZW4", "foo"]);
    await once(webSocket, "message");
    assert.equal(webSocket.protocol, "foo");
    webSocket.close();
    assert.equal(await refused(open("/quiet", ["foo", "bar"])), "400 ");
  });

  it("are refused as the real server refuses them", async () => {
    const path = `ws://127.0.0.1:${listener.port}/quiet`;
    assert.equal(await refused(new WebSocket(path)), "403 ");
    assert.equal(await refused(new WebSocket(path, { origin: "null" })), "403 ");
    const old = new WebSocket(path, { origin: "http://here", protocolVersion: 8 });
    assert.equal(await refused(old), "400 missing or bad WebSocket Version");
  });

  it("are an ordinary reply where there is no watch", async () => {
    assert.equal(await refused(open("/other")), "403 no watch");
  });

  it("end the request when the client leaves, answer pings and ignore what is said", async () => {
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

  it("do not read ahead of a client that does not read", async () => {
    const webSocket = open("/endless");
    await once(webSocket, "message");
    webSocket.pause();
    // Meanwhile others are served; the connection itself holds some MB.
    for (let others = 0; others < 50; others++) assert.equal((await collect("/lines")).code, 1000);
    assert.ok(produced < 500, `${produced} chunks of 50 KB for a client that reads none`);
    webSocket.resume();
    await eventually(() => produced > 1000);
    webSocket.terminate();
  });
});
