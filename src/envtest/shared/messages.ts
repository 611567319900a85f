import type { Socket } from "node:net";

/** What a launcher asks of the shared process: a control plane, for as long as the connection lasts. */
export interface PlaneRequest {
  /** The command line of kube-apiserver. */
  readonly args: readonly string[];
  /** Where its relative paths begin. */
  readonly cwd: string;
  readonly controllers: string | undefined;
}

/** What the shared process tells a launcher: what to print, and in the end what to exit with. */
export type PlaneMessage = { readonly out: string } | { readonly err: string } | { readonly exit: number };

/** A line is a message. Longer ones are no messages. */
const MAX_LINE = 1024 * 1024;

/** Sends a message as a line of JSON. */
export function send(socket: Socket, message: PlaneRequest | PlaneMessage): void {
  if (socket.writable) socket.write(`${JSON.stringify(message)}\n`);
}

/** Hears every message of the other side. A line that is too long, or no JSON, ends the connection. */
export function onMessage<T>(socket: Socket, hear: (message: T) => void): void {
  let rest = "";
  socket.setEncoding("utf8").on("data", (text: string) => {
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    try {
      if (rest.length > MAX_LINE) throw new Error("a line is too long");
      for (const line of lines) hear(JSON.parse(line) as T);
    } catch (error) {
      socket.destroy(error as Error);
    }
  });
}
