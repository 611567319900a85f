import assert from "node:assert/strict";
import { once } from "node:events";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import http from "node:http";
import http2, { type Http2SecureServer, type ServerHttp2Stream } from "node:http2";
import net, { type AddressInfo } from "node:net";
import type { Duplex } from "node:stream";
import { suite, test } from "node:test";
import tls, { type TLSSocket } from "node:tls";
import { connectHttp2, secure } from "./listener.suite.ts";
import { closeInstead, filterUpgrades, keepParsing, serveStreams, socketBelow, takeOverChunks } from "./node-quirks.ts";

type OnRequest = (message: IncomingMessage, response: ServerResponse) => void;

function secureServer(onRequest: OnRequest): Http2SecureServer {
  const server = http2.createSecureServer({ allowHTTP1: true, cert: secure.certificate, key: secure.key });
  const emitter: NodeJS.EventEmitter = server;
  emitter.on("request", onRequest);
  return server;
}

const portOf = (server: net.Server): number => (server.address() as AddressInfo).port;

async function listening<T extends net.Server>(server: T): Promise<T & Disposable> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return Object.assign(server, { [Symbol.dispose]: () => void server.close() });
}

const connectTls = (server: net.Server): TLSSocket =>
  tls.connect({ port: portOf(server), host: "127.0.0.1", rejectUnauthorized: false, ALPNProtocols: ["http/1.1"] });

/** Sends text and returns the whole answer. */
async function exchange(socket: Duplex, sent: string): Promise<string> {
  socket.on("error", () => {});
  socket.write(sent);
  const pieces: Buffer[] = [];
  socket.on("data", (piece: Buffer) => pieces.push(piece));
  await new Promise((resolve) => socket.once("close", resolve));
  return Buffer.concat(pieces).toString();
}

const GET = "GET / HTTP/1.1\r\nHost: x\r\n\r\n";
const LAST_GET = "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";

suite("quirks of Node", () => {
  test("a body that arrives by TLS during a large response is read with keepParsing", async () => {
    const errors: (string | undefined)[] = [];
    const begun = Promise.withResolvers<void>();
    using server = await listening(
      secureServer((message, response) => {
        if (message.method === "GET") {
          response.end(Buffer.alloc(16_000_000, "x"));
          return;
        }
        let bytes = 0;
        message.on("data", (piece: Buffer) => {
          bytes += piece.length;
        });
        message.on("end", () => response.end(String(bytes))).on("error", () => {});
        begun.resolve();
      }),
    );
    server.on("secureConnection", keepParsing);
    const emitter: NodeJS.EventEmitter = server;
    emitter.on("clientError", (error: NodeJS.ErrnoException, failed: Duplex) => {
      errors.push(error.code);
      failed.destroy();
    });
    const socket = connectTls(server);
    const answered = exchange(socket, GET);
    await once(socket, "data");
    socket.pause();
    const head = "POST / HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 200000\r\n\r\n";
    socket.write(head + "b".repeat(200_000));
    await begun.promise;
    socket.resume();
    assert.ok((await answered).includes("200000"));
    assert.deepEqual(errors, []);
  });

  for (const isApplied of [false, true]) {
    const how = isApplied ? "with" : "without";

    test(`an unwanted upgrade is ${isApplied ? "served" : "not served"} ${how} filterUpgrades`, async () => {
      for (const make of [(onRequest: OnRequest): Server => http.createServer(onRequest), secureServer]) {
        using server = await listening(make((_, response) => response.end("served")) as net.Server);
        if (isApplied) filterUpgrades(server, ({ headers }) => headers.upgrade === "websocket");
        const emitter: NodeJS.EventEmitter = server;
        emitter.on("upgrade", (_: IncomingMessage, socket: Duplex) => socket.end("upgraded"));
        const upgrade = (protocol: string) =>
          `GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade, close\r\nUpgrade: ${protocol}\r\n\r\n`;
        const connect = () => (make === secureServer ? connectTls(server) : net.connect(portOf(server)));
        assert.match(await exchange(connect(), upgrade("h2c")), isApplied ? /served$/ : /^upgraded$/);
        assert.equal(await exchange(connect(), upgrade("websocket")), "upgraded");
      }
    });

    test(`an HTTP/2 stream is ${isApplied ? "not wrapped" : "wrapped"} ${how} serveStreams`, async () => {
      const wrapped: string[] = [];
      using server = await listening(
        secureServer((message, response) => {
          wrapped.push(message.httpVersion);
          response.end();
        }),
      );
      const serve = (stream: ServerHttp2Stream) => {
        if (stream.headersSent) return;
        stream.respond({ ":status": 200 });
        stream.end();
      };
      if (isApplied) serveStreams(server, serve);
      const session = connectHttp2(portOf(server));
      const [headers] = await once(session.request({ ":path": "/" }).resume(), "response");
      assert.equal(headers[":status"], 200);
      session.destroy();
      assert.match(await exchange(connectTls(server), LAST_GET), /^HTTP\/1.1 200/);
      assert.deepEqual(wrapped, isApplied ? ["1.1"] : ["2.0", "1.1"]);
    });

    test(`a response has ${isApplied ? "the chunks of its writer" : "chunks in its chunks"} ${how} takeOverChunks`, async () => {
      using server = await listening(
        http.createServer((_, response) => {
          response.writeHead(200);
          if (isApplied) assert.ok(takeOverChunks(response));
          response.end("2\r\nok\r\n0\r\n\r\n");
        }),
      );
      const [, body] = (await exchange(net.connect(portOf(server)), LAST_GET)).split(/\r\n\r\n(.*)/s);
      assert.equal(body, isApplied ? "2\r\nok\r\n0\r\n\r\n" : "c\r\n2\r\nok\r\n0\r\n\r\n\r\n0\r\n\r\n");
    });
  }

  test("Node closes a connection after its last response by closeInstead", async () => {
    let closed = 0;
    using server = await listening(
      http.createServer((message, response) => {
        closeInstead(message, () => {
          closed++;
          message.socket.end();
        });
        response.writeHead(200, { connection: "close", "content-length": 2 }).end("ok");
      }),
    );
    assert.match(await exchange(net.connect(portOf(server)), GET), /\r\n\r\nok$/);
    assert.equal(closed, 1);
  });

  test("the socket below a failed TLS handshake is writable", async () => {
    using server = await listening(secureServer(() => {}));
    server.on("tlsClientError", (error: NodeJS.ErrnoException, failed) => {
      assert.equal(error.code, "ERR_SSL_HTTP_REQUEST");
      socketBelow(failed)?.write("not TLS");
    });
    assert.equal(await exchange(net.connect(portOf(server)), GET), "not TLS");
  });
});
