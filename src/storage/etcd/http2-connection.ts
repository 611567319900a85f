import http2 from "node:http2";
import { KeepAlive } from "./keep-alive.ts";
import { openSocket } from "./socket.ts";
import {
  type Connection,
  type ConnectOptions,
  frameMessage,
  GrpcError,
  grpcStatus,
  MessageSplitter,
  type MessageStream,
  statusError,
} from "./transport.ts";

const STREAM_WINDOW_BYTES = 4 * 1024 * 1024;
const CONNECTION_WINDOW_BYTES = 64 * 1024 * 1024;

/** Connects with Node's HTTP/2 client. */
export function connectHttp2(options: ConnectOptions): Promise<Connection> {
  const session = http2.connect(options.url, {
    settings: { enablePush: false, initialWindowSize: STREAM_WINDOW_BYTES },
    createConnection: () => openSocket(options),
  });
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => session.destroy(new Error("connecting timed out")), options.timeoutMs);
    const stop = () => session.destroy(new Error("aborted"));
    options.signal.addEventListener("abort", stop);
    let failure: unknown;
    session.once("error", (error) => {
      failure = error;
    });
    session.once("close", () => {
      clearTimeout(timer);
      options.signal.removeEventListener("abort", stop);
      const message = `cannot connect to ${options.url.host}: ${failure instanceof Error ? failure.message : "closed"}`;
      reject(new GrpcError(grpcStatus.unavailable, message, { mayHaveHappened: false, cause: failure }));
    });
    // A TCP connection is not enough: only an HTTP/2 server sends settings.
    session.once("remoteSettings", () => {
      clearTimeout(timer);
      session.setLocalWindowSize(CONNECTION_WINDOW_BYTES);
      resolve(new Http2Connection(session, options));
    });
  });
}

class Http2Connection implements Connection {
  readonly #session: http2.ClientHttp2Session;
  readonly #keepAlive: KeepAlive;
  #isLost = false;
  /** From GOAWAY: streams above this id were not processed. */
  #lastAccepted = Number.POSITIVE_INFINITY;

  constructor(session: http2.ClientHttp2Session, options: ConnectOptions) {
    this.#session = session;
    session.on("error", () => {
      this.#isLost = true;
    });
    session.on("close", () => {
      this.#isLost = true;
      this.#keepAlive.close();
    });
    session.on("goaway", (_code, lastAccepted) => {
      this.#isLost = true;
      this.#lastAccepted = lastAccepted;
    });
    this.#keepAlive = new KeepAlive({
      intervalMs: options.pingIntervalMs,
      timeoutMs: options.pingTimeoutMs,
      ping: () => session.ping(() => this.#keepAlive.answered()),
      lost: () => session.destroy(new Error("ping not answered")),
    });
  }

  get isLost(): boolean {
    return this.#isLost || this.#session.closed || this.#session.destroyed;
  }

  get isClosed(): boolean {
    return this.#session.destroyed;
  }

  unary(path: string, request: Uint8Array, timeoutMs: number): Promise<Uint8Array> {
    return new Promise((resolve, reject) => {
      const call = this.#request(path, false);
      const splitter = new MessageSplitter();
      const timer = setTimeout(() => {
        reject(new GrpcError(grpcStatus.deadlineExceeded, `no answer to ${path} within ${timeoutMs} ms`));
        call.stream.close(http2.constants.NGHTTP2_CANCEL);
      }, timeoutMs);
      call.stream.on("data", (chunk: Buffer) => splitter.push(chunk));
      call.stream.on("close", () => {
        clearTimeout(timer);
        try {
          const failure = call.failure();
          if (failure !== undefined) throw failure;
          const message = splitter.next();
          if (message === undefined) throw new GrpcError(grpcStatus.internal, "the server sent no message");
          resolve(message);
        } catch (error) {
          reject(error);
        }
      });
      call.stream.end(frameMessage(request));
    });
  }

  stream(path: string): MessageStream {
    const call = this.#request(path, true);
    const { stream } = call;
    let canceled = false;
    async function* receive(): AsyncGenerator<Uint8Array> {
      const splitter = new MessageSplitter();
      try {
        for await (const chunk of stream) {
          splitter.push(chunk as Buffer);
          for (let message = splitter.next(); message !== undefined; message = splitter.next()) yield message;
        }
      } catch (error) {
        if (error instanceof GrpcError) throw error;
      } finally {
        stream.close(http2.constants.NGHTTP2_CANCEL);
      }
      const failure = call.failure();
      if (failure !== undefined && !canceled) throw failure;
    }
    return {
      write: (message) => {
        if (!stream.writableEnded && !stream.destroyed) stream.write(frameMessage(message));
      },
      messages: receive(),
      check: () => this.check(),
      cancel: () => {
        canceled = true;
        stream.close(http2.constants.NGHTTP2_CANCEL);
      },
    };
  }

  check(): void {
    if (!this.#session.destroyed) this.#keepAlive.check();
  }

  drain(): void {
    this.#isLost = true;
    this.#session.close();
  }

  destroy(): void {
    this.#isLost = true;
    this.#session.destroy();
  }

  #request(
    path: string,
    requireLeader: boolean,
  ): { stream: http2.ClientHttp2Stream; failure: () => GrpcError | undefined } {
    if (this.isLost) throw new GrpcError(grpcStatus.unavailable, "connection lost", { mayHaveHappened: false });
    const stream = this.#openStream({
      ":method": "POST",
      ":path": path,
      "content-type": "application/grpc",
      te: "trailers",
      ...(requireLeader ? { hasleader: "true" } : undefined),
    });
    let status: http2.IncomingHttpHeaders = {};
    let cause: unknown;
    // A response without a body carries its status in the first header block.
    stream.on("response", (headers) => {
      status = headers;
    });
    stream.on("trailers", (trailers) => {
      status = trailers;
    });
    stream.on("error", (error) => {
      cause = error;
    });
    const failure = () => {
      const code = status["grpc-status"];
      if (code !== undefined) return statusError(String(code), String(status["grpc-message"] ?? ""));
      const refused =
        stream.rstCode === http2.constants.NGHTTP2_REFUSED_STREAM || (stream.id ?? 0) > this.#lastAccepted;
      return new GrpcError(grpcStatus.unavailable, "connection lost", { mayHaveHappened: !refused, cause });
    };
    return { stream, failure };
  }

  #openStream(headers: http2.OutgoingHttpHeaders): http2.ClientHttp2Stream {
    try {
      return this.#session.request(headers);
    } catch (cause) {
      // For example, stream ids are used up after a day of heavy use; the next connection starts over.
      this.drain();
      throw new GrpcError(grpcStatus.unavailable, "no further call possible", { mayHaveHappened: false, cause });
    }
  }
}
