import { once } from "node:events";
import type http from "node:http";
import http2 from "node:http2";
import type https from "node:https";
import { setImmediate as nextTurn } from "node:timers/promises";
import { ApiError } from "../../base/api/api-error.ts";
import type { ApiRequest } from "../../base/api/call.ts";
import { type Identity, makeCa, makeIdentity } from "../../base/pki/make-certificate.ts";
import type { EncodedReply } from "../../data/encoding/reply/encoded-reply.ts";
import { type Answer, type Listener, type ListenerOptions, listen } from "./listener.ts";

const now = Date.now();
/** CA of the listener and its clients. */
export const testCa = makeCa("test-ca", now);
const serving = makeIdentity(testCa, { commonName: "test", hosts: ["localhost", "127.0.0.1"] }, "server", now);
/** A client certificate that the listener's CA signed. */
export const client = makeIdentity(testCa, { commonName: "ann", organizations: ["dev", "a, O=x"] }, "client", now);
/** A client certificate of another CA. */
export const stranger = makeIdentity(makeCa("other-ca", now), { commonName: "eve" }, "client", now);

/** Body size limit of `/echo`. */
export const LIMIT = 1000;
/** Response size of `/large`: more than the socket buffers hold for a client that reads nothing. */
export const LARGE_BYTES = 16_000_000;
/**
 * What the handlers recorded: the last signal of a slow request, the signals of requests to `/endless` by their query, chunks
 * and ends of streams, requests to `/read`, errors.
 */
export const seen: {
  signal: AbortSignal | undefined;
  readonly endless: Map<string, AbortSignal>;
  chunks: number;
  ended: number;
  begun: number;
  readonly errors: unknown[];
} = {
  signal: undefined,
  endless: new Map(),
  chunks: 0,
  ended: 0,
  begun: 0,
  errors: [],
};

/** Pending requests to `/slow`; each function completes one. */
export const slow: (() => void)[] = [];

/** Yields `count` chunks, or fewer if aborted. */
async function* ticks(count: number, chunk: Uint8Array, signal?: AbortSignal): AsyncGenerator<Uint8Array> {
  try {
    for (let tick = 0; tick < count && !signal?.aborted; tick++) {
      seen.chunks++;
      yield chunk;
      await nextTurn();
    }
  } finally {
    seen.ended++;
  }
}

async function* untilAborted(signal: AbortSignal): AsyncGenerator<Uint8Array> {
  yield Buffer.from("open\n");
  if (!signal.aborted) await once(signal, "abort");
  yield Buffer.from("end\n");
}

const text = (body: EncodedReply["body"], status = 200): EncodedReply => ({ status, headers: {}, body });

const ROUTES: Readonly<Record<string, (request: ApiRequest) => Promise<EncodedReply> | EncodedReply>> = {
  "/echo": async (request) => {
    const body = await request.readBody(LIMIT);
    const { method, path, authority, headers, certificateChain } = request;
    const received = {
      method,
      path,
      query: [...request.query],
      authority,
      group: headers["impersonate-group"],
      body: Buffer.from(body).toString(),
      chain: certificateChain.map(({ subject, raw }) => ({ subject, bytes: raw.length })),
      remote: [request.remoteAddress, typeof request.remotePort],
    };
    return {
      status: 201,
      headers: { "content-type": "application/json", warning: ["a", "b"] },
      body: JSON.stringify(received),
    };
  },
  "/bytes": () => text(Buffer.from("0123456789")),
  "/large": () => text(Buffer.alloc(LARGE_BYTES, "x")),
  "/read": async (request) => {
    seen.begun++;
    return text(String((await request.readBody(LARGE_BYTES)).length));
  },
  "/stream": () => text(ticks(3, Buffer.from("tick\n"))),
  "/endless": (request) => {
    seen.signal = request.signal;
    seen.endless.set(String(request.query), request.signal);
    return text(ticks(1e9, Buffer.alloc(100_000), request.signal));
  },
  "/watch": (request) => ({ ...text(untilAborted(request.signal)), isLongRunning: true }),
  "/slow": async (request) => {
    seen.signal = request.signal;
    await new Promise<void>((resolve) => slow.push(resolve));
    return text("slow");
  },
  "/broken": () => text(failing()),
  "/bye": () => ({ status: 200, headers: { connection: "close" }, body: "bye" }),
  "/ignore-body": () => text("ignored", 403),
};

async function* failing(): AsyncGenerator<Uint8Array> {
  yield Buffer.from("half");
  await nextTurn();
  throw new Error("expected by the test");
}

const answer: Answer = async (request) => {
  try {
    return (await ROUTES[request.path]?.(request)) ?? text("not found", 404);
  } catch (error) {
    if (error instanceof ApiError) return text(JSON.stringify(error.status), error.code);
    throw error;
  }
};

/** Starts the listener under test. */
export const start = (options: Partial<ListenerOptions> = {}): Promise<Listener> =>
  listen(answer, { host: "127.0.0.1", port: 0, reportError: (error) => seen.errors.push(error), ...options });
/** TLS options of the listener under test. */
export const secure = { certificate: serving.certificate, key: serving.key, clientCa: testCa.certificate };

/** A response. */
export interface Got {
  readonly status: number;
  readonly headers: Record<string, string | string[] | undefined>;
  readonly body: string;
}

/** Options of a test request. */
export interface Ask {
  readonly method?: string;
  readonly headers?: Record<string, string | string[]>;
  readonly body?: string | Buffer;
  readonly identity?: Identity;
}

/** Sends a request to a listener. */
export type Fetch = (port: number, path: string, ask?: Ask) => Promise<Got>;

/** Creates an HTTP/1.1 client. */
export function fetchHttp1(transport: typeof http | typeof https): Fetch {
  return (port, path, ask = {}) =>
    new Promise((resolve, reject) => {
      const options = {
        port,
        path,
        method: ask.method,
        headers: ask.headers,
        ca: testCa.certificate,
        cert: ask.identity?.certificate,
        key: ask.identity?.key,
        agent: false as const,
      };
      const request = transport.request(options, async (response) => {
        try {
          const chunks: Buffer[] = [];
          for await (const chunk of response) chunks.push(chunk);
          resolve({
            status: response.statusCode ?? 0,
            headers: response.headers,
            body: Buffer.concat(chunks).toString(),
          });
        } catch (error) {
          reject(error);
        }
      });
      request.on("error", reject);
      request.end(ask.body);
    });
}

/** Opens an HTTP/2 session. */
export const connectHttp2 = (port: number, identity?: Identity): http2.ClientHttp2Session =>
  http2.connect(`https://localhost:${port}`, {
    ca: testCa.certificate,
    cert: identity?.certificate,
    key: identity?.key,
  });

/** An HTTP/2 client. */
export const fetchHttp2: Fetch = async (port, path, ask = {}) => {
  const session = connectHttp2(port, ask.identity);
  try {
    const stream = session.request(
      { ":path": path, ":method": ask.method ?? "GET", ...ask.headers },
      { endStream: ask.body === undefined },
    );
    if (ask.body !== undefined) stream.end(ask.body);
    const [headers] = await once(stream, "response");
    const chunks: Buffer[] = [];
    for await (const chunk of stream) chunks.push(chunk);
    return { status: headers[":status"], headers, body: Buffer.concat(chunks).toString() };
  } finally {
    session.destroy();
  }
};
