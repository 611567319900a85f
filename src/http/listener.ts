import type { Server as HttpServer, IncomingMessage, ServerOptions, ServerResponse } from "node:http";
import http2, { type Http2Session, type IncomingHttpHeaders, type ServerHttp2Stream } from "node:http2";
import type { AddressInfo, Server, Socket } from "node:net";
import type { Duplex } from "node:stream";
import type { SecureContextOptions } from "node:tls";
import type { ApiRequest } from "../api/call.ts";
import type { EncodedReply } from "../encoding/reply/encoded-reply.ts";
import { ConnectionKeeper, type ConnectionLimits } from "./connection-keeper.ts";
import type { Exchange } from "./exchange.ts";
import { keepParsing, openHttp1, refuseConnection, refuseHttp1 } from "./http1.ts";
import { openHttp2, refuseHttp2 } from "./http2.ts";

/** Answers one request. Must not reject: refusals are replies, too. */
export type Answer = (request: ApiRequest) => Promise<EncodedReply>;

/** With what a listener speaks TLS, as PEM. */
export interface TlsOptions {
  readonly certificate: string;
  readonly key: string;
  /**
   * Clients are asked for a certificate, and told that these sign them. Clients without one, or with one of others, are
   * let in: whoever reads the chain has to judge it. Absent: clients are not asked.
   */
  readonly clientAuthority?: string;
}

/** How to listen. */
export interface ListenerOptions {
  readonly host: string;
  /** 0 picks a free port. */
  readonly port: number;
  /** Absent: HTTP/1.1 without TLS. */
  readonly tls?: TlsOptions;
  /** Takes over the socket of a WebSocket or SPDY request. Absent: such requests are answered like any other. */
  readonly onUpgrade?: (exchange: Exchange, socket: Duplex, head: Buffer) => void;
  /** How long clients may hold connections that serve nobody. */
  readonly limits?: ConnectionLimits;
  /** Hears of replies that could not be written for a reason on our side. */
  readonly reportError?: (error: unknown) => void;
}

/** A started listener. */
export interface Listener {
  readonly port: number;
  /**
   * New connections get what is given; what is left out stays, and so do connections that are open. Throws when key and
   * certificate do not fit, and changes nothing then. Clients are asked for certificates if they were from the start.
   */
  changeTls(change: Partial<TlsOptions>): void;
  /**
   * Serves everything as before, but asks clients to come by another connection: replies over HTTP/1.1 are the last of
   * theirs, and HTTP/2 sessions are told to open no more streams (GOAWAY), while those under way are served.
   */
  leave(): void;
  /**
   * Takes no more requests, ends watches, lets other requests finish for at most `graceMs`, then cuts all connections.
   * Resolves when none is left.
   */
  close(graceMs: number): Promise<void>;
}

/** What a request line and its headers may have together. */
export const MAX_HEADER_BYTES = 64 * 1024;

// Compat: 1,000 HTTP/2 streams as by `--http2-max-streams-per-connection`.
const HTTP2_SETTINGS: http2.Settings = {
  maxConcurrentStreams: 1000,
  maxHeaderListSize: MAX_HEADER_BYTES,
  initialWindowSize: 256 * 1024,
  enablePush: false,
};
/** The number that no stream has: a GOAWAY that names it refuses none that the client has opened meanwhile (RFC 9113, 6.8). */
const LAST_STREAM = 2 ** 31 - 1;
const SESSION_WINDOW_BYTES = 4 * 1024 * 1024;

/** How Node serves HTTP/1.1. */
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

function secureContext({ certificate, key, clientAuthority }: TlsOptions): SecureContextOptions {
  return { cert: certificate, key, minVersion: "TLSv1.2", ...(clientAuthority ? { ca: clientAuthority } : {}) };
}

/** Starts to listen. Rejects when the address cannot be had. */
export async function listen(answer: Answer, options: ListenerOptions): Promise<Listener> {
  // Importing node:http makes Node load its fetch and WebSocket clients as well; node:http2 serves HTTP/1.1 without it.
  const http = options.tls ? undefined : await import("node:http");
  const edge = new Edge(answer, options, (http1) => http?.createServer(http1));
  await edge.listen(options);
  return edge;
}

class Edge implements Listener {
  readonly #answer: Answer;
  readonly #options: ListenerOptions;
  readonly #server: HttpServer | http2.Http2SecureServer;
  /** What is being answered, with the connection it came by. */
  readonly #open = new Map<Exchange, Duplex | Http2Session>();
  readonly #sockets = new Set<Socket>();
  readonly #http1Sockets = new Set<Duplex>();
  readonly #keeper: ConnectionKeeper;
  readonly #sessions = new Set<Http2Session>();
  #tls: TlsOptions | undefined;
  #isLeaving = false;
  #isClosing = false;

