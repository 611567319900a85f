import assert from "node:assert/strict";
import { once } from "node:events";
import { after, before, suite, test } from "node:test";
import { connect } from "node:tls";
import { CostServer } from "../cost/server.ts";
import { assertBelow } from "../support/machine-speed.ts";
import { tokens } from "../support/oracle.ts";
import { END_HEADERS, END_STREAM, field, fields, frame, RawHttp2 } from "./raw-http2.ts";

const MOST_MS = 100;
const COUNT = 20_000;
const WHOLE = END_HEADERS | END_STREAM;
const CONFIG_MAPS = "/api/v1/namespaces/default/configmaps";

const own = field("authorization", `Bearer ${tokens.admin}`);
const list = fields("GET", "/api/v1/configmaps", own);
const livez = fields("GET", "/livez", own);
const create = fields("POST", CONFIG_MAPS, own, field("content-type", "application/json"));
const CANCEL = Buffer.from([0, 0, 0, 8]);
const NOTHING = Buffer.alloc(4);
const MOST = Buffer.from([0x7f, 0xff, 0xff, 0xff]);
/** The stream of the nth request. */
const id = (index: number): number => 2 * index + 1;

/** One request, then frames of its stream. */
const following = (first: Buffer, flags: number, then: (index: number) => Buffer) => (index: number) =>
  index === 0 ? frame("headers", flags, 1, first) : then(index);
/** Requests, each followed by a frame of its stream. */
const withFrame =
  (flags: number, head: Buffer, ...[type, ...rest]: Parameters<typeof frame>) =>
  (index: number) =>
    Buffer.concat([frame("headers", flags, id(index), head), frame(type, rest[0], id(index), rest[2])]);

/** An entry of HPACK's dynamic table with 4 kB, and fields that are 12,000 references to it. */
const LONG_ENTRY = Buffer.concat([Buffer.from([0x40, 1, 0x61, 0x7f, 0xa1, 0x1e]), Buffer.alloc(4000, "v")]);
const REFERENCES = Buffer.alloc(12_000, 0xbe);
/** Sets the size of HPACK's dynamic table to 4096, then to 0. */
const TABLE_SIZES = Buffer.from([0x3f, 0xe1, 0x1f, 0x20]);
const LONG_SETTINGS = Buffer.concat(Array.from({ length: 1000 }, () => Buffer.from([0, 4, 0, 0, 0xff, 0xff])));

interface Flood {
  readonly make: (index: number) => Buffer;
  /** The server may keep the connection. */
  readonly mayGoOn?: true;
  /** Default: `COUNT`. */
  readonly count?: number;
}

const FLOODS: Readonly<Record<string, Flood>> = {
  "lists that are reset at once (CVE-2023-44487)": { make: withFrame(WHOLE, list, "reset", 0, 0, CANCEL) },
  "GETs that are reset at once": { make: withFrame(WHOLE, livez, "reset", 0, 0, CANCEL) },
  "anonymous requests that are reset at once": {
    make: withFrame(WHOLE, fields("GET", "/api/v1/secrets"), "reset", 0, 0, CANCEL),
  },
  "windows that grow by 0, so that the server resets (CVE-2025-8671)": {
    make: withFrame(END_HEADERS, list, "windowUpdate", 0, 0, NOTHING),
  },
  "windows that grow too much": { make: withFrame(END_HEADERS, list, "windowUpdate", 0, 0, MOST) },
  "data after the end of requests": { make: withFrame(WHOLE, list, "data", END_STREAM, 0, Buffer.from("x")) },
  "more streams than allowed": { make: (index) => frame("headers", WHOLE, id(index), livez) },
  "CONTINUATION without end (CVE-2024-27983)": {
    make: following(list, END_STREAM, () => frame("continuation", 0, 1, field("x-a", "y".repeat(100)))),
  },
  "empty CONTINUATION": { make: following(list, END_STREAM, () => frame("continuation", 0, 1)) },
  SETTINGS: { make: () => frame("settings", 0, 0) },
  "SETTINGS with 1,000 entries": { make: () => frame("settings", 0, 0, LONG_SETTINGS) },
  PING: { make: () => frame("ping", 0, 0, Buffer.alloc(8)) },
  PRIORITY: { make: (index) => frame("priority", 0, id(index % 1000), Buffer.from([0, 0, 0, 0, 1])), mayGoOn: true },
  WINDOW_UPDATE: { make: () => frame("windowUpdate", 0, 0, Buffer.from([0, 0, 0, 1])), mayGoOn: true },
  RST_STREAM: { make: (index) => frame("reset", 0, id(index), CANCEL) },
  "empty DATA": { make: following(create, END_HEADERS, () => frame("data", 0, 1)) },
  "headers that repeat 4 kB 12,000 times": {
    make: following(Buffer.concat([list, LONG_ENTRY]), WHOLE, (index) =>
      frame("headers", WHOLE, id(index), Buffer.concat([list, REFERENCES])),
    ),
    count: 400,
    mayGoOn: true,
  },
  "changes of the table size": {
    make: (index) => frame("headers", WHOLE, id(index), Buffer.concat([TABLE_SIZES, fields("GET", "/livez")])),
    mayGoOn: true,
  },
};

suite("floods on one connection do not hold up the event loop:", { timeout: 900_000 }, () => {
  let server: CostServer;

  before(async () => {
    server = await CostServer.start(300_000);
  });
  after(() => server?.stop());

  for (const [name, { make, mayGoOn, count = COUNT }] of Object.entries(FLOODS)) {
    test(name, async (t) => {
      const connection = await RawHttp2.open(server.binnacle.base);
      t.after(() => connection.close());
      const heldMs = await server.heldDuring(() => connection.flood(count, make));
      t.diagnostic(`${Math.round(heldMs)} ms, ${connection.isOpen ? "open" : "closed"}`);
      assertBelow(heldMs, MOST_MS, name);
      assert.ok(mayGoOn || !connection.isOpen, "the connection is still open");
    });
  }

  test("500 requests of HTTP/1.1 in one packet", async (t) => {
    const { hostname, port } = new URL(server.binnacle.base);
    const socket = connect({ host: hostname, port: Number(port), rejectUnauthorized: false });
    t.after(() => socket.destroy());
    await once(socket, "secureConnect");
    const one = (path: string, more = "") =>
      `GET ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${tokens.admin}\r\n${more}\r\n`;
    const last = one("/version", "Connection: close\r\n");
    let text = "";
    socket.on("data", (chunk: Buffer) => {
      text += chunk.toString("latin1");
    });
    const heldMs = await server.heldDuring(async () => {
      socket.write(one(CONFIG_MAPS).repeat(500) + last);
      await once(socket, "close");
    });
    t.diagnostic(`${Math.round(heldMs)} ms`);
    assert.equal(text.split("HTTP/1.1 200 OK").length - 1, 501);
    assertBelow(heldMs, MOST_MS, "pipelined requests");
  });
});
