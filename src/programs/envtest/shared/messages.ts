import type { Socket } from "node:net";

/** A launcher's request for a control plane, which lasts as long as the connection. */
export interface PlaneRequest {
  /** The command line of kube-apiserver. */
  readonly args: readonly string[];
  /** Base of its relative paths. */
  readonly cwd: string;
  /** The values of BINNACLE_CONTROLLERS and BINNACLE_NODES. */
  readonly controllers: string | undefined;
  readonly nodes: string | undefined;
}

/** Messages of the shared process to a launcher: text to print, and finally the exit code. */
export type PlaneMessage = { readonly out: string } | { readonly err: string } | { readonly exit: number };

/** Maximum length of a message, which is one line. */
const MAX_LINE = 1024 * 1024;

/** Sends a message as a line of JSON. */
export function send(socket: Socket, message: PlaneRequest | PlaneMessage): void {
  if (socket.writable) socket.write(`${JSON.stringify(message)}\n`);
}

/** Calls `handle` for every message of the other side. A line that is too long or not JSON ends the connection. */
export function onMessage<T>(socket: Socket, handle: (message: T) => void): void {
  let rest = "";
  socket.setEncoding("utf8").on("data", (text: string) => {
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    try {
      if (rest.length > MAX_LINE) throw new Error("a line is too long");
      for (const line of lines) handle(JSON.parse(line) as T);
    } catch (error) {
      socket.destroy(error as Error);
    }
  });
}