  /** `makePlain` makes the server where there is no TLS. */
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
      // The options of HTTP/1.1 have it, too, but here it is the transport that is asked: the last bytes of an answer would wait for a delayed ACK.
      noDelay: true,
      ...(tls === undefined ? {} : secureContext(tls)),
      handshakeTimeout: 10_000,
      ...(tls?.clientAuthority ? { requestCert: true, rejectUnauthorized: false } : {}),
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
    // Without a listener Node would send 100 Continue at once, also to those who are about to be refused.
    emitter.on("checkContinue", onRequest);
    // An option of HTTP/1.1 servers that HTTP/2 servers with HTTP/1.1 do not pass on, but read from here all the same.
    Object.assign(server, { shouldUpgradeCallback: (message: IncomingMessage) => this.#isUpgrade(message) });
    emitter.on("clientError", (error: NodeJS.ErrnoException, socket: Duplex) => this.#refuseUnreadable(error, socket));
    emitter.on("upgrade", (message: IncomingMessage, socket: Duplex, head: Buffer) =>
      this.#upgrade(message, socket, head),
    );
    if (!this.#options.tls) {
      emitter.on("connection", (socket: Socket) => this.#trackHttp1(socket));
      return;
    }
    // A "request" listener makes Node wrap every HTTP/2 stream for it as well. Ours are served from the bare stream.
    emitter.removeAllListeners("stream");
    emitter.on("stream", (stream: ServerHttp2Stream, headers: IncomingHttpHeaders, flags: number, raw: string[]) =>
      this.#takeHttp2(stream, headers, flags, raw),
    );
  }

  #track(socket: Socket): void {
    // Finds out about clients that vanished; a quiet watch sends nothing by which that would be noticed.
    socket.setKeepAlive(true, 30_000);
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
    const exchange = openHttp1(message, response);
    const { socket } = message;
    this.#keeper.begin(socket);
    response.on("close", () => this.#keeper.end(socket));
    if (typeof exchange === "number") {
      refuseHttp1(response, exchange);
      return;
    }
    this.#open.set(exchange, socket);
    response.on("close", () => {
      this.#open.delete(exchange);
      if (!exchange.isReplied) exchange.abort();
      exchange.finish(exchange.carrier.isDelivered);
      // A reply that began before the listener was closed did not tell the client that it is the last one.
      if (this.#isClosing && !new Set(this.#open.values()).has(socket)) socket.end();
    });
    void this.#reply(exchange);
  }

  #takeHttp2(stream: ServerHttp2Stream, headers: IncomingHttpHeaders, flags: number, raw: string[]): void {
    const exchange = openHttp2(stream, headers, flags, raw);
    // A stream that fails is closed right after; the exchange hears of it there.
    stream.on("error", () => {});
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
    void this.#reply(exchange);
  }

  async #reply(exchange: Exchange): Promise<void> {
    try {
      const reply = await this.#answer(exchange);
      if (reply.isLongRunning) {
        exchange.isLongRunning = true;
        if (this.#isClosing) exchange.abort();
      }
      exchange.code = reply.status;
      const sending = exchange.carrier.send(reply, this.#isLeaving || this.#isClosing, exchange);
      if (sending !== undefined) await sending;
      exchange.isReplied = true;
    } catch (error) {
      exchange.carrier.giveUp();
      // Sources that end by the signal may well throw; nobody is left who misses the rest.
      if (!exchange.isClientGone) this.#options.reportError?.(error);
    }
  }

  #isUpgrade(message: IncomingMessage): boolean {
    return this.#options.onUpgrade !== undefined && /^(?:websocket|spdy\/3\.1)$/i.test(message.headers.upgrade ?? "");
  }

  // Compat: `conn.serve` of net/http answers what it cannot read so, and says nothing to a client that is too slow.
  #refuseUnreadable(error: NodeJS.ErrnoException, socket: Duplex): void {
    if (!error.code?.startsWith("HPE_")) socket.destroy();
    // Answers that are under way come first; nothing more is read meanwhile.
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

/** Has the client open no more streams. Those that it has opened meanwhile are still served. */
function announceEnd(session: Http2Session): void {
  session.goaway(http2.constants.NGHTTP2_NO_ERROR, LAST_STREAM);
}

const PLAIN_HTTP = "HTTP/1.0 400 Bad Request\r\n\r\nClient sent an HTTP request to an HTTPS server.\n";

/** Tells a client that speaks HTTP where TLS is spoken, with Go's text. Below the failed TLS is a socket that still writes. */
function answerPlainHttp(error: NodeJS.ErrnoException, failed: Duplex & { readonly _parent?: Socket }): void {
  if (error.code === "ERR_SSL_HTTP_REQUEST") failed._parent?.write(PLAIN_HTTP);
}
