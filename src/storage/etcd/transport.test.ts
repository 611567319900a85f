import assert from "node:assert/strict";
import http2 from "node:http2";
import type { AddressInfo, Socket } from "node:net";
import { afterEach, beforeEach, describe, it } from "node:test";
import { TcpProxy } from "../../../test/support/tcp-proxy.ts";
import { eventually } from "../../../test/support/time.ts";
import { connectFrames } from "./connect-frames.ts";
import { connectHttp2 } from "./http2-connection.ts";
import {
  type Connection,
  decodeGrpcMessage,
  frameMessage,
  GrpcError,
  grpcStatus,
  MessageSplitter,
} from "./transport.ts";

type Handler = (stream: http2.ServerHttp2Stream, headers: http2.IncomingHttpHeaders) => void;

/** Longer than any machine takes. */
const LONG_MS = 300_000;
const OK = { ":status": 200, "content-type": "application/grpc" };

for (const [name, connect] of [
  ["node:http2", connectHttp2],
  ["own frames", connectFrames],
] as const) {
  describe(`gRPC over ${name}`, () => {
    let server: http2.Http2Server;
    let connection: Connection;
    let handle: Handler = () => undefined;
    let settings: http2.Settings = {};
    const sockets = new Set<Socket>();
    const sessions = new Set<http2.ServerHttp2Session>();
    const start = async (): Promise<URL> => {
      server = http2.createServer({ settings });
      server.on("connection", (socket: Socket) => sockets.add(socket));
      server.on("session", (session) => {
        sessions.add(session);
        session.on("error", () => undefined);
      });
      server.on("stream", (stream, headers) => {
        stream.on("error", () => undefined);
        handle(stream, headers);
      });
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
      return new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    };
    const { signal } = new AbortController();
    const times = { signal, timeoutMs: LONG_MS, pingIntervalMs: LONG_MS, pingTimeoutMs: LONG_MS };
    beforeEach(async () => {
      settings = {};
      connection = await connect({ url: await start(), ...times });
    });
    afterEach(async () => {
      connection.destroy();
      for (const socket of sockets) socket.destroy();
      sockets.clear();
      sessions.clear();
      await new Promise((resolve) => server.close(resolve));
    });

    it("sends the right headers and joins responses of any size", async () => {
      const seen: unknown[] = [];
      handle = (stream, headers) => {
        seen.push([headers[":method"], headers[":path"], headers["content-type"], headers.te, headers.hasleader]);
        echo(stream);
      };
      for (const size of [0, 1, 1000, 16_379, 16_380, 70_000, 3_000_000]) {
        const message = Uint8Array.from({ length: size }, (_, i) => i % 253);
        const answer = await connection.unary("/a.B/C", message, 5000);
        assert.ok(Buffer.from(answer).equals(message), `${size} bytes`);
      }
      assert.deepEqual(seen[0], ["POST", "/a.B/C", "application/grpc", "trailers", undefined]);
    });

    it("runs many calls concurrently", async () => {
      handle = (stream) => setTimeout(() => echo(stream), Math.random() * 10);
      const sizes = Array.from({ length: 200 }, (_, i) => (i % 20 === 0 ? 100_000 + i : i));
      const answers = await Promise.all(sizes.map((size) => connection.unary("/e", new Uint8Array(size), LONG_MS)));
      assert.deepEqual(
        answers.map((answer) => answer.length),
        sizes,
      );
    });

    it("returns the status, with or without a body before it", async () => {
      handle = (stream) => {
        stream.respond(
          { ...OK, "grpc-status": "14", "grpc-message": "etcdserver: no leader %E2%98%83" },
          { endStream: true },
        );
      };
      await rejects(
        connection.unary("/e", new Uint8Array(3), LONG_MS),
        grpcStatus.unavailable,
        "etcdserver: no leader ☃",
      );
      handle = (stream) => answer(stream, { "grpc-status": "11", "grpc-message": "a%20b" });
      await rejects(connection.unary("/e", new Uint8Array(3), LONG_MS), grpcStatus.outOfRange, "a b");
      handle = (stream) => stream.respond({ ":status": 503 }, { endStream: true });
      await rejects(connection.unary("/e", new Uint8Array(3), LONG_MS), grpcStatus.unavailable);
    });

    it("fails at the deadline and handles later calls", async () => {
      handle = () => undefined;
      const error = await rejects(connection.unary("/e", new Uint8Array(3), 100), grpcStatus.deadlineExceeded);
      assert.ok(error.mayHaveHappened);
      handle = echo;
      assert.equal((await connection.unary("/e", new Uint8Array(3), LONG_MS)).length, 3);
    });

    it("reports when a call certainly did not happen", async () => {
      handle = (stream) => stream.close(http2.constants.NGHTTP2_REFUSED_STREAM);
      const refused = await rejects(connection.unary("/e", new Uint8Array(3), LONG_MS), grpcStatus.unavailable);
      assert.equal(refused.mayHaveHappened, false);
      handle = (stream) => stream.session?.destroy();
      const lost = await rejects(connection.unary("/e", new Uint8Array(3), LONG_MS), grpcStatus.unavailable);
      assert.equal(lost.mayHaveHappened, true);
      await eventually(() => connection.isLost);
      const port = (server.address() as AddressInfo).port;
      const unreachable = connect({ url: new URL("http://127.0.0.1:1"), ...times });
      assert.equal((await rejects(unreachable, grpcStatus.unavailable)).mayHaveHappened, false);
      connection = await connect({ url: new URL(`http://127.0.0.1:${port}`), ...times });
    });

    it("completes running calls after GOAWAY", async () => {
      handle = (stream) => {
        stream.session?.goaway(0, stream.id);
        setTimeout(() => echo(stream), 50);
      };
      assert.equal((await connection.unary("/e", new Uint8Array(7), LONG_MS)).length, 7);
      assert.ok(connection.isLost);
    });

    it("streams in both directions and requires a leader", async () => {
      let leader: unknown;
      handle = (stream, headers) => {
        leader = headers.hasleader;
        stream.respond(OK, { waitForTrailers: true });
        stream.on("wantTrailers", () => stream.sendTrailers({ "grpc-status": "0" }));
        const splitter = new MessageSplitter();
        stream.on("data", (chunk: Buffer) => {
          splitter.push(chunk);
          for (let m = splitter.next(); m !== undefined; m = splitter.next()) {
            if (m.length === 0) stream.end();
            else stream.write(frameMessage(m));
          }
        });
      };
      const stream = connection.stream("/s");
      for (const size of [1, 2, 100_000, 3, 0]) stream.write(new Uint8Array(size));
      const sizes: number[] = [];
      for await (const message of stream.messages) sizes.push(message.length);
      assert.deepEqual([sizes, leader], [[1, 2, 100_000, 3], "true"]);
    });

    it("blocks a stream that is not read, and nothing else", async () => {
      let sent = 0;
      handle = (stream, headers) => {
        if (headers[":path"] === "/e") return echo(stream);
        stream.respond(OK);
        const chunk = frameMessage(new Uint8Array(100_000));
        const more = () => {
          while (sent < 300 && !stream.destroyed) {
            sent++;
            if (!stream.write(chunk)) {
              stream.once("drain", more);
              return;
            }
          }
        };
        more();
      };
      const stream = connection.stream("/s");
      const reader = stream.messages[Symbol.asyncIterator]();
      await reader.next();
      // Ten responses later, a stream without flow control would have sent everything.
      for (let i = 0; i < 10; i++)
        assert.equal((await connection.unary("/e", new Uint8Array(50_000), LONG_MS)).length, 50_000);
      assert.ok(sent < 150, `${sent} messages were sent to a reader that paused`);
      for (let i = 1; i < 300; i++) assert.equal((await reader.next()).value?.length, 100_000);
      stream.cancel();
      assert.equal((await reader.next()).done, true);
    });

    it("ends a stream without an error when canceled, and with the error when it breaks", async () => {
      const closed: number[] = [];
      handle = (stream) => {
        stream.respond(OK);
        stream.write(frameMessage(Buffer.from("x")));
        stream.on("close", () => closed.push(stream.rstCode));
      };
      const canceled = connection.stream("/s");
      for await (const _ of canceled.messages) canceled.cancel();
      await eventually(() => closed.length === 1);
      assert.deepEqual(closed, [http2.constants.NGHTTP2_CANCEL]);
      const broken = connection.stream("/s");
      const reading = (async () => {
        for await (const _ of broken.messages) for (const session of sessions) session.destroy();
      })();
      await rejects(reading, grpcStatus.unavailable);
    });

    it("respects the server's limit of concurrent streams", async () => {
      connection.destroy();
      server.close();
      settings = { maxConcurrentStreams: 2 };
      connection = await connect({ url: await start(), ...times });
      let most = 0;
      let now = 0;
      handle = (stream) => {
        most = Math.max(most, ++now);
        stream.on("close", () => now--);
        setTimeout(() => echo(stream), 5);
      };
      const calls = Array.from({ length: 10 }, () => connection.unary("/e", new Uint8Array(9), LONG_MS));
      assert.equal((await Promise.all(calls)).length, 10);
      assert.ok(most <= 2, `${most} at once`);
    });

    it("drops a connection that does not respond to PINGs", async () => {
      const proxy = new TcpProxy((server.address() as AddressInfo).port);
      await proxy.listen();
      const url = new URL(`http://127.0.0.1:${proxy.port}`);
      const proxied = await connect({ url, ...times, pingTimeoutMs: 100 });
      proxy.dropsAnswers = true;
      handle = echo;
      const call = proxied.unary("/e", new Uint8Array(3), LONG_MS);
      proxied.check();
      await rejects(call, grpcStatus.unavailable);
      assert.ok(proxied.isLost);
      await proxy.close();
    });
  });
}

