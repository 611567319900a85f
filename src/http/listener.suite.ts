import { once } from "node:events";
import type http from "node:http";
import http2 from "node:http2";
import type https from "node:https";
import { setImmediate as nextTurn } from "node:timers/promises";
import { ApiError } from "../api/api-error.ts";
import type { ApiRequest } from "../api/call.ts";
import type { EncodedReply } from "../encoding/reply/encoded-reply.ts";
import { type Answer, type Listener, type ListenerOptions, listen } from "./listener.ts";
import { type Identity, makeAuthority, makeIdentity } from "./x509.ts";

const now = Date.now();
/** Vouches for the listener and its clients. */
export const authority = makeAuthority("test-ca", now);
const serving = makeIdentity(authority, { commonName: "test", hosts: ["localhost", "127.0.0.1"] }, "server", now);
/** Who the listener knows. */
export const client = makeIdentity(authority, { commonName: "ann", organizations: ["dev", "a, O=x"] }, "client", now);
/** Who it does not know. */
export const stranger = makeIdentity(makeAuthority("other-ca", now), { commonName: "eve" }, "client", now);

/** The size that bodies may have at `/echo`. */
export const LIMIT = 1000;
/** The size of the answer at `/large`: more than the system takes for a client that reads nothing. */
export const LARGE_BYTES = 16_000_000;
/** What the answers have noticed: the signal of the last that takes long, chunks and ends of streams, requests to `/read`, and failures. */
export const seen: {
  signal: AbortSignal | undefined;
  chunks: number;
  ended: number;
  begun: number;
  readonly errors: unknown[];
} = {
  signal: undefined,
  chunks: 0,
  ended: 0,
  begun: 0,
  errors: [],
};

/** Requests to `/slow` that wait for their answer, each with what gives it. */
export const slow: (() => void)[] = [];

/** Yields chunks until told to stop. */
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
    return (await ROUTES[request.path]?.(request)) ?? text("nothing here", 404);
  } catch (error) {
    if (error instanceof ApiError) return text(JSON.stringify(error.status), error.code);
    throw error;
  }
};

/** Starts the listener under test. */
export const start = (options: Partial<ListenerOptions> = {}): Promise<Listener> =>
  listen(answer, { host: "127.0.0.1", port: 0, reportError: (error) => seen.errors.push(error), ...options });
/** How it serves TLS. */
export const secure = { certificate: serving.certificate, key: serving.key, clientAuthority: authority.certificate };

/** An answer. */
export interface Got {
  readonly status: number;
  readonly headers: Record<string, string | string[] | undefined>;
  readonly body: string;
}

/** What to ask with. */
export interface Ask {
  readonly method?: string;
  readonly headers?: Record<string, string | string[]>;
  readonly body?: string | Buffer;
  readonly identity?: Identity;
}

/** Asks a listener once. */
export type Fetch = (port: number, path: string, ask?: Ask) => Promise<Got>;

/** A client that speaks HTTP/1.1. */
export function fetchHttp1(transport: typeof http | typeof https): Fetch {
  return (port, path, ask = {}) =>
    new Promise((resolve, reject) => {
      const options = {
        port,
        path,
        method: ask.method,
        headers: ask.headers,
        ca: authority.certificate,
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

/** A connection that speaks HTTP/2. */
export const connectHttp2 = (port: number, identity?: Identity): http2.ClientHttp2Session =>
  http2.connect(`https://localhost:${port}`, {
    ca: authority.certificate,
    cert: identity?.certificate,
    key: identity?.key,
  });

/** A client that speaks HTTP/2. */
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
