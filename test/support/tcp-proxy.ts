import { connect, createServer, type Server, type Socket } from "node:net";

/** A TCP relay in front of a server that can lose what either side says. */
export class TcpProxy {
  /** While true, bytes of the client are read and thrown away. */
  dropsRequests = false;
  /** While true, bytes of the server are read and thrown away. */
  dropsAnswers = false;
  /** How many bytes of clients were thrown away. */
  droppedBytes = 0;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #port = 0;

  constructor(targetPort: number) {
    this.#server = createServer((client) => {
      const upstream = connect(targetPort, "127.0.0.1");
      this.#track(client, upstream);
      this.#track(upstream, client);
      client.on("data", (chunk) => {
        if (this.dropsRequests) this.droppedBytes += chunk.length;
        else upstream.write(chunk);
      });
      upstream.on("data", (chunk) => this.dropsAnswers || client.write(chunk));
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

  /** Breaks all connections at once and relays faithfully from then on. */
  cut(): void {
    for (const socket of this.#sockets) socket.destroy();
    this.dropsRequests = false;
    this.dropsAnswers = false;
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
