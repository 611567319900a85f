import { connect, createServer, type Server, type Socket } from "node:net";

/** A TCP proxy that can drop, hold back or delay the bytes of either side. */
export class TcpProxy {
  /** Delay of bytes in each direction. Bytes sent before a change keep their delay. */
  delayMs = 0;
  /** While true, bytes of the client are dropped. */
  dropsRequests = false;
  /** While true, bytes of the server are dropped. */
  dropsAnswers = false;
  /** How many bytes of the server have been forwarded since the last cut. */
  heardBytes = 0;
  /** How many bytes of clients were dropped. */
  droppedBytes = 0;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #port = 0;
  /** Pending forwards, in order, while nothing is forwarded. */
  #held: (() => void)[] | undefined;

  /** A function is called for the port of every connection. */
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

  /** Stops forwarding without closing connections, or forwards what was held back and continues. */
  hold(isHeld: boolean): void {
    const held = this.#held ?? [];
    this.#held = isHeld ? held : undefined;
    if (!isHeld) for (const send of held) send();
  }

  /** The port for clients. */
  get port(): number {
    return this.#port;
  }

  /** Listens on a free loopback port. */
  async listen(): Promise<void> {
    await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
    const address = this.#server.address();
    if (address !== null && typeof address === "object") this.#port = address.port;
  }

  /** Breaks all connections, and forwards normally from then on. */
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
    // Timers with the same delay fire in the order in which they were set.
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
