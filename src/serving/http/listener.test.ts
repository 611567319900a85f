import assert from "node:assert/strict";
import { X509Certificate } from "node:crypto";
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { once } from "node:events";
import http from "node:http";
import http2 from "node:http2";
import https from "node:https";
import net from "node:net";
import { after, before, describe, it } from "node:test";
import tls from "node:tls";
import { eventually } from "../../../test/support/time.ts";
import type { Identity } from "../../base/pki/make-certificate.ts";
import {
  client,
  connectHttp2,
  type Fetch,
  fetchHttp1,
  fetchHttp2,
  LARGE_BYTES,
  LIMIT,
  secure,
  seen,
  slow,
  start,
  stranger,
  testCa,
} from "./listener.suite.ts";
import { type Listener, MAX_HEADER_BYTES } from "./listener.ts";

const PROTOCOLS: readonly (readonly [string, Fetch, boolean])[] = [
  ["HTTP/1.1", fetchHttp1(http), false],
  ["HTTP/1.1 over TLS", fetchHttp1(https), true],
  ["HTTP/2", fetchHttp2, true],
];

for (const [name, fetch, isSecure] of PROTOCOLS) {
  describe(`listener, ${name}`, () => {
    let listener: Listener;
    before(async () => {
      listener = await start(isSecure ? { tls: secure } : {});
    });
    after(() => listener.close(0));

    it("sets TCP_NODELAY, without which the end of a response waits up to 40 ms for a delayed ACK", async () => {
      const hasNoDelay: unknown[] = [];
      const look = (message: unknown) => {
        const { socket } = message as { socket: Record<symbol, unknown> };
        const note = Object.getOwnPropertySymbols(socket).find(({ description }) => description === "kSetNoDelay");
        hasNoDelay.push(note && socket[note]);
      };
      subscribe("net.server.socket", look);
      try {
        await fetch(listener.port, "/echo");
      } finally {
        unsubscribe("net.server.socket", look);
      }
      assert.deepEqual(hasNoDelay, [true]);
    });

    it("passes the request to the handler and writes its reply", async () => {
      const got = await fetch(listener.port, "/ec%68o?a=1%20x&b=;&c=%zz&d", {
        method: "POST",
        body: "hello",
        headers: { "impersonate-group": ["one, two", "three"] },
      });
      assert.equal(got.status, 201);
      assert.equal(got.headers["content-length"], String(got.body.length));
      assert.ok(got.headers.date);
      const { authority: seenAuthority, ...received } = JSON.parse(got.body);
      assert.match(seenAuthority, new RegExp(`:${listener.port}$`));
      assert.deepEqual(received, {
        method: "POST",
        path: "/echo",
        query: [
          ["a", "1 x"],
          ["d", ""],
        ],
        group: ["one, two", "three"],
        body: "hello",
        chain: [],
        remote: ["127.0.0.1", "number"],
      });
    });

    it("sends streams chunk by chunk", async () => {
      const got = await fetch(listener.port, "/stream");
      assert.equal(got.body, "tick\ntick\ntick\n");
      assert.equal(got.headers["content-length"], undefined);
    });

    it("answers HEAD without a body", async () => {
      const whole = await fetch(listener.port, "/bytes", { method: "HEAD" });
      assert.deepEqual([whole.status, whole.headers["content-length"], whole.body], [200, "10", ""]);
      const streamed = await fetch(listener.port, "/stream", { method: "HEAD" });
      assert.deepEqual([streamed.status, streamed.body], [200, ""]);
    });

    it("rejects invalid percent encoding", async () => {
      const got = await fetch(listener.port, "/a%zz");
      assert.deepEqual([got.status, got.body], [400, "400 Bad Request"]);
    });

    it("rejects bodies over the limit, with or without Content-Length", async () => {
      for (const size of [LIMIT + 1, 300_000]) {
        const body = Buffer.alloc(size, 120);
        for (const headers of [{ "content-length": String(size) }, undefined]) {
          const got = await fetch(listener.port, "/echo", { method: "POST", body, headers });
          assert.equal(got.status, 413);
          assert.match(got.body, /Request entity too large: limit is 1000/);
        }
      }
    });

    it("responds without reading the body", async () => {
      const got = await fetch(listener.port, "/ignore-body", { method: "POST", body: Buffer.alloc(500_000) });
      assert.deepEqual([got.status, got.body], [403, "ignored"]);
    });

    it("breaks the connection if a stream fails", async () => {
      seen.errors.length = 0;
      await assert.rejects(fetch(listener.port, "/broken"));
      assert.equal(seen.errors.length, 1);
    });

    it("treats __proto__ as an ordinary path", async () => {
      assert.equal((await fetch(listener.port, "/__proto__")).status, 404);
    });
  });
}