describe("gRPC messages", () => {
  it("decodes percent-encoding and keeps malformed escapes", () => {
    assert.equal(decodeGrpcMessage("plain"), "plain");
    assert.equal(decodeGrpcMessage("a%20b%C3%BC"), "a bü");
    assert.equal(decodeGrpcMessage("100%, %2"), "100%, %2");
  });

  it("finds messages in chunks of any size", () => {
    const bytes = Buffer.concat([
      frameMessage(Buffer.from("one")),
      frameMessage(Buffer.alloc(0)),
      frameMessage(Buffer.from("three")),
    ]);
    for (let size = 1; size <= bytes.length; size++) {
      const splitter = new MessageSplitter();
      const found: string[] = [];
      for (let at = 0; at < bytes.length; at += size) {
        splitter.push(bytes.subarray(at, at + size));
        for (let m = splitter.next(); m !== undefined; m = splitter.next()) found.push(Buffer.from(m).toString());
      }
      assert.deepEqual(found, ["one", "", "three"]);
    }
  });
});

/** Responds with the request. */
function echo(stream: http2.ServerHttp2Stream): void {
  const chunks: Buffer[] = [];
  stream.on("data", (chunk: Buffer) => chunks.push(chunk));
  stream.on("end", () => {
    stream.respond(OK, { waitForTrailers: true });
    stream.on("wantTrailers", () => stream.sendTrailers({ "grpc-status": "0", "grpc-message": "" }));
    stream.end(Buffer.concat(chunks));
  });
}

function answer(stream: http2.ServerHttp2Stream, trailers: http2.OutgoingHttpHeaders): void {
  stream.respond(OK, { waitForTrailers: true });
  stream.on("wantTrailers", () => stream.sendTrailers(trailers));
  stream.end(frameMessage(Buffer.from("partial")));
}

async function rejects(action: Promise<unknown>, code: number, message?: string): Promise<GrpcError> {
  const error = await action.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  assert.ok(error instanceof GrpcError, `expected a GrpcError, got ${String(error)}`);
  assert.equal(error.code, code);
  if (message !== undefined) assert.equal(error.message, message);
  return error;
}
