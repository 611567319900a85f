import tls from "node:tls";
import { FrameConnection } from "./frame-connection.ts";
import { FrameReader } from "./frames.ts";
import { openSocket } from "./socket.ts";
import { type Connection, type ConnectOptions, GrpcError, grpcStatus } from "./transport.ts";

/**
 * Connects with our own small HTTP/2 client, for trusted servers. A call takes about a third of the time of Node's
 * client: request headers are constant bytes, responses need no dynamic table, and all calls of one turn of the event
 * loop are sent in one write.
 */
export function connectFrames(options: ConnectOptions): Promise<Connection> {
  return new Promise((resolve, reject) => {
    const reader = new FrameReader();
    let connection: FrameConnection | undefined;
    const socket = openSocket(options, {
      buffer: () => reader.room,
      callback: (count) => {
        connection?.receive(count);
        return true;
      },
    });
    let failure: unknown;
    const timer = setTimeout(() => socket.destroy(new Error("connecting timed out")), options.timeoutMs);
    const stop = () => socket.destroy(new Error("aborted"));
    options.signal.addEventListener("abort", stop);
    socket.once("error", (error) => {
      failure = error;
    });
    socket.once("close", () => {
      clearTimeout(timer);
      options.signal.removeEventListener("abort", stop);
      const message = `cannot connect to ${options.url.host}: ${failure instanceof Error ? failure.message : "closed"}`;
      reject(new GrpcError(grpcStatus.unavailable, message, { mayHaveHappened: false, cause: failure }));
    });
    socket.once(socket instanceof tls.TLSSocket ? "secureConnect" : "connect", () => {
      if (socket instanceof tls.TLSSocket && socket.alpnProtocol !== "h2") {
        socket.destroy(new Error("the server does not speak HTTP/2"));
        return;
      }
      const opened = new FrameConnection(socket, reader, options, () => {
        clearTimeout(timer);
        resolve(opened);
      });
      connection = opened;
    });
  });
}
