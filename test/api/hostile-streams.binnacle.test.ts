import assert from "node:assert/strict";
import { once } from "node:events";
import { type ClientHttp2Session, type ClientHttp2Stream, connect, constants } from "node:http2";
import { request } from "node:https";
import { after, before, describe, test } from "node:test";
import { connect as connectTls } from "node:tls";
import WebSocket from "ws";
import { type RunningBinnacle, startBinnacle } from "../support/binnacle.ts";
import { clientFor } from "../support/client.ts";
import { tokens } from "../support/oracle.ts";

const authorization = `Bearer ${tokens.admin}`;
const CONFIG_MAPS = "/api/v1/namespaces/default/configmaps";
const STREAMS = 1000;

/** What goes on for long, or comes in great numbers over one connection. */
describe("hostile streams", () => {
  let server: RunningBinnacle;

  before(async () => {
    server = await startBinnacle();
  });
  after(() => server?.kill());

  /** Others are served. */
  async function assertServes(): Promise<void> {
    const { status } = await clientFor(server.base, tokens.admin).call("GET", "/readyz");
    assert.equal(status, 200);
  }

  function openSession(): ClientHttp2Session {
    const session = connect(server.base, { rejectUnauthorized: false });
    session.on("error", () => undefined);
    return session;
  }

  const get = (session: ClientHttp2Session, path: string, more: Record<string, string> = {}): ClientHttp2Stream =>
    session.request({ ":path": path, authorization, ...more }).on("error", () => undefined);

  test("rejects an endless body at 3 MB", async () => {
    const headers = { authorization, "content-type": "application/json" };
    const outgoing = request(`${server.base}${CONFIG_MAPS}`, { method: "POST", headers, rejectUnauthorized: false });
    outgoing.on("error", () => undefined);
    let sent = 0;
    const piece = Buffer.alloc(64 * 1024, "[");
    const feed = () => {
      do sent += piece.length;
      while (!outgoing.destroyed && outgoing.write(piece));
    };
    outgoing.on("drain", feed);
    feed();
    const [response] = await once(outgoing, "response");
    assert.equal(response.statusCode, 413);
    outgoing.destroy();
    assert.ok(sent < 64 * 1024 * 1024, `${sent} bytes were taken`);
    await assertServes();
  });

  test("a client that keeps sending before it reads gets the rejection", async () => {
    const { hostname, port } = new URL(server.base);
    const socket = connectTls({ host: hostname, port: Number(port), rejectUnauthorized: false });
    const closed = once(socket, "close").catch(() => undefined);
    let got = "";
    socket.on("error", (error) => {
      got += error;
    });
    await once(socket, "secureConnect");
    const head = [`POST ${CONFIG_MAPS} HTTP/1.1`, "Host: x", `Authorization: ${authorization}`];
    socket.write(`${head.join("\r\n")}\r\nContent-Type: application/json\r\nContent-Length: 99999999\r\n\r\n`);
    // Few pieces: the server reads on for a moment only.
    for (let piece = 0; piece < 20; piece++) {
      await new Promise((resolve) => socket.write("x".repeat(1000), resolve));
    }
    socket.on("data", (chunk) => {
      got += chunk;
    });
    await closed;
    assert.match(got, /^HTTP\/1.1 413/);
    await assertServes();
  });

  test("limits one connection to a thousand concurrent streams", async () => {
    const session = openSession();
    const [settings] = await once(session, "remoteSettings");
    assert.equal(settings.maxConcurrentStreams, STREAMS);
    const watches = Array.from({ length: STREAMS }, () => get(session, `${CONFIG_MAPS}?watch=1`));
    await Promise.all(watches.map((watch) => once(watch, "response")));
    await assertServes();
    session.destroy();
    await assertServes();
  });

  test("serves others while streams are opened and reset at once", async () => {
    const session = openSession();
    await once(session, "connect");
    let opened = 0;
    for (; opened < 10_000 && !session.destroyed && !session.closed; opened++) {
      get(session, CONFIG_MAPS).close(constants.NGHTTP2_CANCEL);
      if (opened % 500 === 0) await assertServes();
    }
    session.destroy();
    await assertServes();
  });

  test("headers beyond 64 KB end the stream or the connection, not the server", async () => {
    const session = openSession();
    const stream = get(session, CONFIG_MAPS, { "x-long": "x".repeat(70_000) });
    let code = 0;
    stream.on("response", (headers) => {
      code = Number(headers[":status"]);
    });
    await new Promise((resolve) => stream.once("close", resolve));
    assert.notEqual(code, 200);
    session.destroy();
    await assertServes();
  });

  test("serves others during endless pings", async () => {
    const session = openSession();
    await once(session, "connect");
    for (let count = 0; count < 5_000 && !session.destroyed; count++) session.ping(() => undefined);
    await assertServes();
    session.destroy();
  });

  test("a message of 1 MB ends a watch over a WebSocket", async () => {
    const url = `${server.base.replace("https", "wss")}${CONFIG_MAPS}?watch=1`;
    const socket = new WebSocket(url, {
      origin: server.base,
      rejectUnauthorized: false,
      headers: { authorization },
    });
    socket.on("error", () => undefined);
    await once(socket, "open");
    socket.send("x".repeat(1024 * 1024));
    const [code] = await once(socket, "close");
    assert.ok(code === 1009 || code === 1006, `${code}`);
    await assertServes();
  });
});
