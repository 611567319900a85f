import type { Server as HttpServer, IncomingMessage, ServerOptions, ServerResponse } from "node:http";
import http2, { type Http2Session, type IncomingHttpHeaders, type ServerHttp2Stream } from "node:http2";
import type { AddressInfo, Server, Socket } from "node:net";
import type { Duplex } from "node:stream";
import type { SecureContextOptions } from "node:tls";
import type { ApiRequest } from "../../base/api/call.ts";
import type { Eventually } from "../../base/util/eventually.ts";
import type { EncodedReply } from "../../data/encoding/reply/encoded-reply.ts";
import { ConnectionKeeper, type ConnectionLimits } from "./connection-keeper.ts";
import type { Exchange } from "./exchange.ts";
import { openHttp1, refuseConnection, refuseHttp1 } from "./http1.ts";
import { openHttp2, refuseHttp2 } from "./http2.ts";
import { filterUpgrades, keepParsing, serveStreams, socketBelow } from "./node-quirks.ts";
import { Turns } from "./turns.ts";

/** Answers a request. Must not reject: errors are replies too. */
export type Answer = (request: ApiRequest) => Eventually<EncodedReply>;

/** TLS configuration, in PEM. */
export interface TlsOptions {
  readonly certificate: string;
  readonly key: string;
  /**
   * CAs advertised when requesting a client certificate. Clients without a certificate, or with one of another CA, are
   * accepted; the authenticator verifies the chain. Optional. If omitted, no client certificate is requested.
   */
  readonly clientCa?: string;
}

/** Options of a listener. */
export interface ListenerOptions {
  readonly host: string;
  /** 0 selects a free port. */
  readonly port: number;
  /** Optional. If omitted, serves HTTP/1.1 without TLS. */
  readonly tls?: TlsOptions;
  /** Takes over the socket of a WebSocket or SPDY request. Optional. If omitted, the Upgrade header is ignored. */
  readonly onUpgrade?: (exchange: Exchange, socket: Duplex, head: Buffer) => void;
  /** Time limits for idle and stalled connections. Default: 90 s idle, 32 s headers, 120 s stalled. */
  readonly limits?: ConnectionLimits;
  /** Neither the listener nor its connections keep the process alive. Default: both do. */
  readonly isUnref?: boolean;
  /** Receives errors of the server itself while writing a reply. */
  readonly reportError?: (error: unknown) => void;
}

/** A started listener. */
export interface Listener {
  readonly port: number;
  /**
   * Changes the TLS options of new connections; omitted options and open connections keep theirs. Throws without effect
   * if key and certificate do not match. Client certificates are only requested if they were from the start.
   */
  changeTls(change: Partial<TlsOptions>): void;
  /**
   * Keeps serving, but asks clients to reconnect: HTTP/1.1 replies get `Connection: close`, and HTTP/2 sessions get a
   * GOAWAY while their open streams are served.
   */
  leave(): void;
  /**
   * Accepts no more requests, ends watches, waits at most `graceMs` for other requests, then destroys all connections.
   * Resolves when no connection is left.
   */
  close(graceMs: number): Promise<void>;
}

/** Maximum size of request line and headers together. */
export const MAX_HEADER_BYTES = 64 * 1024;

// Compat: default of `--http2-max-streams-per-connection` in kube-apiserver.
const HTTP2_SETTINGS: http2.Settings = {
  maxConcurrentStreams: 1000,
  maxHeaderListSize: MAX_HEADER_BYTES,
  initialWindowSize: 256 * 1024,
  enablePush: false,
};
/** Highest stream id: a GOAWAY with it rejects no stream that the client has opened meanwhile (RFC 9113, 6.8). */
const LAST_STREAM = 2 ** 31 - 1;
const SESSION_WINDOW_BYTES = 4 * 1024 * 1024;

/** Node options for HTTP/1.1. */
function http1Options({ limits, roundMs }: ConnectionKeeper): ServerOptions {
  return {
    headersTimeout: limits.headersMs,
    requestTimeout: 120_000,
    keepAliveTimeout: limits.idleMs,
    connectionsCheckingInterval: roundMs,
    maxHeaderSize: MAX_HEADER_BYTES,
    noDelay: true,
  };
}

