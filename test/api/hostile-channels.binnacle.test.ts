import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, suite, test } from "node:test";
import { connect, type TLSSocket } from "node:tls";
import { CostServer } from "../cost/server.ts";
import { assertBelow } from "../support/machine-speed.ts";
import { tokens } from "../support/oracle.ts";

const MOST_MS = 100;
const PODS = "/api/v1/namespaces/default/pods";
const COUNT = 200_000;
const HANDLERS = `export const handlers = { pod: () => ({
  async exec({ stdin }) { for await (const _ of stdin ?? []); return 0; },
  async port(_number, connection) { connection.resume(); await new Promise((resolve) => connection.once("close", resolve)); },
}) };
`;

const [CONTINUATION, TEXT, BINARY, PING, PONG] = [0, 1, 2, 9, 10];
const [FINAL, PART] = [0x80, 0];
/** A masked WebSocket frame of up to 125 bytes, with a mask of zeros. */
const frame = (opcode: number, data: Buffer | string, final = FINAL): Buffer =>
  Buffer.concat([Buffer.from([final | opcode, 0x80 | data.length, 0, 0, 0, 0]), Buffer.from(data)]);

const EXEC = `${PODS}/p/exec?command=cat&stdin=1&stdout=1`;
const FORWARD = `${PODS}/p/portforward?ports=80`;
const V5 = "v5.channel.k8s.io";
const V4 = "v4.channel.k8s.io";

interface Flood {
  readonly target: string;
  readonly protocol: string;
  readonly make: (index: number) => Buffer;
}

/** Frames of a few bytes: one packet has thousands of them. */
const FLOODS: Readonly<Record<string, Flood>> = {
  "unknown channels of exec": {
    ...{ target: EXEC, protocol: V5 },
    make: (index) => frame(BINARY, Buffer.from([(index % 250) + 5, 1])),
  },
  "unknown channels of port-forward": {
    ...{ target: FORWARD, protocol: V4 },
    make: (index) => frame(BINARY, Buffer.from([(index % 250) + 5, 1])),
  },
  "unknown channels in base64": {
    ...{ target: EXEC, protocol: "base64.channel.k8s.io" },
    make: () => frame(TEXT, "9AA=="),
  },
  "single bytes for stdin": { target: EXEC, protocol: V5, make: () => frame(BINARY, "\0x") },
  "single bytes for a port": { target: FORWARD, protocol: V4, make: () => frame(BINARY, "\0x") },
  "empty messages": { target: EXEC, protocol: V5, make: () => frame(BINARY, "") },
  "sizes of a terminal that are no JSON": {
    target: EXEC,
    protocol: V5,
    make: () => frame(BINARY, `\x04${"{".repeat(100)}`),
  },
  "parts of a message": {
    ...{ target: EXEC, protocol: V5 },
    make: (index) => (index === 0 ? frame(BINARY, "\0", PART) : frame(CONTINUATION, "x", PART)),
  },
  "empty parts of a message": {
    ...{ target: EXEC, protocol: V5 },
    make: (index) => (index === 0 ? frame(BINARY, "\0", PART) : frame(CONTINUATION, "", PART)),
  },
  pings: { target: EXEC, protocol: V5, make: () => frame(PING, "x") },
  pongs: { target: EXEC, protocol: V5, make: () => frame(PONG, "x") },
};

/** Opens a WebSocket and returns its connection, for frames of any kind. */
async function openRaw(base: string, target: string, protocol: string): Promise<TLSSocket> {
  const { hostname, port } = new URL(base);
  const socket = connect({ host: hostname, port: Number(port), rejectUnauthorized: false });
  socket.on("error", () => undefined);
  await once(socket, "secureConnect");
  const lines = [
    ...[`GET ${target} HTTP/1.1`, `Host: ${hostname}`, `Authorization: Bearer ${tokens.admin}`],
    ...["Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=="],
    ...["Sec-WebSocket-Version: 13", `Sec-WebSocket-Protocol: ${protocol}`],
  ];
  socket.write(`${lines.join("\r\n")}\r\n\r\n`);
  const [head] = await once(socket, "data");
  assert.match(String(head), /^HTTP\/1\.1 101 /);
  return socket.resume();
}

/** Sends frames as fast as the server reads them, or until it closes the connection. */
async function flood(socket: TLSSocket, make: (index: number) => Buffer): Promise<void> {
  const BATCH = 2000;
  const closed = new Promise((resolve) => socket.once("close", resolve));
  for (let sent = 0; sent < COUNT && !socket.destroyed; sent += BATCH) {
    const batch = Buffer.concat(Array.from({ length: BATCH }, (_, at) => make(sent + at)));
    if (socket.write(batch)) await new Promise((resolve) => setImmediate(resolve));
    else await Promise.race([new Promise((resolve) => socket.once("drain", resolve)), closed]);
  }
}

suite("floods of small frames do not hold up the event loop:", { timeout: 900_000 }, () => {
  let server: CostServer;
  let folder: string;

  before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), "binnacle-channels-"));
    const file = path.join(folder, "handlers.mjs");
    await writeFile(file, HANDLERS);
    server = await CostServer.start(300_000, [], ["--handlers", file]);
    await server.send({
      method: "POST",
      path: "/api/v1/namespaces/default/serviceaccounts",
      body: Buffer.from(JSON.stringify({ metadata: { name: "default" } })),
    });
    const spec = { automountServiceAccountToken: false, containers: [{ name: "c", image: "i" }] };
    const body = Buffer.from(JSON.stringify({ metadata: { name: "p" }, spec }));
    const { status, text } = await server.send({ method: "POST", path: PODS, body });
    assert.equal(status, 201, text);
  });
  after(async () => {
    await server?.stop();
    await rm(folder, { recursive: true, force: true });
  });

  for (const [name, { target, protocol, make }] of Object.entries(FLOODS)) {
    test(name, async (t) => {
      const socket = await openRaw(server.binnacle.base, target, protocol);
      t.after(() => socket.destroy());
      const heldMs = await server.heldDuring(() => flood(socket, make));
      t.diagnostic(`${Math.round(heldMs)} ms, ${socket.destroyed ? "closed" : "open"}`);
      assertBelow(heldMs, MOST_MS, name);
    });
  }
});
