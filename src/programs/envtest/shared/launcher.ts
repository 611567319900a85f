import type { Socket } from "node:net";
import type { Clock } from "../../../base/util/clock.ts";
import { connectTo } from "./connection.ts";
import { onMessage, type PlaneMessage, type PlaneRequest, send } from "./messages.ts";

/** What a launcher needs to run its control plane in the shared process. */
export interface LauncherOptions {
  readonly address: string;
  readonly request: PlaneRequest;
  /** Starts the shared process; other launchers may do so concurrently. */
  startHost(): void;
  readonly voice: { out(text: string): void; err(text: string): void };
  /** Resolves when the control plane must stop. */
  readonly stopped: Promise<unknown>;
  readonly clock: Clock;
}

const LOOK_EVERY_MS = 10;
const PATIENCE_MS = 20_000;

/** Runs a control plane in the shared process until `stopped`. Resolves to the exit code of this process. */
export async function runInHost(options: LauncherOptions): Promise<number> {
  const { request, voice, stopped } = options;
  const socket = await reach(options);
  const { promise, resolve } = Promise.withResolvers<number>();
  onMessage<PlaneMessage>(socket, (message) => {
    if ("out" in message) voice.out(message.out);
    else if ("err" in message) voice.err(message.err);
    else resolve(message.exit);
  });
  // A close without an exit message: the shared process is gone.
  for (const event of ["close", "error"]) socket.once(event, () => resolve(1));
  send(socket, request);
  void stopped.then(() => socket.end());
  const code = await promise;
  socket.destroy();
  return code;
}

async function reach({ address, startHost, clock }: LauncherOptions): Promise<Socket> {
  const first = await connectTo(address);
  if (first) return first;
  startHost();
  for (const since = clock.monotonic(); clock.monotonic() - since < PATIENCE_MS; ) {
    await clock.sleep(LOOK_EVERY_MS);
    const socket = await connectTo(address);
    if (socket) return socket;
  }
  throw new Error(`the process that suites share does not answer at ${address}`);
}
