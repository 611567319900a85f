import { Duplex } from "node:stream";
import { finished } from "node:stream/promises";
import { badRequest, plainError } from "../../../base/api/api-error.ts";
import type { Call } from "../../../base/api/call.ts";
import type { WebSocketChannel } from "../../../base/api/channel.ts";
import type { ApiReply } from "../../../base/api/reply.ts";
import { runBounded } from "../handlers/bounded-writes.ts";
import type { PodHandlers } from "../handlers/handlers.ts";
import { chooseProtocol } from "../remote-command/serve-command.ts";
import { SpdyConnection } from "../spdy/connection.ts";
import type { SpdyStream } from "../spdy/stream.ts";
import { ChannelPorts } from "./channel-ports.ts";
import { TUNNEL_PREFIX } from "./tunnel.ts";

const PROTOCOL = "portforward.k8s.io";
const TUNNEL = `${TUNNEL_PREFIX}${PROTOCOL}`;
const CHANNELS: readonly string[] = ["v4.channel.k8s.io", "v4.base64.channel.k8s.io"];

type ServePort = NonNullable<PodHandlers["port"]>;

/** Serves port-forward with a handler function, over any of the client protocols. */
export function servePorts(call: Call, ports: readonly number[], serve: ServePort): ApiReply {
  const { request, signal } = call;
  if (request.upgrade === "websocket") {
    return {
      type: "connect",
      over: "websocket",
      protocols: ports.length === 0 ? [TUNNEL] : [TUNNEL, ...CHANNELS],
      async run(channel) {
        if (channel.protocol === TUNNEL) await servePortStreams(new ChannelBytes(channel), serve, signal);
        else await new ChannelPorts(channel, ports, serve, signal).run();
      },
    };
  }
  if (request.upgrade === "") throw badRequest("Upgrade request required");
  const protocol = chooseProtocol(request.headers["x-stream-protocol-version"], [PROTOCOL]);
  return {
    type: "connect",
    over: "upgrade",
    protocol: "SPDY/3.1",
    headers: { "x-stream-protocol-version": protocol },
    run: (connection) => servePortStreams(connection, serve, signal),
  };
}

/** The contents of WebSocket messages as a duplex stream. */
class ChannelBytes extends Duplex {
  readonly #messages: AsyncIterator<{ readonly data: Uint8Array; readonly isBinary: boolean }>;
  readonly #channel: WebSocketChannel;

  constructor(channel: WebSocketChannel) {
    super({ highWaterMark: 16 * 1024 });
    this.#channel = channel;
    this.#messages = channel.messages[Symbol.asyncIterator]();
  }

  override _read(): void {
    this.#messages.next().then(
      ({ done, value }) => this.push(done || !value.isBinary ? null : value.data),
      (error: Error) => this.destroy(error),
    );
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    this.#channel.send(chunk).then(() => done(), done);
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#channel.close();
    done(error);
  }
}

interface Pair {
  data?: SpdyStream;
  error?: SpdyStream;
}

/** Maximum number of connections that wait for their second stream. */
const MAX_PAIRS = 1000;

/**
 * Serves port-forward over SPDY until the client disconnects. Each connection has a data stream and an error stream
 * with the same `requestID`. Upstream: `httpStreamHandler`.
 */
export async function servePortStreams(socket: Duplex, serve: ServePort, signal: AbortSignal): Promise<void> {
  const pairs = new Map<string, Pair>();
  const onStream = (stream: SpdyStream): void => {
    const { headers } = stream;
    const type = headers.get("streamtype");
    const port = Number(headers.get("port"));
    if (!Number.isInteger(port) || port < 1 || port > 65_535) throw plainError(400, "unable to parse port");
    if (type !== "error" && type !== "data") throw plainError(400, `invalid stream type ${type}`);
    // Compat: without `requestID`, the error stream is the one opened right before the data stream.
    const id = headers.get("requestid") ?? String(type === "error" ? stream.id : stream.id - 2);
    const pair = pairs.get(id) ?? {};
    if (pairs.size >= MAX_PAIRS || pair[type]) throw plainError(400, "unable to pair streams");
    pair[type] = stream;
    pairs.set(id, pair);
    stream.once("close", () => pairs.delete(id));
    const { data, error } = pair;
    if (!data || !error) return;
    pairs.delete(id);
    setImmediate(() => void servePair(port, data, error, serve, signal));
  };
  const connection = new SpdyConnection(socket, { role: "server", onStream });
  const stop = (): void => connection.close();
  signal.addEventListener("abort", stop);
  await connection.closed;
  signal.removeEventListener("abort", stop);
}

async function servePair(
  port: number,
  data: SpdyStream,
  error: SpdyStream,
  serve: ServePort,
  signal: AbortSignal,
): Promise<void> {
  error.resume();
  try {
    await runBounded([data], signal, (own) => serve(port, data, own));
  } catch (failure) {
    const text = failure instanceof Error ? failure.message : String(failure);
    error.write(`error forwarding port ${port} to pod: ${text}`);
  }
  error.end();
  data.end();
  if (!data.readableEnded) data.resume();
  await finished(data).catch(() => {});
}
