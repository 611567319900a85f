import { type IncomingMessage, ServerResponse, STATUS_CODES } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { type WebSocket, WebSocketServer } from "ws";
import type { ApiRequest } from "../api/call.ts";
import { type EncodedReply, headerOf } from "../encoding/reply/encoded-reply.ts";
import { Exchange } from "./exchange.ts";
import { openHttp1 } from "./http1.ts";
import type { Answer, ListenerOptions } from "./listener.ts";
import { discard } from "./pump.ts";
import { splitEvents } from "./watch-messages.ts";

/** What clients say is not listened to, so it need not be long. */
const MAX_PAYLOAD_BYTES = 64 * 1024;
/** A client that has more than this to read gets nothing until it has read it. */
const MAX_UNREAD_BYTES = 64 * 1024;

const GOODBYE_MS = 1000;

const TOKEN_PROTOCOL = "base64url.bearer.authorization.k8s.io.";

/**
 * Takes over connections that ask for an upgrade: a watch goes on as a WebSocket with one message for each event, and
 * whatever else is asked for is answered as if no upgrade had been asked for.
 */
export function serveUpgrades(
  answer: Answer,
  reportError: (error: unknown) => void,
): NonNullable<ListenerOptions["onUpgrade"]> {
  const server = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    perMessageDeflate: false,
    maxPayload: MAX_PAYLOAD_BYTES,
    handleProtocols: (protocols) => [...protocols].find((name) => !name.startsWith(TOKEN_PROTOCOL)) ?? false,
  });
  const serve = async (request: ApiRequest, socket: Duplex, head: Buffer): Promise<void> => {
    const message = messageOf(request);
    const reply = await answer(request);
    const { body } = reply;
    const isWatch = reply.isLongRunning && typeof body !== "string" && !(body instanceof Uint8Array);
    if (!isWatch || !isWebSocket(message)) return replyPlainly(message, socket, reply);
    const refusal = refusalOf(message);
    if (refusal !== undefined) {
      discard(body);
      refuse(socket, refusal);
      return;
    }
    const type = headerOf(reply.headers, "content-type") ?? "";
    const upgraded = new Promise<WebSocket>((resolve) => server.handleUpgrade(message, socket, head, resolve));
    await sendEvents(await upgraded, body, type);
  };
  return (request, socket, head) => {
    serve(request, socket, head).catch((error: unknown) => {
      socket.destroy();
      reportError(error);
    });
  };
}

function messageOf(request: ApiRequest): IncomingMessage {
  if (!(request instanceof Exchange)) throw new TypeError("an upgrade without a message");
  return request.carrier.source as IncomingMessage;
}

function isWebSocket({ headers }: IncomingMessage): boolean {
  return headers.upgrade?.toLowerCase() === "websocket";
}

/** Sends as fast as the client reads, until the source ends or the client goes away. */
async function sendEvents(webSocket: WebSocket, body: AsyncIterable<Uint8Array>, type: string): Promise<void> {
  // What goes wrong on the connection ends it; the request then hears of it.
  webSocket.on("error", () => webSocket.terminate());
  const { isBinary, events } = splitEvents(type);
  for await (const chunk of body) {
    let sent: Promise<void> | undefined;
    for (const event of events(chunk)) {
      if (webSocket.readyState !== webSocket.OPEN) return;
      sent = new Promise((resolve) => webSocket.send(event, { binary: isBinary }, () => resolve()));
    }
    if (webSocket.bufferedAmount > MAX_UNREAD_BYTES) await sent;
  }
  webSocket.close(1000);
  // Compat: `wsstream` of kube-apiserver does not wait for the client's close frame; a little is enough.
  const timer = setTimeout(() => webSocket.terminate(), GOODBYE_MS);
  webSocket.once("close", () => clearTimeout(timer));
}

function replyPlainly(message: IncomingMessage, socket: Duplex, reply: EncodedReply): void | Promise<void> {
  const response = new ServerResponse(message);
  response.assignSocket(socket as Socket);
  response.on("finish", () => socket.end());
  const carrier = openHttp1(message, response)?.carrier;
  return carrier?.send(reply, true);
}

interface Refusal {
  readonly code: number;
  readonly headers?: string;
  readonly text?: string;
}

// Compat: golang.org/x/net/websocket refuses these handshakes, in this order and with "mismatch challenge/response" and
// the like.
function refusalOf({ headers }: IncomingMessage): Refusal | undefined {
  if (!headers["sec-websocket-key"]) return { code: 400, text: "mismatch challenge/response" };
  if (headers["sec-websocket-version"] !== "13") {
    return { code: 400, headers: "Sec-WebSocket-Version: 13\r\n", text: "missing or bad WebSocket Version" };
  }
  if (!/^(?:[a-z][-+.a-z0-9]*:|\/)/i.test(headers.origin ?? "")) return { code: 403 };
  const protocols = (headers["sec-websocket-protocol"] ?? "").split(",").map((name) => name.trim());
  const chosen = protocols.filter((name) => name !== "" && !name.startsWith(TOKEN_PROTOCOL));
  return chosen.length > 1 ? { code: 400 } : undefined;
}

function refuse(socket: Duplex, { code, headers = "", text = "" }: Refusal): void {
  socket.end(`HTTP/1.1 ${code} ${STATUS_CODES[code]}\r\n${headers}Connection: close\r\n\r\n${text}`);
}
