import { type IncomingMessage, ServerResponse, STATUS_CODES } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { type WebSocket, WebSocketServer } from "ws";
import type { ConnectReply } from "../../base/api/channel.ts";
import { type EncodedReply, headerOf } from "../../data/encoding/reply/encoded-reply.ts";
import { closeWebSocket, runUpgraded, runWebSocket } from "./channels.ts";
import type { Exchange } from "./exchange.ts";
import { openHttp1 } from "./http1.ts";
import type { Answer, ListenerOptions } from "./listener.ts";
import { answerPings } from "./pings.ts";
import { discard } from "./pump.ts";
import { type EventMessages, splitEvents } from "./watch-messages.ts";

/** Maximum size of client messages, which are ignored. */
const MAX_PAYLOAD_BYTES = 64 * 1024;
/** Above this amount of unread data, sending pauses until the client has read. */
const MAX_UNREAD_BYTES = 64 * 1024;

const TOKEN_PROTOCOL = "base64url.bearer.authorization.k8s.io.";

/** A connection that requests an upgrade, as Node provides it. */
interface UpgradeRequest {
  readonly message: IncomingMessage;
  readonly socket: Duplex;
  readonly head: Buffer;
}

/**
 * Serves connections that request an upgrade. A watch or stream continues as a WebSocket with one message per event or
 * chunk. A reply that connects gets the connection. Any other reply is sent as if no upgrade had been requested.
 */
export function serveUpgrades(
  answer: Answer,
  reportError: (error: unknown) => void,
): NonNullable<ListenerOptions["onUpgrade"]> {
  const server = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    autoPong: false,
    perMessageDeflate: false,
    maxPayload: MAX_PAYLOAD_BYTES,
    handleProtocols: (protocols) => [...protocols].find((name) => !name.startsWith(TOKEN_PROTOCOL)) ?? false,
  });
  const serve = async (exchange: Exchange, upgrade: UpgradeRequest): Promise<void> => {
    const { message, socket, head } = upgrade;
    const reply = await answer(exchange);
    exchange.code = reply.status;
    if (reply.connect) return connect(exchange, upgrade, reply, reply.connect);
    const { body } = reply;
    const isStream = reply.isLongRunning && typeof body !== "string" && !(body instanceof Uint8Array);
    if (!isStream || !isWebSocket(message)) return replyPlainly(exchange, upgrade, reply);
    const refusal = refusalOf(message, false);
    if (refusal !== undefined) {
      discard(body);
      refuse(exchange, socket, refusal);
      return;
    }
    const upgraded = new Promise<WebSocket>((resolve) => server.handleUpgrade(message, socket, head, resolve));
    exchange.code = 101;
    await sendMessages(await upgraded, reply, body, exchange);
  };
  return (exchange, socket, head) => {
    serve(exchange, { message: exchange.carrier.source as IncomingMessage, socket, head }).then(
      () => {
        exchange.isReplied = true;
      },
      (error: unknown) => {
        if (!exchange.isClientGone) {
          exchange.error = error;
          reportError(error);
        }
        socket.destroy();
      },
    );
  };
}

async function connect(
  exchange: Exchange,
  upgrade: UpgradeRequest,
  reply: EncodedReply,
  wanted: ConnectReply,
): Promise<void> {
  if (wanted.over === "upgrade") return runUpgraded(upgrade, wanted, reply, exchange);
  const refusal = refusalOf(upgrade.message, true);
  const protocol = protocolsOf(upgrade.message).find((name) => wanted.protocols.includes(name));
  // Compat: a client that offers only unsupported protocols gets the bare 403 of a failed handshake.
  if (refusal || protocol === undefined) {
    refuse(exchange, upgrade.socket, refusal ?? { code: 403 });
    exchange.abort();
  } else await runWebSocket(upgrade, wanted, protocol, exchange, exchange.signal);
}

function isWebSocket({ headers }: IncomingMessage): boolean {
  return headers.upgrade?.toLowerCase() === "websocket";
}

/** Sends with backpressure until the source ends or the client disconnects. */
async function sendMessages(
  webSocket: WebSocket,
  reply: EncodedReply,
  body: AsyncIterable<Uint8Array>,
  exchange: Exchange,
): Promise<void> {
  // A connection error terminates the WebSocket, and thereby the request.
  webSocket.on("error", () => webSocket.terminate());
  answerPings(webSocket);
  const type = headerOf(reply.headers, "content-type") ?? "";
  const { isBinary, events } = reply.isOpaque ? WHOLE_CHUNKS : splitEvents(type);
  for await (const chunk of body) {
    let sent: Promise<void> | undefined;
    for (const event of events(chunk)) {
      if (webSocket.readyState !== webSocket.OPEN) return exchange.clientLeft();
      exchange.bytes += event.length;
      sent = new Promise((resolve) => webSocket.send(event, { binary: isBinary }, () => resolve()));
    }
    if (webSocket.bufferedAmount > MAX_UNREAD_BYTES) await sent;
  }
  closeWebSocket(webSocket);
}

const WHOLE_CHUNKS: EventMessages = { isBinary: true, events: (chunk) => [chunk] };

function replyPlainly(
  exchange: Exchange,
  { message, socket }: UpgradeRequest,
  reply: EncodedReply,
): Promise<void> | undefined {
  const response = new ServerResponse(message);
  response.assignSocket(socket as Socket);
  response.on("finish", () => socket.end());
  const opened = openHttp1(message, response);
  return typeof opened === "number" ? undefined : opened.carrier.send(reply, true, exchange);
}

interface Refusal {
  readonly code: number;
  readonly headers?: string;
  readonly text?: string;
}

/** The subprotocols that a client offers, without the one that carries a token. One empty string if it offers none. */
function protocolsOf({ headers }: IncomingMessage): string[] {
  const protocols = (headers["sec-websocket-protocol"] ?? "").split(",").map((name) => name.trim());
  const offered = protocols.filter((name) => name !== "" && !name.startsWith(TOKEN_PROTOCOL));
  return offered.length === 0 ? [""] : offered;
}

// Compat: golang.org/x/net/websocket rejects these handshakes in this order, with "mismatch challenge/response" and the
// like. Handlers that connect use the handshake of `wsstream.Conn`, which selects among several protocols and ignores
// the Origin.
function refusalOf(message: IncomingMessage, isConnect: boolean): Refusal | undefined {
  const { headers } = message;
  if (!headers["sec-websocket-key"]) return { code: 400, text: "mismatch challenge/response" };
  if (headers["sec-websocket-version"] !== "13") {
    return { code: 400, headers: "Sec-WebSocket-Version: 13\r\n", text: "missing or bad WebSocket Version" };
  }
  if (isConnect) return undefined;
  if (!/^(?:[a-z][-+.a-z0-9]*:|\/)/i.test(headers.origin ?? "")) return { code: 403 };
  return protocolsOf(message).length > 1 ? { code: 400 } : undefined;
}

function refuse(exchange: Exchange, socket: Duplex, { code, headers = "", text = "" }: Refusal): void {
  exchange.code = code;
  socket.end(`HTTP/1.1 ${code} ${STATUS_CODES[code]}\r\n${headers}Connection: close\r\n\r\n${text}`);
}
