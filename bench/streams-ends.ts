import { once } from "node:events";
import { readFileSync } from "node:fs";
import { request } from "node:https";
import { type AddressInfo, createServer, type Server } from "node:net";
import type { Duplex } from "node:stream";
import { connect, createServer as createTlsServer } from "node:tls";
import { WebSocket } from "ws";
import { SpdyConnection } from "../src/serving/connect/spdy/connection.ts";

/** A program behind a port that sends so many bytes to whoever connects. */
export async function startSource(bytes: number): Promise<Server & { readonly port: number }> {
  const piece = Buffer.alloc(64 * 1024, "x");
  const server = createServer((socket) => {
    let left = bytes;
    socket.on("error", () => socket.destroy());
    const go = (): void => {
      while (left > 0) {
        const size = Math.min(left, piece.length);
        left -= size;
        if (!socket.write(piece.subarray(0, size))) return;
      }
      socket.end();
    };
    socket.on("drain", go);
    go();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return Object.assign(server, { port: (server.address() as AddressInfo).port });
}

/** How long it takes to read everything from a port of a pod, by SPDY over the connection that `open` makes. */
export async function readPort(open: () => Promise<Duplex>, port: number): Promise<{ bytes: number; seconds: number }> {
  const spdy = new SpdyConnection(await open(), { role: "client" });
  const headers = { port: String(port), requestID: "0" };
  const errors = await spdy.open({ streamType: "error", ...headers });
  errors.resume();
  const data = await spdy.open({ streamType: "data", ...headers });
  let bytes = 0;
  const start = performance.now();
  data.on("data", (chunk: Buffer) => {
    bytes += chunk.length;
  });
  await once(data, "end");
  const seconds = (performance.now() - start) / 1000;
  spdy.close();
  return { bytes, seconds };
}

/** Upgrades a connection to SPDY. */
export function upgrade(url: string, headers: Record<string, string>, tls: object = {}): Promise<Duplex> {
  return new Promise((resolve, reject) => {
    const options = { method: "POST", rejectUnauthorized: false, agent: false as const, ...tls };
    const upgrading = { connection: "Upgrade", upgrade: "SPDY/3.1", "x-stream-protocol-version": "portforward.k8s.io" };
    const outgoing = request(url, { ...options, headers: { ...upgrading, ...headers } });
    outgoing.on("upgrade", (_response, socket) => resolve(socket));
    outgoing.on("response", (response) => reject(new Error(`HTTP ${response.statusCode}`)));
    outgoing.on("error", reject);
    outgoing.end();
  });
}

/** A client of exec by a WebSocket. */
export function openExec(base: string, token: string, command: string): Promise<WebSocket> {
  const path = `/api/v1/namespaces/default/pods/web/exec?command=${command}&stdin=1&stdout=1&container=main`;
  return openSocket(`${base}${path}`, { authorization: `Bearer ${token}` });
}

/** The same with a node, or with a relay in front of it. */
export function openExecOfNode(base: string, command: string): Promise<WebSocket> {
  return openSocket(`${base}/exec/default/web/main?command=${command}&input=1&output=1`, {});
}

async function openSocket(url: string, headers: Record<string, string>): Promise<WebSocket> {
  const options = { headers, rejectUnauthorized: false, perMessageDeflate: false };
  const socket = new WebSocket(url.replace("https:", "wss:"), ["v5.channel.k8s.io"], options);
  await once(socket, "open");
  return socket;
}

/** Sends a text to `mirror` and waits until it has come back. */
export async function exchangeText(socket: WebSocket, text: string): Promise<void> {
  let heard = "";
  const { promise, resolve } = Promise.withResolvers<void>();
  socket.on("message", (message: Buffer) => {
    if (message[0] === 1) heard += message.subarray(1).toString();
    if (heard.length >= text.length) resolve();
  });
  socket.send(Buffer.concat([Buffer.of(0), Buffer.from(text)]));
  await promise;
}

/** The memory that a process has, in bytes. */
export function residentBytes(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) * 1024;
}

/** The processor time that a process has used, in seconds. */
export function processorSeconds(pid: number): number {
  const [, rest = ""] = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ");
  const fields = rest.split(" ");
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

/** A bare relay of TLS: what comes by one connection goes out by another. */
export async function startRelay(
  identity: { readonly cert: string; readonly key: string },
  target: { readonly port: number; readonly cert: string; readonly key: string },
): Promise<number> {
  const server = createTlsServer(identity, (socket) => {
    const { cert, key } = target;
    const other = connect({ host: "127.0.0.1", port: target.port, cert, key, rejectUnauthorized: false });
    socket.pipe(other).pipe(socket);
    for (const one of [socket, other]) one.on("error", () => [socket, other].forEach((each) => void each.destroy()));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return (server.address() as AddressInfo).port;
}
