import { rm } from "node:fs/promises";
import { createServer, type Server, type Socket } from "node:net";
import path from "node:path";
import { whileLocked } from "../../../base/files/folder-lock.ts";
import type { Clock, Timer } from "../../../base/util/clock.ts";
import { connectTo } from "./connection.ts";
import { onMessage, type PlaneRequest, send } from "./messages.ts";

/** A control plane of one suite. */
export interface Plane {
  close(): Promise<void>;
}

/** Output of a control plane. */
export interface PlaneVoice {
  out(text: string): void;
  err(text: string): void;
}

/** Options of the shared process. */
export interface HostOptions {
  /** The socket that launchers connect to. */
  readonly address: string;
  /** Starts a control plane, or resolves to the exit code of its launcher. */
  start(request: PlaneRequest, voice: PlaneVoice): Promise<Plane | number>;
  readonly clock: Clock;
  /** How long the process waits for another suite before it ends. */
  readonly idleMs: number;
}

/**
 * One process for all suites of a machine: each connection has its own control plane, which ends with the connection.
 * Resolves after `idleMs` without connections, or at once if another shared process is running.
 */
export async function runHost({ address, start, clock, idleMs }: HostOptions): Promise<void> {
  const idle = Promise.withResolvers<void>();
  let connections = 0;
  let timer: Timer | undefined;
  const count = (by: number): void => {
    connections += by;
    timer?.close();
    timer = connections === 0 ? clock.setTimer(idleMs, idle.resolve) : undefined;
  };
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    count(1);
    void serve(socket, start).finally(() => count(-1));
  });
  if (!(await listenAlone(server, address))) return;
  count(0);
  await idle.promise;
  server.close();
}

/** Returns false if another process listens there. Removes the socket of a process that is gone. */
async function listenAlone(server: Server, address: string): Promise<boolean> {
  const listen = () =>
    new Promise<void>((resolve, reject) => {
      server.once("error", reject).listen(address, resolve);
    });
  if (process.platform === "win32")
    return listen().then(
      () => true,
      () => false,
    );
  return whileLocked(path.dirname(address), async () => {
    const other = await connectTo(address);
    other?.destroy();
    if (other) return false;
    await rm(address, { force: true });
    // The socket is created synchronously: it is never accessible to other users, whatever the umask is.
    const before = process.umask(0o177);
    const listening = listen();
    process.umask(before);
    await listening;
    return true;
  });
}

/** Resolves when the control plane of this connection, if any, has ended. */
async function serve(socket: Socket, start: HostOptions["start"]): Promise<void> {
  const ended = new Promise<void>((resolve) => {
    for (const event of ["end", "close", "error"]) socket.once(event, () => resolve());
  });
  const request = new Promise<PlaneRequest | undefined>((resolve) => {
    onMessage<PlaneRequest>(socket, resolve);
    void ended.then(() => resolve(undefined));
  });
  const asked = await request;
  if (asked === undefined) return void socket.destroy();
  const voice = { out: (out: string) => send(socket, { out }), err: (err: string) => send(socket, { err }) };
  const plane = await start(asked, voice).catch((error: unknown) => {
    voice.err(`kube-apiserver: ${error instanceof Error ? error.message : String(error)}\n`);
    return 1;
  });
  if (typeof plane === "number") {
    send(socket, { exit: plane });
  } else {
    await ended;
    await plane.close();
    send(socket, { exit: 0 });
  }
  socket.end();
}
