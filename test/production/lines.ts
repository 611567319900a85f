import http2 from "node:http2";
import { Agent, request } from "node:https";
import type { Readable } from "node:stream";

/** The answer to one attempt. */
export interface Reply {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: answers of any kind
  readonly body: any;
}

/** Who asks: PEM of the authority that the server must prove itself by, and of the client. */
export interface Credentials {
  readonly ca: string;
  readonly cert: string;
  readonly key: string;
}

/** One client's way to the balancer. It never tries again by itself what a server may have seen. */
export interface Line {
  readonly protocol: string;
  /** Rejects when no whole answer comes. */
  call(method: string, path: string, body?: unknown): Promise<Reply>;
  /** Opens a watch. The stream ends, or fails, when it is over. */
  open(path: string): Promise<{ readonly status: number; readonly stream: Readable }>;
  close(): void;
}

const TIMEOUT_MS = 20_000;

/** Sends a request with a text, if it is not empty, as its body. */
type Send = (
  method: string,
  path: string,
  text: string,
  timeoutMs?: number,
) => Promise<{ readonly status: number; readonly stream: Readable }>;

function lineBy(protocol: string, send: Send, close: () => void): Line {
  return {
    protocol,
    async call(method, path, body) {
      const { status, stream } = await send(method, path, body === undefined ? "" : JSON.stringify(body), TIMEOUT_MS);
      return { status, body: await readJson(stream) };
    },
    open: (path) => send("GET", path, ""),
    close,
  };
}

/** HTTP/1.1 over one connection that is kept, and one for each watch. */
export function http1Line(base: string, credentials: Credentials): Line {
  const agent = new Agent({ keepAlive: true, maxSockets: 2 });
  const send: Send = (method, path, text, timeoutMs) =>
    new Promise((resolve, reject) => {
      const headers =
        text === "" ? {} : { "content-type": "application/json", "content-length": Buffer.byteLength(text) };
      const options = { method, headers, agent, ...credentials };
      const outgoing = request(`${base}${path}`, options, (incoming) =>
        resolve({ status: incoming.statusCode ?? 0, stream: incoming }),
      );
      if (timeoutMs !== undefined)
        outgoing.setTimeout(timeoutMs, () => outgoing.destroy(new Error("no answer in time")));
      outgoing.on("error", reject);
      outgoing.end(text);
    });
  return lineBy("HTTP/1.1", send, () => agent.destroy());
}

const REFUSED = http2.constants.NGHTTP2_REFUSED_STREAM;

/** A request that was surely not looked at, as one that met a GOAWAY. */
class RefusedStream extends Error {}

/** HTTP/2 over one connection, which is replaced when the server says goodbye. */
export function http2Line(base: string, credentials: Credentials): Line {
  let session: http2.ClientHttp2Session | undefined;
  const current = (): http2.ClientHttp2Session => {
    if (session && !session.closed && !session.destroyed) return session;
    const opened = http2.connect(base, credentials);
    opened.on("error", () => opened.destroy());
    opened.on("goaway", () => {
      if (session === opened) session = undefined;
    });
    session = opened;
    return opened;
  };
  const sendOnce: Send = (method, path, text, timeoutMs) =>
    new Promise((resolve, reject) => {
      const type = text === "" ? {} : { "content-type": "application/json" };
      const stream = current().request({ ":method": method, ":path": path, ...type }, { endStream: text === "" });
      if (timeoutMs !== undefined) stream.setTimeout(timeoutMs, () => stream.destroy(new Error("no answer in time")));
      stream.once("response", (headers) => resolve({ status: Number(headers[":status"]), stream }));
      stream.once("error", (error) => reject(stream.rstCode === REFUSED ? new RefusedStream() : error));
      stream.once("close", () => reject(new Error("the stream was closed")));
      if (text !== "") stream.end(text);
    });
  // Clients of HTTP/2 send such a request again by themselves; Node leaves that to its user (RFC 9113, 8.7).
  const send: Send = (...request) =>
    sendOnce(...request).catch((error: unknown) => {
      if (!(error instanceof RefusedStream)) throw error;
      return sendOnce(...request);
    });
  return lineBy("HTTP/2", send, () => session?.destroy());
}

async function readJson(stream: Readable): Promise<unknown> {
  const text = Buffer.concat(await stream.toArray()).toString();
  try {
    return JSON.parse(text);
  } catch (error) {
    // Health checks answer with text. A cut answer fails before.
    if (text.startsWith("{")) throw error;
    return text;
  }
}
