import type { Duplex } from "node:stream";
import type { JsonObject } from "../../../base/api/object.ts";
import type { StreamOptions } from "../options.ts";
import { SpdyConnection } from "../spdy/connection.ts";
import type { SpdyStream } from "../spdy/stream.ts";
import { type CommandSession, ResizeEvents, readSize, type TerminalSize } from "./session.ts";
import { plainStatus } from "./status.ts";

/** Supported stream protocol versions over SPDY. */
export const SPDY_COMMAND_PROTOCOLS: readonly string[] = [
  "v4.channel.k8s.io",
  "v3.channel.k8s.io",
  "v2.channel.k8s.io",
  "channel.k8s.io",
];

const MAX_LINE = 1000;

/** An exec or attach session over SPDY, with one stream per channel. */
export class SpdySession implements CommandSession {
  readonly #connection: SpdyConnection;
  readonly #streams: ReadonlyMap<string, SpdyStream>;
  readonly #protocol: string;
  readonly #resizes = new ResizeEvents();

  private constructor(connection: SpdyConnection, streams: ReadonlyMap<string, SpdyStream>, protocol: string) {
    this.#connection = connection;
    this.#streams = streams;
    this.#protocol = protocol;
    const resize = streams.get("resize");
    if (resize) readLines(resize, (line) => this.#resize(line));
  }

  /** Resolves when the client has opened all requested streams. Rejects if it disconnects before. */
  static async accept(socket: Duplex, protocol: string, options: StreamOptions): Promise<SpdySession> {
    const wanted = wantedStreams(options, protocol);
    const streams = new Map<string, SpdyStream>();
    const { promise, resolve } = Promise.withResolvers<void>();
    const onStream = (stream: SpdyStream): void => {
      const type = stream.headers.get("streamtype") ?? "";
      if (!wanted.has(type) || streams.has(type)) throw new Error(`unexpected stream of type ${type}`);
      streams.set(type, stream);
      if (streams.size === wanted.size) resolve();
    };
    const connection = new SpdyConnection(socket, { role: "server", onStream });
    const left = connection.closed.then(() => Promise.reject(new Error("client disconnected")));
    await Promise.race([promise, left]);
    left.catch(() => {});
    return new SpdySession(connection, streams, protocol);
  }

  get stdin(): SpdyStream | undefined {
    return this.#streams.get("stdin");
  }

  get stdout(): SpdyStream | undefined {
    return this.#streams.get("stdout");
  }

  get stderr(): SpdyStream | undefined {
    return this.#streams.get("stderr");
  }

  onResize(listener: (size: TerminalSize) => void): void {
    this.#resizes.listen(listener);
  }

  /** Resolves when the client has disconnected. */
  get closed(): Promise<void> {
    return this.#connection.closed;
  }

  async finish(status: JsonObject): Promise<void> {
    const errors = this.#streams.get("error");
    const text = this.#protocol === "v4.channel.k8s.io" ? JSON.stringify(status) : plainStatus(status);
    await ended(this.stdout);
    await ended(this.stderr);
    if (text !== "") errors?.write(text);
    await ended(errors);
  }

  #resize(line: string): void {
    const size = readSize(line);
    if (size) this.#resizes.emit(size);
  }
}

function wantedStreams({ stdin, stdout, stderr, tty }: StreamOptions, protocol: string): ReadonlySet<string> {
  const wanted = new Set(["error"]);
  if (stdin) wanted.add("stdin");
  if (stdout) wanted.add("stdout");
  if (stderr && !tty) wanted.add("stderr");
  const hasResize = protocol.startsWith("v3.") || protocol.startsWith("v4.");
  if (tty && hasResize) wanted.add("resize");
  return wanted;
}

function ended(stream: SpdyStream | undefined): Promise<void> {
  if (!stream || stream.destroyed || stream.writableFinished) return Promise.resolve();
  return new Promise((resolve) => {
    stream.once("close", resolve).end(resolve);
  });
}

function readLines(stream: SpdyStream, take: (line: string) => void): void {
  let rest = "";
  stream.setEncoding("utf8");
  stream.on("data", (text: string) => {
    const lines = (rest + text).split("\n");
    rest = (lines.pop() ?? "").slice(0, MAX_LINE);
    for (const line of lines) take(line);
  });
}
