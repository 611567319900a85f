import type { Duplex } from "node:stream";
import type { HttpClient } from "../../base/net/http-client.ts";
import { type Backend, openBackend } from "./backend.ts";

/** A connection to a backend that switched to SPDY. */
export interface SpdyUpgrade {
  readonly socket: Duplex;
  /** The stream protocol version that the backend selected. Empty if it named none. */
  readonly protocol: string;
}

/** The response of a backend that did not switch. */
export interface RefusedUpgrade {
  readonly code: number;
  readonly text: string;
}

/** Maximum size of an error response that is read. */
const MAX_REFUSAL_BYTES = 64 * 1024;

/** Asks a backend to switch to SPDY with one of the stream protocols. Rejects if the backend is unreachable. */
export async function upgradeToSpdy(
  http: HttpClient,
  backend: Backend,
  request: { readonly path: string; readonly host: string; readonly signal: AbortSignal },
  protocols: readonly string[],
): Promise<SpdyUpgrade | RefusedUpgrade> {
  const { path, host, signal } = request;
  const headers = {
    host,
    "user-agent": "binnacle",
    connection: "Upgrade",
    upgrade: "SPDY/3.1",
    "content-length": "0",
    "x-stream-protocol-version": [...protocols],
  };
  const outgoing = await openBackend(http, backend, { method: "POST", path, headers, signal });
  const { promise, resolve, reject } = Promise.withResolvers<SpdyUpgrade | RefusedUpgrade>();
  outgoing.on("error", reject);
  outgoing.on("upgrade", (response, socket, head) => {
    if (response.headers.upgrade?.toLowerCase() !== "spdy/3.1") {
      socket.destroy();
      resolve({ code: 101, text: "" });
      return;
    }
    if (head.length > 0) socket.unshift(head);
    resolve({ socket, protocol: String(response.headers["x-stream-protocol-version"] ?? "") });
  });
  outgoing.on("response", (response) => {
    let text = "";
    response.setEncoding("utf8");
    response.on("data", (chunk: string) => {
      text += chunk;
      if (text.length > MAX_REFUSAL_BYTES) response.destroy();
    });
    response.on("close", () => resolve({ code: response.statusCode ?? 0, text }));
  });
  outgoing.end();
  return promise;
}