describe("listener, client certificates", () => {
  let listener: Listener;
  before(async () => {
    listener = await start({ tls: secure });
  });
  after(() => listener.close(0));

  for (const [name, fetch] of [
    ["HTTP/1.1", fetchHttp1(https)],
    ["HTTP/2", fetchHttp2],
  ] as const) {
    it(`passes client certificates of any CA to the handler, ${name}`, async () => {
      const chain = async (identity?: Identity): Promise<unknown> =>
        JSON.parse((await fetch(listener.port, "/echo", { identity })).body).chain;
      const expected = (identities: readonly Identity[]) =>
        identities
          .map(({ certificate }) => new X509Certificate(certificate))
          .map(({ subject, raw }) => ({ subject, bytes: raw.length }));
      assert.deepEqual(await chain(client), expected([client, testCa]));
      assert.deepEqual(await chain(stranger), expected([stranger]));
      assert.deepEqual(await chain(), []);
    });
  }
});

describe("listener, clients that disconnect", () => {
  let listener: Listener;
  before(async () => {
    listener = await start({ tls: secure });
  });
  after(() => listener.close(0));

  it("stops the stream of a disconnected HTTP/2 client and applies backpressure to a slow one", async () => {
    Object.assign(seen, { ended: 0, chunks: 0 });
    const session = connectHttp2(listener.port);
    const stream = session.request({ ":path": "/endless" });
    await once(stream, "response");
    // Other requests are served meanwhile; a stream without backpressure would produce a chunk in every turn.
    for (let others = 0; others < 20; others++) await fetchHttp2(listener.port, "/bytes");
    assert.ok(seen.chunks < 10, `${seen.chunks} chunks of 100 KB for a client that reads none`);
    stream.close(http2.constants.NGHTTP2_CANCEL);
    await eventually(() => seen.ended === 1 && seen.signal?.aborted === true);
    session.destroy();
  });

  it("stops the stream of a disconnected HTTP/1.1 client", async () => {
    seen.ended = 0;
    const request = https.get({ port: listener.port, path: "/endless", ca: testCa.certificate, agent: false });
    await once(request, "response");
    request.on("error", () => {});
    request.destroy();
    await eventually(() => seen.ended === 1 && seen.signal?.aborted === true);
  });

  it("aborts the signal of a handler that is still working", async () => {
    const session = connectHttp2(listener.port);
    const stream = session.request({ ":path": "/slow" });
    stream.on("error", () => {});
    const answer = await eventually(() => slow.pop());
    session.destroy();
    await eventually(() => seen.signal?.aborted === true);
    answer();
  });
});

const raw = async (lines: string, socket: net.Socket): Promise<string> => {
  socket.write(lines);
  let got = "";
  socket.on("data", (chunk) => {
    got += chunk;
  });
  socket.on("error", () => {});
  socket.setTimeout(5000, () => socket.destroy());
  await new Promise((resolve) => socket.once("close", resolve));
  return got;
};

