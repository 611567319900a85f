import { connect, createServer, type Server, type Socket } from "node:net";

/** A TCP relay in front of a server that can lose, hold back or delay what either side says. */
export class TcpProxy {
  /** How long bytes are under way in each direction. Those that were sent before it was changed keep their time. */
  delayMs = 0;
  /** While true, bytes of the client are read and thrown away. */
  dropsRequests = false;
  /** While true, bytes of the server are read and thrown away. */
  dropsAnswers = false;
  /** How many bytes of the server have been passed on since the last cut. */
  heardBytes = 0;
  /** How many bytes of clients were thrown away. */
  droppedBytes = 0;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #port = 0;
  /** What waits to go on, in order, while nothing is forwarded. */
  #held: (() => void)[] | undefined;

  /** A function is asked for the port of every connection. */
  constructor(targetPort: number | (() => number)) {
    this.#server = createServer((client) => {
      const upstream = connect(typeof targetPort === "number" ? targetPort : targetPort(), "127.0.0.1");
      this.#track(client, upstream);
      this.#track(upstream, client);
      client.on("data", (chunk) => {
        if (this.dropsRequests) this.droppedBytes += chunk.length;
        else this.#forward(upstream, chunk);
      });
      upstream.on("data", (chunk) => {
        if (this.dropsAnswers) return;
        this.heardBytes += chunk.length;
        this.#forward(client, chunk);
      });
    });
  }

  /** Stops to forward anything, without closing a connection, or sends what has been held back and goes on. */
  hold(isHeld: boolean): void {
    const held = this.#held ?? [];
    this.#held = isHeld ? held : undefined;
    if (!isHeld) for (const send of held) send();
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
    this.heardBytes = 0;
    this.dropsRequests = false;
    this.dropsAnswers = false;
    this.#held = undefined;
  }

  /** Breaks all connections and stops listening. */
  async close(): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve));
    this.cut();
    await closed;
  }

  #forward(target: Socket, chunk: Buffer): void {
    const send = (): void => {
      if (this.#held !== undefined) this.#held.push(send);
      else if (!target.destroyed) target.write(chunk);
    };
    // Timers of equal length fire in the order in which they were set.
    if (this.delayMs > 0) setTimeout(send, this.delayMs);
    else send();
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
