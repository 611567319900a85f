import type { X509Certificate } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import { TLSSocket } from "node:tls";
import type { EncodedReply } from "../encoding/reply/encoded-reply.ts";
import { FilledBody } from "../encoding/reply/filled-body.ts";
import { ChunkedFiller } from "./chunked-filler.ts";
import { certificateChainOf } from "./client-certificate.ts";
import { type Carrier, Exchange } from "./exchange.ts";
import { CountedFiller, type Delivery, discard, pump, pumpFilled } from "./pump.ts";
import { readHeaders } from "./request-headers.ts";
import { parseTarget } from "./target.ts";

/** Bodies that are refused unread are read to their end and thrown away, so that the connection lives on; up to this size. */
const MAX_DISCARDED_BYTES = 32 * 1024 * 1024;
/** How long a client that is still sending has to read its answer before the connection is closed, as the real server does. */
const LINGER_MS = 500;

class Http1Carrier implements Carrier {
  readonly source: IncomingMessage;
  readonly #response: ServerResponse | undefined;

  constructor(source: IncomingMessage, response: ServerResponse | undefined) {
    this.source = source;
    this.#response = response;
  }

  get hasBody(): boolean {
    const { headers } = this.source;
    return headers["content-length"] !== undefined || headers["transfer-encoding"] !== undefined;
  }

  sendContinue(): void {
    this.#response?.writeContinue();
  }

  certificateChain(): readonly X509Certificate[] {
    const { socket } = this.source;
    return socket instanceof TLSSocket ? certificateChainOf(socket, socket) : [];
  }

  get remote(): Carrier["remote"] {
    return this.source.socket;
  }

  get isDelivered(): boolean {
    return this.#response?.writableFinished ?? false;
  }

  get unsentBytes(): number {
    return (this.#response ?? this.source.socket).writableLength;
  }

  send(reply: EncodedReply, isLast: boolean, delivery: Delivery): Promise<void> | undefined {
    const { status, headers, body } = reply;
    const response = this.#response;
    if (response === undefined) throw new Error("an upgraded connection has no response");
    const isUnread = isTooMuchToDiscard(this.source);
    if (isUnread) lingerAtEnd(this.source);
    if (isLast || isUnread) headers.connection = "close";
    if (typeof body === "string" || body instanceof Uint8Array) {
      const size = Buffer.byteLength(body);
      if (status !== 204 && status !== 304) headers["content-length"] = String(size);
      if (this.source.method !== "HEAD") delivery.bytes = size;
      response.writeHead(status, headers);
      response.end(body);
      return undefined;
    }
    if (response.destroyed) {
      discard(body);
      return undefined;
    }
    response.writeHead(status, headers);
    if (this.source.method === "HEAD") {
      discard(body);
      response.end();
      return undefined;
    }
    if (reply.isLongRunning) response.flushHeaders();
    return pumpHttp1(response, body, delivery);
  }

  giveUp(): void {
    this.source.socket.destroy();
  }
}

/** The answers to requests that cannot be understood, as net/http of Go gives them. */
const REFUSALS = {
  400: { status: "400 Bad Request", text: "400 Bad Request" },
  431: { status: "431 Request Header Fields Too Large", text: "431 Request Header Fields Too Large" },
  501: { status: "501 Not Implemented", text: "Unsupported transfer encoding" },
  505: {
    status: "505 HTTP Version Not Supported",
    text: "505 HTTP Version Not Supported: unsupported protocol version",
  },
} as const;

/** How a request is refused that cannot be understood. */
export type Refusal = keyof typeof REFUSALS;

// `httpguts.ValidHostHeader`.
const VALID_HOST = /^[\w!$%&'()*+,.:;=[\]~-]*$/;

/** The request of a Node message, or how to refuse it. `response` is absent for upgrades. */
export function openHttp1(message: IncomingMessage, response?: ServerResponse): Exchange | Refusal {
  // Compat: `http1ServerSupportsRequest` and `ParseHTTPVersion` of net/http; Node takes 0.9 and 2.0 as well.
  if (message.httpVersionMajor !== 1) return message.httpVersionMajor === 0 ? 400 : 505;
  const target = parseTarget(message.url ?? "/");
  if (target === undefined) return 400;
  const headers = readHeaders(message.headers, message.rawHeaders);
  // Compat: `readRequest` of net/http: "too many Host headers", "malformed Host header", "unsupported transfer encoding".
  if (typeof headers.host === "object" || (headers.host !== undefined && !VALID_HOST.test(headers.host))) return 400;
  const encoding = headers["transfer-encoding"];
  if (encoding !== undefined && (typeof encoding !== "string" || encoding.toLowerCase() !== "chunked")) return 501;
  return new Exchange(message.method ?? "GET", target, headers, new Http1Carrier(message, response));
}

/**
 * Has a request read to its end that comes by TLS while the answer before it is not written yet. Node stops the socket and its
 * parser then, but TLS hands on what it has decrypted; a stopped parser takes that for an error, HPE_PAUSED, and the request
 * is lost. That the socket stops is enough: no more than the 64 KB that were read with it are parsed.
 */
export function keepParsing(socket: Duplex & { readonly parser?: { pause?: () => void } | null }): void {
  if (socket.parser?.pause) socket.parser.pause = () => {};
}

/** The first piece is copied together with the head of the reply, so it is a small one. */
const FIRST_BYTES = 16 * 1024;

async function pumpHttp1(response: ServerResponse, body: AsyncIterable<Uint8Array>, delivery: Delivery): Promise<void> {
  try {
    if (body instanceof FilledBody && response.chunkedEncoding) {
      response.chunkedEncoding = false;
      await pumpFilled(new ChunkedFiller(new CountedFiller(body.filler, delivery)), response, FIRST_BYTES);
    } else await pump(body, response, delivery);
    response.end();
  } catch (error) {
    if (!response.destroyed) delivery.error = error;
    response.destroy();
    throw error;
  }
}

function isTooMuchToDiscard(message: IncomingMessage): boolean {
  if (message.complete || message.method === "GET") return false;
  const declared = message.headers["content-length"];
  return declared === undefined
    ? message.headers["transfer-encoding"] !== undefined
    : Number(declared) > MAX_DISCARDED_BYTES;
}

/**
 * Has the connection of a request that is still being sent closed in two steps: to close it with bytes unread would
 * reset it, and the client could lose an answer that it has not read yet. Nothing more is read in the meantime.
 */
function lingerAtEnd(message: IncomingMessage): void {
  const { socket } = message;
  socket.destroySoon = () => {
    message.pause();
    socket.end();
    closeSoon(socket);
  };
}

function closeSoon(socket: Duplex): void {
  const timer = setTimeout(() => socket.destroy(), LINGER_MS);
  socket.once("close", () => clearTimeout(timer));
}

/** Refuses a request that cannot be understood, and closes the connection. */
export function refuseHttp1(response: ServerResponse, refusal: Refusal): void {
  const { text } = REFUSALS[refusal];
  const headers = { "content-type": "text/plain; charset=utf-8", "content-length": text.length, connection: "close" };
  response.writeHead(refusal, headers);
  response.end(text);
}

/** Does the same on a connection that has no response: that of an upgrade, or of a request that cannot be read at all. */
export function refuseConnection(socket: Duplex, refusal: Refusal): void {
  const fields = "Content-Type: text/plain; charset=utf-8\r\nConnection: close\r\n";
  const { status, text } = REFUSALS[refusal];
  socket.end(`HTTP/1.1 ${status}\r\n${fields}\r\n${text}`);
  closeSoon(socket);
}
