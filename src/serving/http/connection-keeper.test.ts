import assert from "node:assert/strict";
import { once } from "node:events";
import net from "node:net";
import { after, before, describe, it } from "node:test";
import tls from "node:tls";
import { eventually } from "../../../test/support/time.ts";
import { secure, seen, start } from "./listener.suite.ts";
import type { Listener } from "./listener.ts";

const limits = { idleMs: 300, headersMs: 200, stalledMs: 300 };
/** A connection that is open for so long is not closed at all. */
const LATEST_MS = 300_000;

const frame = (type: number, flags: number, stream: number, payload: Uint8Array = Buffer.alloc(0)): Buffer => {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head.writeUInt8(type, 3);
  head.writeUInt8(flags, 4);
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
};
const literal = (text: string): Buffer => Buffer.concat([Buffer.from([text.length]), Buffer.from(text)]);
const fields = (path: string): Buffer =>
  Buffer.concat(
    [":method", "GET", ":path", path, ":scheme", "https", ":authority", "x"].map((text, index) =>
      index % 2 === 0 ? Buffer.concat([Buffer.from([0]), literal(text)]) : literal(text),
    ),
  );
const PREFACE = Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
const SETTINGS = frame(4, 0, 0);
const NO_WINDOW = frame(4, 0, 0, Buffer.from([0, 4, 0, 0, 0, 0]));
const END_STREAM = 1;
const END_HEADERS = 4;
const endless = (query: string) => `GET /endless?${query} HTTP/1.1\r\nHost: x\r\n\r\n`;
const GET = "GET /bytes HTTP/1.1\r\nHost: x\r\n\r\n";

interface Client {
  readonly over: "plain" | "http/1.1" | "h2";
  readonly first?: string | Uint8Array;
  /** Sent periodically. */
  readonly again?: string | Uint8Array;
  /** Reads nothing before the listener has given up the request to `/endless` with this query. */
  readonly deafTo?: string;
}

const clients: Readonly<Record<string, Client>> = {
  "plain, nothing sent": { over: "plain" },
  "plain, half a header": { over: "plain", first: "GET / HTTP/1.1\r\nHost: x\r\nX: " },
  "plain, a header byte by byte": { over: "plain", first: "GET / HTTP/1.1\r\nHost: x\r\nX: ", again: "a" },
  "plain, idle": { over: "plain", first: GET },
  "plain, line feeds between requests": { over: "plain", first: GET, again: "\r\n" },
  "plain, line feeds before any request": { over: "plain", again: "\r\n" },
  "plain, a response not read": { over: "plain", first: endless("plain="), deafTo: "plain=" },
  "TLS, nothing sent": { over: "http/1.1" },
  "TLS, a header byte by byte": { over: "http/1.1", first: "GET / HTTP/1.1\r\nHost: x\r\nX: ", again: "a" },
  "TLS, idle": { over: "http/1.1", first: GET },
  "TLS, line feeds between requests": { over: "http/1.1", first: GET, again: "\r\n" },
  "TLS, a response not read": { over: "http/1.1", first: endless("tls="), deafTo: "tls=" },
  "HTTP/2, no preface": { over: "h2" },
  "HTTP/2, half a preface": { over: "h2", first: PREFACE.subarray(0, 10) },
  "HTTP/2, idle": { over: "h2", first: Buffer.concat([PREFACE, SETTINGS]) },
  "HTTP/2, pings": {
    over: "h2",
    first: Buffer.concat([PREFACE, SETTINGS]),
    again: frame(6, 0, 0, Buffer.alloc(8)),
  },
  "HTTP/2, HEADERS without END_HEADERS": {
    over: "h2",
    first: Buffer.concat([PREFACE, SETTINGS, frame(1, END_STREAM, 1, fields("/bytes"))]),
  },
  "HTTP/2, CONTINUATION without end": {
    over: "h2",
    first: Buffer.concat([PREFACE, SETTINGS, frame(1, END_STREAM, 1, fields("/bytes"))]),
    again: frame(9, 0, 1, Buffer.concat([Buffer.from([0]), literal("x"), literal("y")])),
  },
  "HTTP/2, a window of zero": {
    over: "h2",
    first: Buffer.concat([PREFACE, NO_WINDOW, frame(1, END_STREAM | END_HEADERS, 1, fields("/bytes"))]),
  },
  "HTTP/2, a window of zero and pings": {
    over: "h2",
    first: Buffer.concat([PREFACE, NO_WINDOW, frame(1, END_STREAM | END_HEADERS, 1, fields("/bytes"))]),
    again: frame(6, 0, 0, Buffer.alloc(8)),
  },
};

describe("closes connections without progress", { concurrency: 30 }, () => {
  let plain: Listener;
  let safe: Listener;
  before(async () => {
    [plain, safe] = await Promise.all([start({ limits }), start({ limits, tls: secure })]);
  });
  after(() => Promise.all([plain.close(0), safe.close(0)]));

  const connect = (over: Client["over"]): net.Socket =>
    over === "plain"
      ? net.connect(plain.port, "127.0.0.1")
      : tls.connect({ port: safe.port, host: "127.0.0.1", rejectUnauthorized: false, ALPNProtocols: [over] });

  for (const [name, { over, first, again, deafTo }] of Object.entries(clients)) {
    it(name, async () => {
      const socket = connect(over);
      socket.on("error", () => {});
      await once(socket, over === "plain" ? "connect" : "secureConnect");
      if (first !== undefined) socket.write(first);
      const timer = setInterval(() => socket.writable && again !== undefined && socket.write(again), 40);
      // A client that does not read does not notice the end, either.
      if (deafTo !== undefined) await eventually(() => seen.endless.get(deafTo)?.aborted, { withinMs: LATEST_MS });
      socket.resume();
      let isLate = false;
      const late = setTimeout(() => {
        isLate = true;
        socket.destroy();
      }, LATEST_MS);
      await new Promise((resolve) => socket.once("close", resolve));
      clearInterval(timer);
      clearTimeout(late);
      assert.ok(!isLate, `open after ${LATEST_MS} ms`);
    });
  }

  it("keeps a quiet watch and a slow client connected", async () => {
    const socket = connect("plain");
    socket.write("GET /watch HTTP/1.1\r\nHost: x\r\n\r\n");
    let isOpen = true;
    socket.resume().on("close", () => {
      isOpen = false;
    });
    const slow = connect("plain");
    slow.write("GET /endless HTTP/1.1\r\nHost: x\r\n\r\n");
    let got = 0;
    const ended = Date.now() + 1500;
    for await (const chunk of slow) {
      got += chunk.length;
      await new Promise((resolve) => setTimeout(resolve, 5));
      if (Date.now() > ended) break;
    }
    assert.ok(got > 0 && isOpen);
    socket.destroy();
  });
});
