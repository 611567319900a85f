import { type IncomingMessage, ServerResponse, STATUS_CODES } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { type WebSocket, WebSocketServer } from "ws";
import type { ConnectReply } from "../api/channel.ts";
import { type EncodedReply, headerOf } from "../encoding/reply/encoded-reply.ts";
import { runUpgraded, runWebSocket, sayGoodbye } from "./channels.ts";
import type { Exchange } from "./exchange.ts";
import { openHttp1 } from "./http1.ts";
import type { Answer, ListenerOptions } from "./listener.ts";
import { answerPings } from "./pings.ts";
import { discard } from "./pump.ts";
import { type EventMessages, splitEvents } from "./watch-messages.ts";

/** What clients say is not listened to, so it need not be long. */
const MAX_PAYLOAD_BYTES = 64 * 1024;
/** A client that has more than this to read gets nothing until it has read it. */
const MAX_UNREAD_BYTES = 64 * 1024;

const TOKEN_PROTOCOL = "base64url.bearer.authorization.k8s.io.";

/** A connection that asks for an upgrade, as Node hands it over. */
interface Asking {
  readonly message: IncomingMessage;
  readonly socket: Duplex;
  readonly head: Buffer;
}

/**
 * Takes over connections that ask for an upgrade: a watch or stream goes on as a WebSocket with one message for each
 * event or chunk, a reply that connects gets the connection, and whatever else is answered as if no upgrade had been
 * asked for.
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
  const serve = async (exchange: Exchange, asking: Asking): Promise<void> => {
    const { message, socket, head } = asking;
    const reply = await answer(exchange);
    exchange.code = reply.status;
    if (reply.connect) return connect(exchange, asking, reply, reply.connect);
    const { body } = reply;
    const isStream = reply.isLongRunning && typeof body !== "string" && !(body instanceof Uint8Array);
    if (!isStream || !isWebSocket(message)) return replyPlainly(exchange, asking, reply);
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

async function connect(exchange: Exchange, asking: Asking, reply: EncodedReply, wanted: ConnectReply): Promise<void> {
  if (wanted.over === "upgrade") return runUpgraded(asking, wanted, reply, exchange);
  const refusal = refusalOf(asking.message, true);
  const protocol = protocolsOf(asking.message).find((name) => wanted.protocols.includes(name));
  // Compat: a client that offers only protocols that are not spoken gets the bare 403 of a failed handshake.
  if (refusal || protocol === undefined) {
    refuse(exchange, asking.socket, refusal ?? { code: 403 });
    exchange.abort();
  } else await runWebSocket(asking, wanted, protocol, exchange, exchange.signal);
}

function isWebSocket({ headers }: IncomingMessage): boolean {
  return headers.upgrade?.toLowerCase() === "websocket";
}

/** Sends as fast as the client reads, until the source ends or the client goes away. */
async function sendMessages(
  webSocket: WebSocket,
  reply: EncodedReply,
  body: AsyncIterable<Uint8Array>,
  exchange: Exchange,
): Promise<void> {
  // What goes wrong on the connection ends it; the request then hears of it.
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
  sayGoodbye(webSocket);
}

const WHOLE_CHUNKS: EventMessages = { isBinary: true, events: (chunk) => [chunk] };

function replyPlainly(exchange: Exchange, { message, socket }: Asking, reply: EncodedReply): Promise<void> | undefined {
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

/** The subprotocols that a client offers, without the one that carries a token; an empty one when it offers none. */
function protocolsOf({ headers }: IncomingMessage): string[] {
  const protocols = (headers["sec-websocket-protocol"] ?? "").split(",").map((name) => name.trim());
  const offered = protocols.filter((name) => name !== "" && !name.startsWith(TOKEN_PROTOCOL));
  return offered.length === 0 ? [""] : offered;
}

// Compat: golang.org/x/net/websocket refuses these handshakes, in this order and with "mismatch challenge/response" and
// the like. Handlers that connect have the handshake of `wsstream.Conn`: it chooses among several protocols and does not
// look at the Origin.
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
