import { connect, createServer, type Server, type Socket } from "node:net";

/** A TCP relay whose clients hear everything some time after the server said it. */
export class LateRelay {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #port = 0;

  constructor(targetPort: number, delayMs: number) {
    this.#server = createServer((client) => {
      const upstream = connect(targetPort, "127.0.0.1");
      for (const [socket, peer] of [
        [client, upstream],
        [upstream, client],
      ] as const) {
        this.#sockets.add(socket);
        socket.on("error", () => undefined);
        socket.on("close", () => {
          this.#sockets.delete(socket);
          peer.destroy();
        });
      }
      client.on("data", (chunk) => upstream.write(chunk));
      upstream.on("data", (chunk) => setTimeout(() => client.destroyed || client.write(chunk), delayMs));
    });
  }

  /** Where clients connect to. */
  get port(): number {
    return this.#port;
  }

  /** Starts to listen on a free loopback port. */
  async listen(): Promise<void> {
    await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
    const address = this.#server.address();
    if (address !== null && typeof address === "object") this.#port = address.port;
  }

  /** Breaks all connections and stops listening. */
  async close(): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve));
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }
}
