import type { IncomingMessage, ServerResponse } from "node:http";
import type { IncomingHttpHeaders, ServerHttp2Stream } from "node:http2";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";

// Everything that this folder uses of Node beyond its documentation. `node-quirks.test.ts` has a test for each function:
// it fails if a new version of Node breaks it, and where timing allows, also if it is no longer needed. All of them apply
// to Node 24.21 and 26.10.

/**
 * Prevents the loss of a pipelined request over TLS that arrives before the previous response is written. Node then
 * pauses the socket and the parser, but TLS still delivers decrypted data, which a paused parser rejects with
 * HPE_PAUSED. Pausing the socket is enough: at most the 64 KB read with it are parsed.
 */
export function keepParsing(socket: Duplex & { readonly parser?: { pause?: () => void } | null }): void {
  if (socket.parser?.pause) socket.parser.pause = () => {};
}

/**
 * Replaces what Node does with the connection after the response to a request with `Connection: close`. Node destroys
 * the socket, which resets the connection if there are unread bytes.
 */
export function closeInstead({ socket }: IncomingMessage, close: () => void): void {
  socket.destroySoon = close;
}

/**
 * Lets requests with an Upgrade header that `isUpgrade` does not accept be served as others. An option of HTTP/1.1
 * servers; HTTP/2 servers with HTTP/1.1 do not accept it as option, but read this property.
 */
export function filterUpgrades(server: NodeJS.EventEmitter, isUpgrade: (message: IncomingMessage) => boolean): void {
  Object.assign(server, { shouldUpgradeCallback: isUpgrade });
}

/**
 * Serves HTTP/2 streams directly. A listener of "request", which HTTP/1.1 needs, makes Node wrap every stream in a
 * request and a response, too.
 */
export function serveStreams(
  server: NodeJS.EventEmitter,
  serve: (stream: ServerHttp2Stream, headers: IncomingHttpHeaders, flags: number, raw: string[]) => void,
): void {
  server.removeAllListeners("stream");
  server.on("stream", serve);
}

/** The TCP socket below a TLS socket whose handshake has failed. It is still writable. */
export function socketBelow(failed: Duplex & { readonly _parent?: Socket }): Socket | undefined {
  return failed._parent;
}

/**
 * Lets the caller write the chunks of a response with `Transfer-Encoding: chunked`, with their sizes, after the head.
 * Returns false if the response has no such encoding.
 */
export function takeOverChunks(response: ServerResponse): boolean {
  if (!response.chunkedEncoding) return false;
  response.chunkedEncoding = false;
  return true;
}
