import { rm } from "node:fs/promises";
import { createServer, type Server, type Socket } from "node:net";
import path from "node:path";
import { whileLocked } from "../../http/folder-lock.ts";
import type { Clock, Timer } from "../../lib/clock.ts";
import { connectTo } from "./connection.ts";
import { onMessage, type PlaneRequest, send } from "./messages.ts";

/** A control plane of one suite. */
export interface Plane {
  close(): Promise<void>;
}

/** Where a control plane tells what happens. */
export interface PlaneVoice {
  out(text: string): void;
  err(text: string): void;
}

/** How the shared process works. */
export interface HostOptions {
  /** Where launchers find it. */
  readonly address: string;
  /** Starts a control plane, or resolves to what its launcher is to exit with. */
  start(request: PlaneRequest, voice: PlaneVoice): Promise<Plane | number>;
  readonly clock: Clock;
  /** For so long it waits for another suite. */
  readonly idleMs: number;
}

/**
 * One process for the suites of a machine: each connection is a control plane of its own, and ends it when it closes. Resolves
 * when nobody has needed it for a while, or at once when another one is there already.
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

/** False: somebody listens there already. What one has left that is gone is removed. */
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
    await listen();
    return true;
  });
}

/** Resolves when the control plane of this connection, if there was one, has ended. */
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
