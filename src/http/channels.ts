import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { type RawData, type WebSocket, WebSocketServer } from "ws";
import type { ChannelMessage, ConnectReply, WebSocketChannel } from "../api/channel.ts";
import type { EncodedReply } from "../encoding/reply/encoded-reply.ts";
import { answerPings } from "./pings.ts";
import type { Delivery } from "./pump.ts";

/** A client may send messages up to this size; those of exec and port-forward are far smaller. */
const MAX_MESSAGE_BYTES = 1024 * 1024;
/** What is sent or received beyond this waits until the other side has read. */
const MAX_UNREAD_BYTES = 64 * 1024;
const GOODBYE_MS = 1000;
/**
 * How long a client has to read what was written before a WebSocket is closed: to cut it off would lose that. Upstream:
 * `finishTimeout`.
 */
const FINISH_MS = 15 * 60_000;

type WebSocketConnect = Extract<ConnectReply, { readonly over: "websocket" }>;
type UpgradeConnect = Extract<ConnectReply, { readonly over: "upgrade" }>;

/** Accepts a WebSocket with the given subprotocol and runs it to its end. Rejects with what the handler threw. */
export async function runWebSocket(
  connection: { readonly message: IncomingMessage; readonly socket: Duplex; readonly head: Buffer },
  reply: WebSocketConnect,
  protocol: string,
  delivery: Delivery,
  signal: AbortSignal,
): Promise<void> {
  const { message, socket, head } = connection;
  const server = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    autoPong: false,
    perMessageDeflate: false,
    maxPayload: MAX_MESSAGE_BYTES,
  });
  // Said here: `ws` refuses the slash in "SPDY/3.1+portforward.k8s.io", which is no token.
  delete message.headers["sec-websocket-protocol"];
  if (protocol !== "") server.on("headers", (lines) => lines.push(`Sec-WebSocket-Protocol: ${protocol}`));
  let accepted: WebSocket | undefined;
  server.handleUpgrade(message, socket, head, (opened) => {
    accepted = opened;
  });
  // The client has gone already.
  if (accepted === undefined) return;
  const webSocket: WebSocket = accepted;
  const channel = new Channel(webSocket, protocol, delivery);
  try {
    await reply.run(channel);
  } catch (error) {
    webSocket.terminate();
    throw error;
  }
  sayGoodbye(webSocket, FINISH_MS);
  signal.addEventListener("abort", () => webSocket.terminate(), { once: true });
}

/** Closes. Compat: `wsstream` of kube-apiserver does not wait for the client's close frame; a little is enough. */
export function sayGoodbye(webSocket: WebSocket, withinMs: number = GOODBYE_MS): void {
  if (webSocket.readyState === webSocket.CLOSED) return;
  webSocket.close(1000);
  const timer = setTimeout(() => webSocket.terminate(), withinMs);
  webSocket.once("close", () => clearTimeout(timer));
}

class Channel implements WebSocketChannel {
  readonly protocol: string;
  readonly messages: AsyncIterable<ChannelMessage>;
  readonly #webSocket: WebSocket;
  readonly #delivery: Delivery;

  constructor(webSocket: WebSocket, protocol: string, delivery: Delivery) {
    this.#webSocket = webSocket;
    this.#delivery = delivery;
    this.protocol = protocol;
    // What goes wrong on the connection ends it; the request then hears of it.
    webSocket.on("error", () => webSocket.terminate());
    answerPings(webSocket);
    this.messages = received(webSocket);
  }

  async send(data: string | Uint8Array): Promise<void> {
    const webSocket = this.#webSocket;
    if (webSocket.readyState !== webSocket.OPEN) return;
    this.#delivery.bytes += Buffer.byteLength(data);
    const sent = new Promise<void>((resolve) => webSocket.send(data, () => resolve()));
    if (webSocket.bufferedAmount > MAX_UNREAD_BYTES) await sent;
  }

  close(code = 1000, reason = ""): void {
    this.#webSocket.close(code, reason);
  }
}

/** Listens from now on, so that nothing is lost before the first read; holds the connection while too much is unread. */
function received(webSocket: WebSocket): AsyncIterable<ChannelMessage> {
  const queue: ChannelMessage[] = [];
  let unreadBytes = 0;
  let isOver = false;
  let wake = (): void => {};
  webSocket.on("message", (raw: RawData, isBinary: boolean) => {
    const data = Array.isArray(raw) ? Buffer.concat(raw) : raw instanceof ArrayBuffer ? Buffer.from(raw) : raw;
    queue.push({ data, isBinary });
    unreadBytes += data.length;
    if (unreadBytes > MAX_UNREAD_BYTES) webSocket.pause();
    wake();
  });
  webSocket.on("close", () => {
    isOver = true;
    wake();
  });
  return (async function* () {
    for (;;) {
      const next = queue.shift();
      if (next !== undefined) {
        unreadBytes -= next.data.length;
        if (webSocket.isPaused && unreadBytes <= MAX_UNREAD_BYTES) webSocket.resume();
        yield next;
      } else if (isOver) return;
      else
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
    }
  })();
}

/** Switches to another protocol and leaves the connection to the handler until it is done. Rejects with what it threw. */
export async function runUpgraded(
  connection: { readonly socket: Duplex; readonly head: Buffer },
  connect: UpgradeConnect,
  { headers }: EncodedReply,
  delivery: Delivery,
): Promise<void> {
  const { socket, head } = connection;
  // Nobody keeps an answer that is a connection.
  const { "cache-control": _, ...told } = headers;
  const fields = Object.entries({ ...told, ...connect.headers }).flatMap(([name, value]) =>
    [value].flat().map((one) => `${name}: ${one}\r\n`),
  );
  const upgrade = `HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: ${connect.protocol}\r\n`;
  socket.write(`${upgrade}${fields.join("")}\r\n`);
  if (head.length > 0) socket.unshift(head);
  const { bytesWritten: before = 0 } = socket as Partial<Socket>;
  const count = (): void => {
    delivery.bytes = ((socket as Partial<Socket>).bytesWritten ?? before) - before;
  };
  socket.prependListener("close", count);
  try {
    await connect.run(socket);
  } catch (error) {
    socket.destroy();
    throw error;
  }
  count();
  socket.end();
}
