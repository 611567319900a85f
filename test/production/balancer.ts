import { once } from "node:events";
import { request } from "node:https";
import { connect, createServer, type Server, type Socket } from "node:net";

/** One of those that connections are given to. */
export interface Backend {
  readonly address: string;
  readonly port: number;
}

interface Tracked extends Backend {
  isReady: boolean;
  connections: number;
}

const LOOK_EVERY_MS = 250;

/**
 * A balancer of TCP connections: each goes to the replica with the fewest of those whose /readyz answers 200. It reads
 * nothing of what passes: TLS is between clients and replicas. Open connections stay when a replica is not ready any more.
 */
export class Balancer {
  readonly #backends: Tracked[];
  readonly #authority: string;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #timer: NodeJS.Timeout | undefined;
  /** How many connections no backend took. */
  refused = 0;

  constructor(backends: readonly Backend[], authority: string) {
    this.#backends = backends.map((backend) => ({ ...backend, isReady: false, connections: 0 }));
    this.#authority = authority;
    this.#server = createServer((client) => this.#take(client));
  }

  async listen(address: string, port: number): Promise<void> {
    this.#server.listen(port, address);
    await once(this.#server, "listening");
    await this.#look();
    this.#timer = setInterval(() => void this.#look(), LOOK_EVERY_MS);
  }

  /** The addresses of those that get connections now. */
  get ready(): string[] {
    return this.#backends.filter(({ isReady }) => isReady).map(({ address }) => address);
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    const closed = new Promise((resolve) => this.#server.close(resolve));
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }

  async #look(): Promise<void> {
    await Promise.all(
      this.#backends.map(async (backend) => {
        backend.isReady = await this.#isReady(backend);
      }),
    );
  }

  #isReady({ address, port }: Backend): Promise<boolean> {
    return new Promise((resolve) => {
      const options = { host: address, port, path: "/readyz", ca: this.#authority, agent: false, timeout: 2000 };
      const call = request(options, (response) => {
        response.resume();
        resolve(response.statusCode === 200);
      });
      call.on("timeout", () => call.destroy(new Error("no answer")));
      call.on("error", () => resolve(false));
      call.end();
    });
  }

  #take(client: Socket, tried: readonly Tracked[] = []): void {
    this.#track(client);
    const candidates = this.#backends.filter((backend) => backend.isReady && !tried.includes(backend));
    const [chosen] = candidates.toSorted((a, b) => a.connections - b.connections);
    if (chosen === undefined) {
      this.refused++;
      client.destroy();
      return;
    }
    const { address: host, port } = chosen;
    const upstream = connect({ host, port, noDelay: true });
    this.#track(upstream);
    let isConnected = false;
    upstream.once("connect", () => {
      isConnected = true;
      chosen.connections++;
      client.setNoDelay(true);
      client.pipe(upstream).pipe(client);
      client.once("close", () => upstream.destroy());
    });
    upstream.once("close", (hadError) => {
      if (isConnected) chosen.connections--;
      // What was received before the end still goes out: `pipe` ends the client after it.
      if (isConnected) hadError && client.destroy();
      else if (!client.destroyed) this.#take(client, [...tried, chosen]);
    });
  }

  #track(socket: Socket): void {
    if (this.#sockets.has(socket)) return;
    this.#sockets.add(socket);
    socket.on("error", () => undefined);
    socket.once("close", () => this.#sockets.delete(socket));
  }
}
