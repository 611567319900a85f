import { connect, createServer, type Server, type Socket } from "node:net";

/** A TCP relay in front of a server: it can break all connections, and clients may hear everything late. */
export class Relay {
  /** How many bytes of the server have been passed on since the last cut. */
  heard = 0;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #port = 0;

  constructor(targetPort: number, delayMs = 0) {
    this.#server = createServer((client) => {
      const upstream = connect(targetPort, "127.0.0.1");
      this.#track(client, upstream);
      this.#track(upstream, client);
      const pass = (chunk: Buffer) => {
        this.heard += chunk.length;
        if (!client.destroyed) client.write(chunk);
      };
      client.on("data", (chunk) => upstream.write(chunk));
      upstream.on("data", (chunk) => (delayMs === 0 ? pass(chunk) : setTimeout(pass, delayMs, chunk)));
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

  /** Breaks all connections, also in the middle of a line. */
  cut(): void {
    for (const socket of this.#sockets) socket.destroy();
    this.heard = 0;
  }

  /** Breaks all connections and stops listening. */
  async close(): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve));
    this.cut();
    await closed;
  }

  #track(socket: Socket, peer: Socket): void {
    this.#sockets.add(socket);
    socket.on("error", () => undefined);
    socket.on("close", () => {
      this.#sockets.delete(socket);
      peer.destroy();
    });
  }
}
