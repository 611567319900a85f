import assert from "node:assert/strict";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { Readable, Writable } from "node:stream";
import { after, before, suite, test } from "node:test";
import { pathToFileURL } from "node:url";
import { openExec, upgrade } from "../../bench/streams-ends.ts";
import { startServer } from "../../src/programs/library/start-server.ts";
import type { Server } from "../../src/programs/server/server.ts";
import { MAX_UNREAD_BYTES } from "../../src/serving/connect/handlers/bounded-writes.ts";
import type { CommandRequest } from "../../src/serving/connect/handlers/command-request.ts";
import type { Handlers, PodHandlers } from "../../src/serving/connect/handlers/handlers.ts";
import { SpdyConnection } from "../../src/serving/connect/spdy/connection.ts";
import { clientFor } from "../support/client.ts";
import { eventually } from "../support/time.ts";

const PIECE = Buffer.alloc(256 * 1024, "x");
const PIECES = 200;

interface Flood {
  mostBytes: number;
  written: number;
  isStopped: boolean;
}

const tick = () => new Promise((resolve) => setImmediate(resolve));

/** Writes 50 MiB and never waits for the client. */
async function flood(stream: Writable, signal: AbortSignal, seen: Flood): Promise<void> {
  signal.addEventListener("abort", () => {
    seen.isStopped = true;
  });
  for (; seen.written < PIECES; seen.written++) {
    stream.write(PIECE);
    seen.mostBytes = Math.max(seen.mostBytes, stream.writableLength);
    await tick();
  }
}

suite("clients that never read", { timeout: 120_000 }, () => {
  let server: Server;
  let seen: Flood;

  before(async () => {
    const pod: PodHandlers = {
      async exec({ stdout, signal }) {
        if (stdout) await flood(stdout, signal, seen);
        return 0;
      },
      port: (_port, connection, signal) => flood(connection, signal, seen),
    };
    server = await startServer({ connect: { handlers: { pod: () => pod } }, log: false });
    const client = clientFor(server.url, server.token);
    const spec = {
      automountServiceAccountToken: false,
      containers: [{ name: "main", image: "registry.example/app:1" }],
    };
    const place = "/api/v1/namespaces/default/pods";
    const make = () => client.call("POST", place, { metadata: { name: "web" }, spec });
    await eventually(async () => (await make()).status === 201);
  });
  after(() => server?.close());

  const isBounded = async (): Promise<void> => {
    await eventually(() => seen.written === PIECES);
    assert.ok(seen.isStopped, "the handler's signal aborts");
    assert.ok(seen.mostBytes <= MAX_UNREAD_BYTES + PIECE.length, `${seen.mostBytes} bytes were buffered`);
  };
  const begin = (): void => {
    seen = { mostBytes: 0, written: 0, isStopped: false };
  };

  test("exec over WebSocket buffers no more than the limit", async () => {
    begin();
    const socket = await openExec(server.url, server.token, "flood");
    socket.pause();
    await isBounded();
    socket.terminate();
  });

  test("exec over SPDY buffers no more than the limit", async () => {
    begin();
    const url = `${server.url}/api/v1/namespaces/default/pods/web/exec?command=flood&stdout=1&container=main`;
    const headers = { authorization: `Bearer ${server.token}`, "x-stream-protocol-version": "v4.channel.k8s.io" };
    const spdy = new SpdyConnection(await upgrade(url, headers), { role: "client" });
    await spdy.open({ streamType: "error" });
    await spdy.open({ streamType: "stdout" });
    await isBounded();
    spdy.close();
  });

  test("port-forward buffers no more than the limit", async () => {
    begin();
    const url = `${server.url}/api/v1/namespaces/default/pods/web/portforward`;
    const connection = await upgrade(url, { authorization: `Bearer ${server.token}` });
    const spdy = new SpdyConnection(connection, { role: "client" });
    const port = { port: "80", requestID: "0" };
    await spdy.open({ streamType: "error", ...port });
    await spdy.open({ streamType: "data", ...port });
    await isBounded();
    spdy.close();
  });
});

test("the handler in docs/connect.md reads no more input than its client reads output", async () => {
  const folder = await mkdtemp(path.join(tmpdir(), "binnacle-docs-"));
  try {
    const page = await readFile(path.join(import.meta.dirname, "..", "..", "docs", "connect.md"), "utf8");
    const [, example = ""] = /```ts\n([^`]*(?:`[^`][^`]*)*)```/.exec(page) ?? [];
    const file = path.join(folder, "handlers.ts");
    await writeFile(file, example);
    const { handlers } = (await import(pathToFileURL(file).href)) as { handlers: Handlers };
    const exec = handlers.pod?.({ apiVersion: "v1", kind: "Pod", metadata: { name: "web" } })?.exec;
    assert.ok(exec);
    let taken = 0;
    const stdin = Readable.from(
      (function* () {
        for (; taken < PIECES; taken++) yield PIECE;
      })(),
    );
    const stdout = new Writable({ highWaterMark: PIECE.length, write: () => {} });
    const request = { command: ["cat"], stdin, stdout } as unknown as CommandRequest;
    const ended = exec(request).catch(() => {});
    for (let turn = 0; turn < 1000; turn++) await tick();
    assert.ok(taken < PIECES && stdout.writableLength <= 4 * PIECE.length, `${taken} pieces were read`);
    stdout.destroy();
    await ended;
  } finally {
    await rm(folder, { recursive: true });
  }
});
