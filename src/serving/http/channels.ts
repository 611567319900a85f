import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { type RawData, type WebSocket, WebSocketServer } from "ws";
import type { ChannelMessage, ConnectReply, WebSocketChannel } from "../../base/api/channel.ts";
import type { EncodedReply } from "../../data/encoding/reply/encoded-reply.ts";
import { pacer } from "../../resources/pace.ts";
import { answerPings } from "./pings.ts";
import type { Delivery } from "./pump.ts";

/** Maximum size of a message from a client. Messages of exec and port-forward are far smaller. */
const MAX_MESSAGE_BYTES = 1024 * 1024;
/** Above this amount of unread data, sending or receiving pauses until the peer has read. */
const MAX_UNREAD_BYTES = 64 * 1024;
const MAX_UNREAD_MESSAGES = 500;
/** Messages that are too short to look at the clock after each. */
const MESSAGES_PER_LOOK = 50;
const CLOSE_MS = 1000;
/**
 * Time for a client to read pending data before its WebSocket is terminated, which would lose that data. Upstream:
 * `finishTimeout`.
 */
const FINISH_MS = 15 * 60_000;

type WebSocketConnect = Extract<ConnectReply, { readonly over: "websocket" }>;
type UpgradeConnect = Extract<ConnectReply, { readonly over: "upgrade" }>;

/** Accepts a WebSocket with the given subprotocol and runs the handler. Rejects with the handler's error. */
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
  // Set here because `ws` rejects the slash in "SPDY/3.1+portforward.k8s.io", which is not a token.
  delete message.headers["sec-websocket-protocol"];
  if (protocol !== "") server.on("headers", (lines) => lines.push(`Sec-WebSocket-Protocol: ${protocol}`));
  let accepted: WebSocket | undefined;
  server.handleUpgrade(message, socket, head, (opened) => {
    accepted = opened;
  });
  // The client has disconnected already.
  if (accepted === undefined) return;
  const webSocket: WebSocket = accepted;
  const channel = new Channel(webSocket, protocol, delivery);
  try {
    await reply.run(channel);
  } catch (error) {
    webSocket.terminate();
    throw error;
  }
  closeWebSocket(webSocket, FINISH_MS);
  signal.addEventListener("abort", () => webSocket.terminate(), { once: true });
}

/**
 * Closes a WebSocket. Compat: `wsstream` of kube-apiserver does not wait for the client's close frame; this waits
 * briefly.
 */
export function closeWebSocket(webSocket: WebSocket, withinMs: number = CLOSE_MS): void {
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
    // A connection error terminates the WebSocket, and thereby the request.
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

/**
 * Subscribes immediately, so no message is lost before the first read. Pauses the socket while too much is unread. Pauses
 * between messages, because a packet can have thousands that are almost empty.
 */
function received(webSocket: WebSocket): AsyncIterable<ChannelMessage> {
  const queue: (ChannelMessage | undefined)[] = [];
  let first = 0;
  let unreadBytes = 0;
  let isOver = false;
  let wake = (): void => {};
  const isFull = (): boolean => unreadBytes > MAX_UNREAD_BYTES || queue.length - first > MAX_UNREAD_MESSAGES;
  const take = (): ChannelMessage | undefined => {
    const message = queue[first];
    // `shift` takes long for a long list.
    queue[first++] = undefined;
    if (first >= queue.length) first = queue.length = 0;
    unreadBytes -= message?.data.length ?? 0;
    return message;
  };
  webSocket.on("message", (raw: RawData, isBinary: boolean) => {
    const data = Array.isArray(raw) ? Buffer.concat(raw) : raw instanceof ArrayBuffer ? Buffer.from(raw) : raw;
    queue.push({ data, isBinary });
    unreadBytes += data.length;
    if (!webSocket.isPaused && isFull()) webSocket.pause();
    wake();
  });
  webSocket.on("close", () => {
    isOver = true;
    wake();
  });
  return (async function* () {
    const pause = pacer();
    for (let taken = 0; ; ) {
      const next = take();
      if (next !== undefined) {
        if (taken++ % MESSAGES_PER_LOOK === 0) await pause();
        if (webSocket.isPaused && !isFull()) webSocket.resume();
        yield next;
      } else if (isOver) return;
      else
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
    }
  })();
}

/** Switches protocols and hands the connection to the handler until it returns. Rejects with the handler's error. */
export async function runUpgraded(
  connection: { readonly socket: Duplex; readonly head: Buffer },
  connect: UpgradeConnect,
  { headers }: EncodedReply,
  delivery: Delivery,
): Promise<void> {
  const { socket, head } = connection;
  // Cache-Control makes no sense for a connection.
  const { "cache-control": _, ...rest } = headers;
  const fields = Object.entries({ ...rest, ...connect.headers }).flatMap(([name, value]) =>
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
