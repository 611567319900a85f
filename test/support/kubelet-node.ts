import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer } from "node:https";
import { type AddressInfo, connect } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import type { Duplex } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { TLSSocket } from "node:tls";
import type { Call } from "../../src/base/api/call.ts";
import type { ConnectReply } from "../../src/base/api/channel.ts";
import { makeCa, makeIdentity } from "../../src/base/pki/make-certificate.ts";
import type { ConnectConfig } from "../../src/serving/connect/configuration/options.ts";
import type { CommandRequest } from "../../src/serving/connect/handlers/command-request.ts";
import { servePorts } from "../../src/serving/connect/port-forward/serve-ports.ts";
import { serveCommand } from "../../src/serving/connect/remote-command/serve-command.ts";
import { runUpgraded, runWebSocket } from "../../src/serving/http/channels.ts";

/** A request that a node received. */
export interface SeenRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage["headers"];
}

/** A node that responds like a kubelet. Commands are programs of this machine, run in a separate folder. */
export interface KubeletNode {
  readonly port: number;
  /** Flags with which a server can connect to it. */
  readonly flags: readonly string[];
  /** The same as a partial configuration. */
  readonly config: Partial<ConnectConfig>;
  readonly folder: string;
  /** Requests of trusted servers, newest last. */
  readonly seen: SeenRequest[];
  /** How many upgraded connections are open. */
  readonly streams: () => number;
  /** If set, requests for which it returns a response are rejected with it, as by an older kubelet. */
  refuse:
    | ((request: IncomingMessage) => { code: number; headers?: Record<string, string>; body: string } | undefined)
    | undefined;
  /** Closes all upgraded connections. */
  cut(): void;
  stop(): Promise<void>;
}

/** Starts it on the given address. Default: loopback. Rejects clients without the certificate of `flags`. */
export async function startKubeletNode(host = "127.0.0.1"): Promise<KubeletNode> {
  const folder = await mkdtemp(path.join(tmpdir(), "binnacle-node-"));
  const now = Date.now();
  const authority = makeCa("nodes", now);
  const own = makeIdentity(authority, { commonName: "system:node:one", hosts: [host] }, "server", now);
  const client = makeIdentity(authority, { commonName: "kube-apiserver" }, "client", now);
  const files = { "ca.crt": authority.certificate, "client.crt": client.certificate, "client.key": client.key };
  for (const [name, text] of Object.entries(files)) await writeFile(path.join(folder, name), text, { mode: 0o600 });
  const config = {
    kubeletClientCertificate: path.join(folder, "client.crt"),
    kubeletClientKey: path.join(folder, "client.key"),
    kubeletCertificateAuthority: path.join(folder, "ca.crt"),
  };
  const seen: SeenRequest[] = [];
  const open = new Set<Duplex>();
  const node: Pick<KubeletNode, "refuse"> = { refuse: undefined };
  const tls = { cert: own.certificate, key: own.key, ca: authority.certificate };
  const server = createServer({ ...tls, requestCert: true, rejectUnauthorized: false });
  const admit = (
    request: IncomingMessage,
  ): { code: number; headers?: Record<string, string>; body: string } | undefined => {
    if (!(request.socket as TLSSocket).authorized) return { code: 401, body: "Unauthorized" };
    seen.push({ method: request.method ?? "", url: request.url ?? "", headers: request.headers });
    return node.refuse?.(request);
  };
  server.on("request", (request, response) => {
    const refusal = admit(request);
    if (refusal) response.writeHead(refusal.code, refusal.headers).end(refusal.body);
    else answer(request, response);
  });
  server.on("upgrade", (request, socket, head) => {
    const refusal = admit(request);
    open.add(socket);
    socket.once("close", () => open.delete(socket)).on("error", () => socket.destroy());
    if (refusal) {
      const headers = Object.entries(refusal.headers ?? {}).map(([name, value]) => `${name}: ${value}\r\n`);
      socket.end(
        `HTTP/1.1 ${refusal.code} Refused\r\n${headers.join("")}Content-Length: ${refusal.body.length}\r\n\r\n${refusal.body}`,
      );
    } else void takeOver({ message: request, socket, head }, folder);
  });
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  return Object.assign(node, {
    port: (server.address() as AddressInfo).port,
    folder,
    flags: [
      `--kubelet-client-certificate=${config.kubeletClientCertificate}`,
      `--kubelet-client-key=${config.kubeletClientKey}`,
      `--kubelet-certificate-authority=${config.kubeletCertificateAuthority}`,
    ],
    config,
    seen,
    streams: () => open.size,
    cut() {
      for (const socket of open) socket.destroy();
    },
    async stop() {
      for (const socket of open) socket.destroy();
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
      await rm(folder, { recursive: true, force: true });
    },
  });
}

const LINES = ["one", "two", "three"];