for (const isSecure of [false, true]) {
  describe(`listener, unusual requests, ${isSecure ? "with" : "without"} TLS`, () => {
    let listener: Listener;
    before(async () => {
      listener = await start({ tls: isSecure ? secure : undefined, onUpgrade: (_, socket) => socket.end("upgraded") });
    });
    after(() => listener.close(0));

    const open = (): net.Socket => {
      const { port } = listener;
      const ca = testCa.certificate;
      return isSecure ? tls.connect({ port, host: "localhost", ca }) : net.connect(port, "127.0.0.1");
    };
    const ask = (lines: string): Promise<string> => raw(lines, open());
    const refusal = (status: string, text: string): string =>
      `HTTP/1.1 ${status}\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n${text}`;

    it("rejects unparsable requests with Go's texts", async () => {
      assert.equal(await ask("hello\r\n\r\n"), refusal("400 Bad Request", "400 Bad Request"));
      const tooLarge = "431 Request Header Fields Too Large";
      const big = `GET /bytes HTTP/1.1\r\nHost: x\r\nX-Big: ${"x".repeat(MAX_HEADER_BYTES)}\r\n\r\n`;
      assert.equal(await ask(big), refusal(tooLarge, tooLarge));
      const gzip = "POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip\r\n\r\n";
      assert.match(await ask(gzip), /^HTTP\/1.1 501 Not Implemented\r\n[\s\S]*\r\n\r\nUnsupported transfer encoding$/);
      const fits = `GET /bytes HTTP/1.1\r\nHost: x\r\nConnection: close\r\nX-Big: ${"x".repeat(MAX_HEADER_BYTES - 1000)}\r\n\r\n`;
      assert.match(await ask(fits), /^HTTP\/1.1 200/);
    });

    it("queues requests while a large response is being written", async () => {
      const socket = open();
      const answered = raw("GET /large HTTP/1.1\r\nHost: a\r\n\r\n", socket);
      await once(socket, "data");
      socket.pause();
      const body = "b".repeat(200_000);
      const before = seen.begun;
      socket.write(`POST /read HTTP/1.1\r\nHost: a\r\nContent-Length: ${body.length}\r\n\r\n${body}`);
      await eventually(() => seen.begun > before);
      socket.resume();
      socket.write("GET /bytes HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
      const got = await answered;
      const statuses = [...got.matchAll(/HTTP\/1.1 (\d+)/g)].map(([, status]) => status);
      assert.deepEqual(statuses, ["200", "200", "200"]);
      assert.match(got, /xxx[^x]*\r\n\r\n200000HTTP[^x]*\r\n\r\n0123456789$/);
      assert.ok(got.length > LARGE_BYTES);
    });

    it("rejects two Host headers and other transfer encodings, which could hide a second request", async () => {
      const hosts = "GET /bytes HTTP/1.1\r\nHost: a\r\nHost: b\r\n";
      const bad = "400 Bad Request";
      assert.match(await ask(`${hosts}\r\n`), /^HTTP\/1.1 400 Bad Request\r\n[\s\S]*\r\n\r\n400 Bad Request$/);
      assert.equal(await ask(`${hosts}Connection: Upgrade\r\nUpgrade: websocket\r\n\r\n`), refusal(bad, bad));
      for (const encoding of ["gzip, chunked", "chunked, chunked", "chunked\r\nTransfer-Encoding: chunked"]) {
        const got = await ask(`POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: ${encoding}\r\n\r\n0\r\n\r\n`);
        assert.match(got, /^HTTP\/1.1 501 Not Implemented\r\n[\s\S]*\r\n\r\nUnsupported transfer encoding$/, encoding);
        assert.match(got, /^connection: close\r$/im);
      }
      const good = "POST /echo HTTP/1.1\r\nHost: a\r\nConnection: close\r\nTransfer-Encoding: Chunked\r\n\r\n0\r\n\r\n";
      assert.match(await ask(good), /^HTTP\/1.1 201/);
    });
  });
}

describe("listener, protocol edges", () => {
  let listener: Listener;
  before(async () => {
    listener = await start();
  });
  after(() => listener.close(0));

  const ask = (lines: string): Promise<string> => raw(lines, net.connect(listener.port, "127.0.0.1"));

  it("answers plain HTTP on the TLS port with an explanation", async () => {
    const safe = await start({ tls: secure });
    const askSafe = (lines: string): Promise<string> => raw(lines, net.connect(safe.port, "127.0.0.1"));
    const text = "HTTP/1.0 400 Bad Request\r\n\r\nClient sent an HTTP request to an HTTPS server.\n";
    assert.equal(await askSafe("GET /version HTTP/1.1\r\nHost: x\r\n\r\n"), text);
    assert.equal(await askSafe("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}"), text);
    assert.doesNotMatch(await askSafe("hello, this is nothing\r\n\r\n"), /HTTP/);
    await safe.close(0);
  });

  it("sends 100 Continue only if the body will be read", async () => {
    const head = "POST /echo HTTP/1.1\r\nHost: x\r\nConnection: close\r\nExpect: 100-continue\r\n";
    assert.match(await ask(`${head}Content-Length: 2\r\n\r\nhi`), /^HTTP\/1.1 100 Continue\r\n\r\nHTTP\/1.1 201/);
    assert.match(await ask(`${head}Content-Length: 9999\r\n\r\n`), /^HTTP\/1.1 413/);
  });

  it("accepts absolute targets", async () => {
    const got = await ask("GET http://host:1/bytes?x HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
    assert.match(got, /^HTTP\/1.1 200[\s\S]*0123456789$/);
  });

  it("answers upgrades like other requests without an upgrade handler", async () => {
    const got = await ask("GET /bytes HTTP/1.1\r\nHost: x\r\nConnection: Upgrade, close\r\nUpgrade: websocket\r\n\r\n");
    assert.match(got, /^HTTP\/1.1 200/);
  });

  it("closes the connection if the reply says so", async () => {
    const got = await ask("GET /bye HTTP/1.1\r\nHost: x\r\n\r\n");
    assert.match(got, /connection: close/i);
  });

  for (const isSecure of [false, true]) {
    it(`passes WebSocket and SPDY sockets to the upgrade handler, ${isSecure ? "with" : "without"} TLS`, async () => {
      const upgrading = await start({
        tls: isSecure ? secure : undefined,
        onUpgrade: (request, socket) => socket.end(`HTTP/1.1 101 Switching Protocols\r\n\r\n${request.path}`),
      });
      const connect = (): net.Socket =>
        isSecure
          ? tls.connect({ port: upgrading.port, host: "localhost", ca: testCa.certificate })
          : net.connect(upgrading.port, "127.0.0.1");
      const ask = async (protocol: string): Promise<string> => {
        const socket = connect();
        socket.write(`GET /bytes HTTP/1.1\r\nHost: x\r\nConnection: Upgrade, close\r\nUpgrade: ${protocol}\r\n\r\n`);
        const chunks: Buffer[] = [];
        for await (const chunk of socket) chunks.push(chunk);
        return Buffer.concat(chunks).toString();
      };
      try {
        assert.equal(await ask("websocket"), "HTTP/1.1 101 Switching Protocols\r\n\r\n/bytes");
        assert.equal(await ask("SPDY/3.1"), "HTTP/1.1 101 Switching Protocols\r\n\r\n/bytes");
        assert.match(await ask("h2c"), /^HTTP\/1.1 200/);
      } finally {
        await upgrading.close(0);
      }
    });
  }
});

describe("listener, shutdown", () => {
  it("ends watches, lets requests finish, closes idle connections", async () => {
    const listener = await start({ tls: secure });
    const agent = new https.Agent({ keepAlive: true, ca: testCa.certificate });
    const idle = https.get({ port: listener.port, path: "/bytes", agent });
    const [response] = await once(idle, "response");
    response.resume();
    await once(response, "end");

    const session = connectHttp2(listener.port);
    const watch = session.request({ ":path": "/watch" });
    watch.setEncoding("utf8");
    let watched = "";
    watch.on("data", (chunk) => {
      watched += chunk;
    });
    const slowHttp2 = session.request({ ":path": "/slow" });
    let slowBody = "";
    slowHttp2.setEncoding("utf8").on("data", (chunk) => {
      slowBody += chunk;
    });
    const slowHttp1 = fetchHttp1(https)(listener.port, "/slow");
    await once(watch, "data");
    await eventually(() => slow.length === 2);

    const ended = Promise.all([once(watch, "end"), once(slowHttp2, "end"), once(session, "close")]);
    // It does not wait for the end of its patience.
    const closed = listener.close(3_600_000);
    await once(watch, "end");
    for (const answer of slow.splice(0)) answer();
    await closed;
    await ended;
    assert.equal(watched, "open\nend\n");
    assert.equal(slowBody, "slow");
    const got = await slowHttp1;
    assert.deepEqual([got.body, got.headers.connection], ["slow", "close"]);
    agent.destroy();
  });

  it("destroys connections that do not end in time", async () => {
    const listener = await start();
    const request = http.get({ port: listener.port, path: "/endless", agent: false });
    request.on("error", () => {});
    const [response] = await once(request, "response");
    response.on("error", () => {});
    await listener.close(50);
    assert.ok(seen.signal?.aborted);
    request.destroy();
  });
});
