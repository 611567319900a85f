import { connect, type TLSSocket } from "node:tls";
import { token } from "./support.ts";

/** A request as bytes, ready to be sent. */
export type RequestBytes = Buffer;

/** A response. `text` is empty if the body is long. */
export interface ShortAnswer {
  readonly status: number;
  readonly text: string;
}

/** Longer bodies are counted, not kept. */
const KEPT_BYTES = 64 * 1024;

/** The end of a chunked body. No other part of it looks like this: bodies are JSON, in which no carriage return occurs. */
const END = "0\r\n\r\n";

/** Writes a request of HTTP/1.1. */
export function requestBytes(
  method: string,
  path: string,
  body = "",
  contentType = "application/json",
  headers: Readonly<Record<string, string>> = {},
): RequestBytes {
  const fields = Object.entries({
    Host: "127.0.0.1",
    Authorization: `Bearer ${token}`,
    Accept: "application/json",
    "User-Agent": "binnacle-bench",
    ...(body === "" ? {} : { "Content-Type": contentType, "Content-Length": String(Buffer.byteLength(body)) }),
    ...headers,
  });
  const head = fields.map(([name, value]) => `${name}: ${value}\r\n`).join("");
  return Buffer.from(`${method} ${path} HTTP/1.1\r\n${head}\r\n${body}`);
}

/**
 * A connection that sends one request at a time. It costs a fraction of Node's client, so that the client leaves the
 * processor to the server that is measured.
 */
export class Connection {
  readonly #socket: TLSSocket;
  #settle: PromiseWithResolvers<ShortAnswer> | undefined;
  #chunks: Buffer[] = [];
  #size = 0;
  /** Of the whole answer; undefined until the head is there, and for chunked bodies. */
  #expected: number | undefined;
  #isChunked = false;
  /** The last characters, which may come in two pieces. */
  #tail = "";

  private constructor(socket: TLSSocket) {
    this.#socket = socket;
    socket.on("data", (chunk: Buffer) => this.#take(chunk));
    socket.on("error", (error) => this.#settle?.reject(error));
    socket.on("close", () => this.#settle?.reject(new Error("the server closed the connection")));
  }

  static open(base: string): Promise<Connection> {
    const { hostname, port } = new URL(base);
    return new Promise((resolve, reject) => {
      const socket = connect({ host: hostname, port: Number(port), rejectUnauthorized: false });
      socket.setNoDelay(true);
      socket.once("error", reject);
      socket.once("secureConnect", () => {
        socket.off("error", reject);
        resolve(new Connection(socket));
      });
    });
  }

  send(request: RequestBytes): Promise<ShortAnswer> {
    if (this.#socket.destroyed) throw new Error("the server has closed the connection");
    this.#settle = Promise.withResolvers();
    this.#socket.write(request);
    return this.#settle.promise;
  }

  /** Sends the request of a watch and calls back for each line of its answer. */
  watch(request: RequestBytes, onLines: (count: number) => void): void {
    this.#socket.removeAllListeners("data");
    this.#socket.on("data", (chunk: Buffer) => {
      let count = 0;
      // Every event ends with a line feed that no carriage return precedes.
      for (let at = chunk.indexOf(10); at >= 0; at = chunk.indexOf(10, at + 1)) if (chunk[at - 1] !== 13) count++;
      if (count > 0) onLines(count);
    });
    this.#socket.write(request);
  }

  close(): void {
    this.#settle = undefined;
    this.#socket.destroy();
  }

  #take(chunk: Buffer): void {
    this.#size += chunk.length;
    if (this.#size <= KEPT_BYTES || this.#chunks.length === 0) this.#chunks.push(chunk);
    if (this.#expected === undefined && !this.#isChunked) this.#readHead();
    this.#tail = (this.#tail + chunk.toString("latin1", Math.max(0, chunk.length - END.length))).slice(-END.length);
    const isOver = this.#isChunked ? this.#tail === END : this.#size === this.#expected;
    if (!isOver) return;
    const text = Buffer.concat(this.#chunks).toString("latin1");
    const answer = { status: Number(text.slice(9, 12)), text: this.#size <= KEPT_BYTES ? text : "" };
    this.#chunks = [];
    this.#size = 0;
    this.#expected = undefined;
    this.#isChunked = false;
    this.#settle?.resolve(answer);
  }

  #readHead(): void {
    const text = Buffer.concat(this.#chunks).toString("latin1");
    const end = text.indexOf("\r\n\r\n");
    if (end < 0) return;
    const head = text.slice(0, end).toLowerCase();
    this.#isChunked = head.includes("transfer-encoding: chunked");
    if (!this.#isChunked) this.#expected = end + 4 + Number(/content-length: (\d+)/.exec(head)?.[1] ?? 0);
  }
}
