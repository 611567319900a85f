import type { Duplex } from "node:stream";
import { plainError } from "../../../base/api/api-error.ts";
import type { Call } from "../../../base/api/call.ts";
import type { WebSocketChannel } from "../../../base/api/channel.ts";
import type { ApiReply } from "../../../base/api/reply.ts";
import { transportError } from "../../../base/net/transport-error.ts";
import { takeEach } from "../../../base/util/take-each.ts";
import { type Backend, openBackend } from "../backend.ts";
import type { ConnectContext } from "../context.ts";
import { type Answered, destroyOnAbort, exchange, passedHeaders, refusedUpgrade } from "../exchange.ts";

/** Prefix of SPDY protocols that are tunnelled in WebSocket messages. */
export const TUNNEL_PREFIX = "SPDY/3.1+";

/** The SPDY protocols that a client offers to tunnel in its WebSocket. */
export function tunneledProtocols(protocols: readonly string[]): string[] {
  return protocols
    .filter((name) => name.startsWith(TUNNEL_PREFIX) && name.endsWith(".k8s.io"))
    .map((name) => name.slice(TUNNEL_PREFIX.length));
}

/**
 * Tunnels the SPDY bytes in a client's WebSocket messages to a kubelet. Other responses of the kubelet are forwarded
 * unchanged. Upstream: `TunnelingHandler`.
 */
export async function tunnel(
  call: Call,
  { client, observer }: Pick<ConnectContext, "client" | "observer">,
  {
    backend,
    path,
    protocols,
  }: { readonly backend: Backend; readonly path: string; readonly protocols: readonly string[] },
): Promise<ApiReply> {
  const { request, signal } = call;
  const headers = passedHeaders(request);
  for (const name of [
    "sec-websocket-protocol",
    "sec-websocket-key",
    "sec-websocket-version",
    "sec-websocket-extensions",
  ]) {
    delete headers[name];
  }
  headers.upgrade = "SPDY/3.1";
  headers["x-stream-protocol-version"] = [...protocols];
  headers["content-length"] = "0";
  let answered: Answered;
  try {
    const outgoing = await openBackend(client.http, backend, { method: "POST", path, headers, signal });
    answered = await exchange(outgoing, request);
  } catch (error) {
    if (signal.aborted) throw signal.reason ?? error;
    throw plainError(500, `error dialing backend: ${transportError(error)}`);
  }
  const { response, socket, head } = answered;
  if (!socket) {
    observer.tunnelled(response.statusCode ?? 0);
    return refusedUpgrade(response);
  }
  const chosen = String(response.headers["x-stream-protocol-version"] ?? "").trim();
  const isKnown = chosen === "" || protocols.includes(chosen);
  if (response.headers.upgrade?.toLowerCase() !== "spdy/3.1" || !isKnown) {
    socket.destroy();
    observer.tunnelled(500);
    throw plainError(500, "unable to upgrade: missing upgrade headers in response");
  }
  if (head !== undefined && head.length > 0) socket.unshift(head);
  destroyOnAbort(socket, signal);
  return {
    type: "connect",
    over: "websocket",
    protocols: chosen === "" ? [""] : [`${TUNNEL_PREFIX}${chosen}`],
    run(channel) {
      observer.tunnelled(101);
      return carry(channel, socket);
    },
  };
}

/** Copies in both directions until one side ends. Message boundaries are irrelevant. */
export async function carry(channel: WebSocketChannel, socket: Duplex): Promise<void> {
  socket.on("error", () => socket.destroy());
  const toClient = takeEach(socket as AsyncIterable<Buffer>, async (chunk) => {
    await channel.send(chunk);
    return true;
  });
  const toNode = takeEach(channel.messages, async ({ data, isBinary }) => {
    if (!isBinary || socket.destroyed) return false;
    if (!socket.write(data)) await drained(socket);
    return true;
  });
  await Promise.race([toClient, toNode]).catch(() => {});
  socket.destroy();
}

function drained(socket: Duplex): Promise<void> {
  return new Promise((resolve) => {
    const go = (): void => {
      socket.off("drain", go).off("close", go);
      resolve();
    };
    socket.on("drain", go).on("close", go);
  });
}