function secureContext({ certificate, key, clientCa }: TlsOptions): SecureContextOptions {
  return { cert: certificate, key, minVersion: "TLSv1.2", ...(clientCa ? { ca: clientCa } : {}) };
}

/** Starts listening. Rejects if the address is not available. */
export async function listen(answer: Answer, options: ListenerOptions): Promise<Listener> {
  // node:http also loads Node's fetch and WebSocket clients; node:http2 serves HTTP/1.1 without them.
  const http = options.tls ? undefined : await import("node:http");
  const edge = new Edge(answer, options, (http1) => http?.createServer(http1));
  await edge.listen(options);
  return edge;
}

class Edge implements Listener {
  readonly #answer: Answer;
  readonly #options: ListenerOptions;
  readonly #server: HttpServer | http2.Http2SecureServer;
  /** Requests in progress, with their connections. */
  readonly #open = new Map<Exchange, Duplex | Http2Session>();
  readonly #sockets = new Set<Socket>();
  readonly #http1Sockets = new Set<Duplex>();
  readonly #keeper: ConnectionKeeper;
  readonly #sessions = new Set<Http2Session>();
  readonly #turns = new Turns();
  #tls: TlsOptions | undefined;
  #isLeaving = false;
  #isClosing = false;

  /** `makePlain` creates the server if there is no TLS. */
  constructor(answer: Answer, options: ListenerOptions, makePlain: (http1: ServerOptions) => HttpServer | undefined) {
    this.#answer = answer;
    this.#options = options;
    this.#tls = options.tls;
    this.#keeper = new ConnectionKeeper(this.#open, options.limits);
    const http1 = http1Options(this.#keeper);
    this.#server = makePlain(http1) ?? this.#secureServer(options.tls, http1);
    this.#serveHttp1(this.#server);
    const transport: Server = this.#server;
    transport.on("connection", (socket: Socket) => this.#track(socket));
    if (options.isUnref) transport.unref();
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  listen({ host, port }: ListenerOptions): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#server.once("error", reject);
      this.#server.listen(port, host, () => {
        this.#server.off("error", reject);
        resolve();
      });
    });
  }

  changeTls(change: Partial<TlsOptions>): void {
    if (this.#tls === undefined || !("setSecureContext" in this.#server)) return;
    const tls = { ...this.#tls, ...change };
    this.#server.setSecureContext(secureContext(tls));
    this.#tls = tls;
  }

  leave(): void {
    this.#isLeaving = true;
    for (const session of this.#sessions) announceEnd(session);
  }

  async close(graceMs: number): Promise<void> {
    this.#isClosing = true;
    const closed = new Promise<void>((resolve) => {
      this.#server.close(() => resolve());
    });
    for (const session of this.#sessions) session.close();
    for (const exchange of this.#open.keys()) if (exchange.isLongRunning) exchange.abort();
    const busy = new Set(this.#open.values());
    for (const socket of this.#http1Sockets) if (!busy.has(socket)) socket.destroy();
    const timer = setTimeout(() => this.#cut(), graceMs);
    await closed;
    clearTimeout(timer);
    this.#keeper.stop();
  }

  #cut(): void {
    for (const exchange of this.#open.keys()) exchange.abort();
    for (const session of this.#sessions) session.destroy();
    for (const socket of this.#sockets) socket.destroy();
  }

  #secureServer(tls: TlsOptions | undefined, http1: ServerOptions): http2.Http2SecureServer {
    const server = http2.createSecureServer({
      allowHTTP1: true,
      http1Options: http1,
      // Needed in addition to the HTTP/1.1 option, because this one applies to the transport. Otherwise the last bytes
      // of a response would wait for a delayed ACK.
      noDelay: true,
      ...(tls === undefined ? {} : secureContext(tls)),
      handshakeTimeout: 10_000,
      ...(tls?.clientCa ? { requestCert: true, rejectUnauthorized: false } : {}),
      settings: HTTP2_SETTINGS,
      maxSessionMemory: 64,
      maxHeaderListPairs: 256,
      maxSessionInvalidFrames: 100,
      maxSessionRejectedStreams: 100,
    });
    server.on("tlsClientError", answerPlainHttp);
    server.on("session", (session) => this.#serveSession(session));
    server.on("secureConnection", (socket) => {
      if (socket.alpnProtocol === "h2") return;
      keepParsing(socket);
      this.#trackHttp1(socket);
    });
    return server;
  }

  #serveHttp1(server: HttpServer | http2.Http2SecureServer): void {
    const emitter: NodeJS.EventEmitter = server;
    const onRequest = (message: IncomingMessage, response: ServerResponse): void => this.#takeHttp1(message, response);
    emitter.on("request", onRequest);
    // Without a listener Node would send 100 Continue immediately, even if the request is about to be rejected.
    emitter.on("checkContinue", onRequest);
    filterUpgrades(emitter, (message) => this.#isUpgrade(message));
    emitter.on("clientError", (error: NodeJS.ErrnoException, socket: Duplex) => this.#refuseUnreadable(error, socket));
    emitter.on("upgrade", (message: IncomingMessage, socket: Duplex, head: Buffer) =>
      this.#upgrade(message, socket, head),
    );
    if (!this.#options.tls) {
      emitter.on("connection", (socket: Socket) => this.#trackHttp1(socket));
      return;
    }
    serveStreams(emitter, (stream, headers, flags, raw) => this.#takeHttp2(stream, headers, flags, raw));
  }

  #track(socket: Socket): void {
    // Detects clients that vanished, as a quiet watch writes nothing that would fail.
    socket.setKeepAlive(true, 30_000);
    if (this.#options.isUnref) socket.unref();
    this.#sockets.add(socket);
    socket.once("close", () => this.#sockets.delete(socket));
  }

  #trackHttp1(socket: Duplex): void {
    this.#http1Sockets.add(socket);
    this.#keeper.add(socket);
    socket.once("close", () => this.#http1Sockets.delete(socket));
  }

  #serveSession(session: Http2Session): void {
    this.#sessions.add(session);
    this.#keeper.add(session);
    session.once("close", () => this.#sessions.delete(session));
    session.on("error", () => session.destroy());
    session.setLocalWindowSize(SESSION_WINDOW_BYTES);
    if (this.#isClosing) session.close();
    else if (this.#isLeaving) announceEnd(session);
  }

  #takeHttp1(message: IncomingMessage, response: ServerResponse): void {
    const { socket } = message;
    this.#keeper.begin(socket);
    response.on("close", () => this.#keeper.end(socket));
    this.#turns.take(() => {
      if (!socket.destroyed) this.#serveRequest(message, response);
    });
  }

  #serveRequest(message: IncomingMessage, response: ServerResponse): void {
    const exchange = openHttp1(message, response);
    const { socket } = message;
    if (typeof exchange === "number") {
      refuseHttp1(response, exchange);
      return;
    }
    this.#open.set(exchange, socket);
    response.on("close", () => {
      this.#open.delete(exchange);
      if (!exchange.isReplied) exchange.abort();
      exchange.finish(exchange.carrier.isDelivered);
      // If the reply started before the listener was closed, it did not contain `Connection: close`.
      if (this.#isClosing && !new Set(this.#open.values()).has(socket)) socket.end();
    });
    this.#reply(exchange);
  }

  #takeHttp2(stream: ServerHttp2Stream, headers: IncomingHttpHeaders, flags: number, raw: string[]): void {
    // A failed stream is closed right after, which ends the exchange.
    stream.on("error", () => {});
    this.#turns.take(() => {
      // Streams that are reset right away cost nothing more.
      if (!stream.destroyed && !stream.closed) this.#serveHttp2(stream, headers, flags, raw);
    });
  }

  #serveHttp2(stream: ServerHttp2Stream, headers: IncomingHttpHeaders, flags: number, raw: string[]): void {
    const exchange = openHttp2(stream, headers, flags, raw);
    if (exchange === undefined) {
      refuseHttp2(stream);
      return;
    }
    const { session } = stream;
    if (session) {
      this.#keeper.begin(session);
      this.#open.set(exchange, session);
    }
    stream.on("close", () => {
      if (session) this.#keeper.end(session);
      this.#open.delete(exchange);
      if (!exchange.isReplied) exchange.abort();
      exchange.finish(exchange.carrier.isDelivered);
    });
    this.#reply(exchange);
  }

  #reply(exchange: Exchange): void {
    const fail = (error: unknown): void => this.#giveUp(exchange, error);
    try {
      const answering = this.#answer(exchange);
      if (answering instanceof Promise) answering.then((reply) => this.#send(exchange, reply)).catch(fail);
      else this.#send(exchange, answering)?.catch(fail);
    } catch (error) {
      fail(error);
    }
  }

  /** Returns a promise only if sending takes longer. */
  #send(exchange: Exchange, reply: EncodedReply): Promise<void> | undefined {
    if (reply.isLongRunning) {
      exchange.isLongRunning = true;
      if (this.#isClosing) exchange.abort();
    }
    exchange.code = reply.status;
    const sending = exchange.carrier.send(reply, this.#isLeaving || this.#isClosing, exchange);
    if (sending === undefined) exchange.isReplied = true;
    return sending?.then(() => {
      exchange.isReplied = true;
    });
  }

  #giveUp(exchange: Exchange, error: unknown): void {
    exchange.carrier.giveUp();
    // A source may throw when it is aborted because the client disconnected; that is not reported.
    if (!exchange.isClientGone) this.#options.reportError?.(error);
  }

  #isUpgrade(message: IncomingMessage): boolean {
    return this.#options.onUpgrade !== undefined && /^(?:websocket|spdy\/3\.1)$/i.test(message.headers.upgrade ?? "");
  }

  // Compat: `conn.serve` of net/http responds like this to unreadable requests, and not at all to clients that are too
  // slow.
  #refuseUnreadable(error: NodeJS.ErrnoException, socket: Duplex): void {
    if (!error.code?.startsWith("HPE_")) socket.destroy();
    // Responses in progress come first; nothing more is read meanwhile.
    else if (!socket.writable || this.#keeper.isUsed(socket)) return;
    else if (error.code === "HPE_HEADER_OVERFLOW") refuseConnection(socket, 431);
    else refuseConnection(socket, error.code === "HPE_INVALID_TRANSFER_ENCODING" ? 501 : 400);
  }

  #upgrade(message: IncomingMessage, socket: Duplex, head: Buffer): void {
    const exchange = openHttp1(message);
    socket.on("error", () => socket.destroy());
    if (typeof exchange === "number" || !this.#options.onUpgrade) {
      refuseConnection(socket, typeof exchange === "number" ? exchange : 400);
      return;
    }
    this.#keeper.begin(socket);
    exchange.upgrade = (message.headers.upgrade ?? "").toLowerCase();
    exchange.isLongRunning = true;
    this.#open.set(exchange, socket);
    socket.once("close", () => {
      this.#open.delete(exchange);
      exchange.abort();
      exchange.finish(exchange.isReplied);
    });
    this.#options.onUpgrade(exchange, socket, head);
  }
}

/** Sends a GOAWAY that still allows the streams that the client has opened meanwhile. */
function announceEnd(session: Http2Session): void {
  session.goaway(http2.constants.NGHTTP2_NO_ERROR, LAST_STREAM);
}

const PLAIN_HTTP = "HTTP/1.0 400 Bad Request\r\n\r\nClient sent an HTTP request to an HTTPS server.\n";

/** Answers plain HTTP on the TLS port, with Go's text. */
function answerPlainHttp(error: NodeJS.ErrnoException, failed: Duplex): void {
  if (error.code === "ERR_SSL_HTTP_REQUEST") socketBelow(failed)?.write(PLAIN_HTTP);
}
