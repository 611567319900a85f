import type { Duplex } from "node:stream";
import type { HttpClient } from "../client/http-client.ts";
import { type Backend, openBackend } from "./backend.ts";

/** A backend that speaks SPDY from now on. */
export interface SpdyUpgrade {
  readonly socket: Duplex;
  /** The version of the stream protocol that it chose; empty: it did not say. */
  readonly protocol: string;
}

/** What a backend answered instead. */
export interface RefusedUpgrade {
  readonly code: number;
  readonly text: string;
}

/** So much is read of what a backend says about a refusal. */
const MAX_REFUSAL_BYTES = 64 * 1024;

/** Asks a backend to speak SPDY, and for the first stream protocol of these that it knows. Rejects when it is not there. */
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
