import { Agent, type IncomingMessage, request } from "node:http";
import { linesOf } from "../support/lines-of.ts";

/** The fields of an object that these tests use. */
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

/** The fields of a response that these tests use. */
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

/** One response. */
export interface Answer {
  readonly status: number;
  readonly body: Body;
}

/** One line of a watch. */
export type WireEvent =
  | { readonly type: "ADDED" | "MODIFIED" | "DELETED" | "BOOKMARK"; readonly object: Thing }
  | { readonly type: "ERROR"; readonly object: Body };

/** Sends plain HTTP to one server, which needs no credentials. Connections are reused. */
export class Wire {
  readonly base: string;
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 64 });

  constructor(base: string) {
    this.base = base;
  }

  /** Rejects if the response was incomplete: the request may or may not have been executed. */
  async call(method: string, path: string, body?: unknown): Promise<Answer> {
    const response = await this.#open(method, path, { body, agent: this.#agent });
    const text = Buffer.concat(await response.toArray()).toString();
    return { status: response.statusCode ?? 0, body: JSON.parse(text) as Body };
  }

  /** The resourceVersion of a list now. */
  async newest(): Promise<number> {
    const { body } = await this.call("GET", "/api/v1/configmaps?limit=1");
    return Number(body.metadata?.resourceVersion);
  }

  /** Opens a watch on a separate connection. A rejection becomes its ERROR event. */
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
      // The length is required: for DELETE, Node would send the body without announcing it.
      const headers = payload && { "content-type": "application/json", "content-length": payload.length };
      const outgoing = request(this.base + path, { method, headers, agent: options.agent, timeout: 30_000 }, resolve);
      outgoing.on("timeout", () => outgoing.destroy(new Error("no answer in 30 s")));
      outgoing.on("error", reject);
      outgoing.end(payload);
    });
  }
}

/** An open watch with one consumer at its own pace: unread events stay in the socket. */
export class WatchConnection {
  readonly #response: IncomingMessage;
  readonly #refusal: WireEvent | undefined;
  #isCut = false;

  constructor(response: IncomingMessage, refusal?: WireEvent) {
    this.#response = response;
    this.#refusal = refusal;
    response.socket.setTimeout(0);
  }

  /** Breaks the connection. Data in transit is lost. */
  cut(): void {
    this.#isCut = true;
    this.#response.destroy();
  }

  /** Events up to the end of the stream, by the server or by a broken connection. An incomplete line is dropped. */
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
