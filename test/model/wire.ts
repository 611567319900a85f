import { Agent, type IncomingMessage, request } from "node:http";
import { linesOf } from "../support/lines-of.ts";

/** An object as far as these tests look at it. */
export interface Thing {
  readonly metadata: {
    readonly name: string;
    readonly namespace: string;
    readonly uid: string;
    readonly resourceVersion: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly data?: Readonly<Record<string, string>>;
}

/** The body of an answer, as far as these tests look at it. */
export interface Body {
  readonly code?: number;
  readonly reason?: string;
  readonly message?: string;
  readonly metadata?: {
    readonly resourceVersion?: string;
    readonly continue?: string;
    readonly remainingItemCount?: number;
  };
  readonly items?: readonly Thing[];
}

/** One answer. */
export interface Answer {
  readonly status: number;
  readonly body: Body;
}

/** One line of a watch. */
export type WireEvent =
  | { readonly type: "ADDED" | "MODIFIED" | "DELETED" | "BOOKMARK"; readonly object: Thing }
  | { readonly type: "ERROR"; readonly object: Body };

/** Talks plain HTTP to one server, which does not ask for credentials there. Connections are kept. */
export class Wire {
  readonly base: string;
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 64 });

  constructor(base: string) {
    this.base = base;
  }

  /** Rejects when no whole answer came: what was asked for may or may not have happened. */
  async call(method: string, path: string, body?: unknown): Promise<Answer> {
    const response = await this.#open(method, path, { body, agent: this.#agent });
    const text = Buffer.concat(await response.toArray()).toString();
    return { status: response.statusCode ?? 0, body: JSON.parse(text) as Body };
  }

  /** The resourceVersion that a list of this moment has. */
  async newest(): Promise<number> {
    const { body } = await this.call("GET", "/api/v1/configmaps?limit=1");
    return Number(body.metadata?.resourceVersion);
  }

  /** Opens a watch on a connection of its own. A refusal is given as its ERROR event. */
  async watch(path: string): Promise<WatchConnection> {
    const response = await this.#open("GET", path, { agent: false });
    if (response.statusCode === 200) return new WatchConnection(response);
    const text = Buffer.concat(await response.toArray()).toString();
    return new WatchConnection(response, { type: "ERROR", object: JSON.parse(text) as Body });
  }

  /** Closes idle connections. */
  close(): void {
    this.#agent.destroy();
  }

  #open(method: string, path: string, options: { body?: unknown; agent: Agent | false }): Promise<IncomingMessage> {
    const payload = options.body === undefined ? undefined : Buffer.from(JSON.stringify(options.body));
    return new Promise((resolve, reject) => {
      // The length is not optional: for DELETE, Node would send the body without saying that there is one.
      const headers = payload && { "content-type": "application/json", "content-length": payload.length };
      const outgoing = request(this.base + path, { method, headers, agent: options.agent, timeout: 30_000 }, resolve);
      outgoing.on("timeout", () => outgoing.destroy(new Error("no answer in 30 s")));
      outgoing.on("error", reject);
      outgoing.end(payload);
    });
  }
}

/** An open watch, read by one consumer at its own pace: what is not read stays in the socket. */
export class WatchConnection {
  readonly #response: IncomingMessage;
  readonly #refusal: WireEvent | undefined;
  #isCut = false;

  constructor(response: IncomingMessage, refusal?: WireEvent) {
    this.#response = response;
    this.#refusal = refusal;
    response.socket.setTimeout(0);
  }

  /** Breaks the connection. Whatever was under way is lost. */
  cut(): void {
    this.#isCut = true;
    this.#response.destroy();
  }

  /** Events up to the end of the stream, whether the server or a broken connection ends it. A torn line is dropped. */
  async *events(): AsyncGenerator<WireEvent> {
    if (this.#refusal !== undefined) {
      yield this.#refusal;
      return;
    }
    try {
      for await (const line of linesOf(this.#response)) {
        if (this.#isCut) return;
        yield JSON.parse(line) as WireEvent;
      }
    } catch (error) {
      const code = (error as NodeJS.ErrnoException).code ?? "";
      if (!this.#isCut && code !== "ECONNRESET" && code !== "ERR_STREAM_PREMATURE_CLOSE") throw error;
    }
  }
}
