import type { X509Certificate } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import { TLSSocket } from "node:tls";
import type { EncodedReply } from "../../data/encoding/reply/encoded-reply.ts";
import { FilledBody } from "../../data/encoding/reply/filled-body.ts";
import { ChunkedFiller } from "./chunked-filler.ts";
import { certificateChainOf } from "./client-certificate.ts";
import { type Carrier, Exchange } from "./exchange.ts";
import { closeInstead, takeOverChunks } from "./node-quirks.ts";
import { CountedFiller, type Delivery, discard, pump, pumpFilled } from "./pump.ts";
import { readHeaders } from "./request-headers.ts";
import { parseTarget } from "./target.ts";

/**
 * Unread request bodies up to this size are read and discarded, so the connection can be reused. Compat:
 * `maxPostHandlerReadBytes` of net/http.
 */
const MAX_DISCARDED_BYTES = 256 * 1024;
/**
 * Time for a client that is still sending to read its response before the connection is closed, as in kube-apiserver.
 */
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

/** Responses to unparsable requests, as Go's net/http sends them. */
const REFUSALS = {
  400: { status: "400 Bad Request", text: "400 Bad Request" },
  431: { status: "431 Request Header Fields Too Large", text: "431 Request Header Fields Too Large" },
  501: { status: "501 Not Implemented", text: "Unsupported transfer encoding" },
  505: {
    status: "505 HTTP Version Not Supported",
    text: "505 HTTP Version Not Supported: unsupported protocol version",
  },
} as const;

/** Status code for an unparsable request. */
export type Refusal = keyof typeof REFUSALS;

// Upstream: `httpguts.ValidHostHeader`.
const VALID_HOST = /^[\w!$%&'()*+,.:;=[\]~-]*$/;

/** The exchange of a Node request, or the status code to reject it with. `response` is omitted for upgrades. */
export function openHttp1(message: IncomingMessage, response?: ServerResponse): Exchange | Refusal {
  // Compat: `http1ServerSupportsRequest` and `ParseHTTPVersion` of net/http; Node also accepts 0.9 and 2.0.
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

/** The first piece is copied together with the response head, so it is small. */
const FIRST_BYTES = 16 * 1024;

async function pumpHttp1(response: ServerResponse, body: AsyncIterable<Uint8Array>, delivery: Delivery): Promise<void> {
  try {
    if (body instanceof FilledBody && takeOverChunks(response)) {
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
 * Closes the connection of a request that is still being sent in two steps. Closing it with unread bytes would reset
 * it, and the client could lose the response. Nothing more is read in the meantime.
 */
function lingerAtEnd(message: IncomingMessage): void {
  const { socket } = message;
  closeInstead(message, () => {
    message.pause();
    socket.end();
    closeSoon(socket);
  });
}

function closeSoon(socket: Duplex): void {
  const timer = setTimeout(() => socket.destroy(), LINGER_MS);
  socket.once("close", () => clearTimeout(timer));
}

/** Rejects an unparsable request and closes the connection. */
export function refuseHttp1(response: ServerResponse, refusal: Refusal): void {
  const { text } = REFUSALS[refusal];
  const headers = { "content-type": "text/plain; charset=utf-8", "content-length": text.length, connection: "close" };
  response.writeHead(refusal, headers);
  response.end(text);
}

/** The same for a connection without response object: an upgrade, or a request that cannot be read at all. */
export function refuseConnection(socket: Duplex, refusal: Refusal): void {
  const fields = "Content-Type: text/plain; charset=utf-8\r\nConnection: close\r\n";
  const { status, text } = REFUSALS[refusal];
  socket.end(`HTTP/1.1 ${status}\r\n${fields}\r\n${text}`);
  closeSoon(socket);
}