function answer(request: IncomingMessage, response: ServerResponse): void {
  const { pathname, searchParams } = new URL(request.url ?? "/", "https://node");
  if (pathname.startsWith("/containerLogs/")) {
    const tail = Number(searchParams.get("tailLines") ?? LINES.length);
    const stamp = searchParams.has("timestamps") ? "2026-01-02T03:04:05.000000006Z " : "";
    const lines = tail === 0 ? [] : LINES.slice(-tail);
    response.writeHead(200, { "content-type": "text/plain" });
    for (const line of lines) response.write(`${stamp}${line}\n`);
    if (!searchParams.has("follow")) response.end();
    // A running container writes more as soon as the rest was read.
    else setImmediate(() => response.write(`${stamp}four\n`));
    return;
  }
  if (pathname === "/elsewhere") {
    response.writeHead(302, { location: "https://evil.example/" }).end();
    return;
  }
  const chunks: Buffer[] = [];
  request.on("data", (chunk: Buffer) => chunks.push(chunk));
  request.on("end", () => {
    const body = Buffer.concat(chunks).toString();
    response.writeHead(200, { "content-type": "application/json", "x-method": request.method });
    response.end(JSON.stringify({ method: request.method, url: request.url, headers: request.headers, body }));
  });
}

interface Taken {
  readonly message: IncomingMessage;
  readonly socket: Duplex;
  readonly head: Buffer;
}

async function takeOver(taken: Taken, folder: string): Promise<void> {
  const { message, socket } = taken;
  const left = new AbortController();
  socket.once("close", () => left.abort());
  try {
    await run(taken, replyTo(message, folder, left.signal), left.signal);
  } catch (error) {
    const { code = 500, message: text } = error as Error & { code?: number };
    if (socket.writable) socket.end(`HTTP/1.1 ${code} Refused\r\nContent-Length: ${text.length}\r\n\r\n${text}`);
  }
}

function replyTo(message: IncomingMessage, folder: string, signal: AbortSignal): ConnectReply {
  const { pathname, searchParams } = new URL(message.url ?? "/", "https://node");
  const upgrade = (message.headers.upgrade ?? "").toLowerCase();
  const call = { request: { upgrade, headers: message.headers }, signal } as unknown as Call;
  const [, kind, , , container = ""] = pathname.split("/");
  if (kind === "portForward") {
    const ports = (searchParams.get("port") ?? "").split(",").filter(Boolean).map(Number);
    return servePorts(call, ports, forward) as ConnectReply;
  }
  const isOn = (name: string) => searchParams.get(name) === "1";
  const streams = { stdin: isOn("input"), stdout: isOn("output"), stderr: isOn("error"), tty: isOn("tty") };
  const options = { container, ...streams, command: kind === "exec" ? searchParams.getAll("command") : ["cat"] };
  const pod = { kind: "Pod", apiVersion: "v1", metadata: {} };
  return serveCommand(call, { pod, container, options, run: (request) => runProgram(request, folder) }) as ConnectReply;
}

async function run(taken: Taken, reply: ConnectReply, signal: AbortSignal): Promise<void> {
  const delivery = { bytes: 0, error: undefined };
  if (reply.over === "upgrade") return runUpgraded(taken, reply, { status: 101, headers: {}, body: "" }, delivery);
  const offered = String(taken.message.headers["sec-websocket-protocol"] ?? "").split(",");
  const protocol = offered.map((name) => name.trim()).find((name) => reply.protocols.includes(name));
  if (protocol === undefined) throw Object.assign(new Error("no protocol"), { code: 403 });
  return runWebSocket(taken, reply, protocol, delivery, signal);
}

/** Writes until the reader is gone. */
async function flood({ stdout, signal }: CommandRequest): Promise<void> {
  const piece = Buffer.alloc(64 * 1024, "x");
  if (!stdout) return;
  await new Promise<void>((resolve) => {
    const go = (): void => {
      while (!signal.aborted && !stdout.destroyed && stdout.write(piece));
    };
    stdout.on("drain", go).once("close", resolve);
    signal.addEventListener("abort", () => resolve(), { once: true });
    go();
  });
}

/**
 * Runs a program of this machine. Some are built in: `size` prints changes of the terminal size, `mirror` echoes its
 * input, `flood` writes without end.
 */
async function runProgram(request: CommandRequest, folder: string): Promise<number> {
  const { command, stdin, stdout, stderr, signal } = request;
  const [program = "true", ...args] = command;
  if (program === "size") {
    const { promise, resolve } = Promise.withResolvers<void>();
    request.onResize(({ width, height }) => {
      stdout?.write(`${width}x${height}\n`);
      resolve();
    });
    await promise;
    return 0;
  }
  if (program === "mirror") {
    for await (const chunk of stdin ?? [])
      if (!stdout?.write(chunk)) await once(stdout ?? process, "drain", { signal });
    return 0;
  }
  if (program === "flood") {
    await flood(request);
    return 0;
  }
  const child = spawn(program, args, { cwd: folder, stdio: "pipe", signal });
  child.on("error", () => {});
  const code = new Promise<number>((resolve) => child.once("close", (status) => resolve(status ?? 137)));
  child.stdin.on("error", () => {});
  if (stdin) stdin.pipe(child.stdin);
  else child.stdin.end();
  const copies = [
    stdout && pipeline(child.stdout, stdout, { end: false }),
    stderr && pipeline(child.stderr, stderr, { end: false }),
  ];
  if (!stdout) child.stdout.resume();
  if (!stderr) child.stderr.resume();
  await Promise.allSettled(copies);
  return code;
}

/** A port of a pod is a port of this machine. */
async function forward(port: number, connection: Duplex): Promise<void> {
  const socket = connect({ port, host: "127.0.0.1", allowHalfOpen: true });
  await new Promise<void>((resolve, reject) => socket.once("connect", resolve).once("error", reject));
  await Promise.allSettled([pipeline(connection, socket), pipeline(socket, connection)]);
  socket.destroy();
}
