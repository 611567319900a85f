import { once } from "node:events";
import { TokenAuthenticator } from "../../access/authentication/token-file.ts";
import { alwaysAllow } from "../../access/authorization/always.ts";
import { forbidden } from "../../base/api/api-error.ts";
import type { Call, Outcome } from "../../base/api/call.ts";
import type { WebSocketChannel } from "../../base/api/channel.ts";
import type { ApiReply } from "../../base/api/reply.ts";
import { systemClock } from "../../base/util/clock.ts";
import { systemRandom } from "../../base/util/random.ts";
import { Catalog } from "../../resources/model/catalog.ts";
import { secure } from "../http/listener.suite.ts";
import { type Answer, type Listener, listen } from "../http/listener.ts";
import { serveUpgrades } from "../http/websocket.ts";
import { answer } from "./answer.ts";
import { authenticate } from "./authenticate.ts";
import { compose, stagesFor } from "./pipeline.ts";
import { type Endpoint, route } from "./router.ts";

/** The token that the server accepts. */
export const TOKEN = "secret";
/** Deadline of requests that do not stream. */
export const DEADLINE_MS = 100;
/** Chunk size of `/endless`. */
export const CHUNK_BYTES = 64 * 1024;

/** A server with streaming endpoints, and counters for tests. */
export interface StreamServer {
  readonly listener: Listener;
  /** Lets `/log` write its second line. */
  goOn(): void;
  /** Number of chunks `/endless` has produced. */
  produced: number;
  /** Number of sources that have ended. */
  ended: number;
  /** The last call per path. */
  readonly calls: Map<string, Call>;
  /** The outcome of the last call of a path. */
  outcome(path: string): Promise<Outcome>;
  readonly errors: unknown[];
}

/** Starts a server with the production stages and streaming endpoints. */
export async function startStreams(): Promise<StreamServer> {
  let goOn = (): void => {};
  const outcomes = new Map<string, Promise<Outcome>>();
  const errors: unknown[] = [];
  const report = (error: unknown): void => void errors.push(error);

  async function* log(): AsyncGenerator<Uint8Array> {
    const gone = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    yield Buffer.from("one\n");
    await gone;
    yield Buffer.from("two\n");
  }

  async function* endless({ signal }: Call): AsyncGenerator<Uint8Array> {
    try {
      while (!signal.aborted) {
        server.produced++;
        yield Buffer.alloc(CHUNK_BYTES, 120);
      }
    } finally {
      server.ended++;
    }
  }

  async function* quiet({ signal }: Call): AsyncGenerator<Uint8Array> {
    yield Buffer.from("open");
    try {
      if (!signal.aborted) await once(signal, "abort");
    } finally {
      server.ended++;
    }
  }

  async function* broken(): AsyncGenerator<Uint8Array> {
    yield Buffer.from("half");
    throw new Error("expected by the test");
  }

  const stream = (body: AsyncIterable<Uint8Array>): ApiReply => ({
    type: "stream",
    code: 200,
    headers: { "content-type": "text/plain" },
    body,
  });

  const paths: Readonly<Record<string, (call: Call) => ApiReply | Promise<ApiReply>>> = {
    "/log": () => stream(log()),
    "/endless": (call) => stream(endless(call)),
    "/quiet": (call) => stream(quiet(call)),
    "/broken": () => stream(broken()),
    "/echo": ({ request }) => stream(request.bodyStream(Number(request.query.get("max") ?? "1e9"))),
    "/first": async ({ request }) => {
      for await (const chunk of request.bodyStream()) {
        return { type: "raw", code: 200, headers: {}, body: String(chunk[0]) };
      }
      return { type: "raw", code: 200, headers: {}, body: "nothing" };
    },
    "/slow": async ({ signal }) => {
      await once(signal, "abort");
      throw signal.reason;
    },
    "/exec": ({ request }) => {
      if (request.query.has("deny")) throw forbidden({ group: "", resource: "things" }, "x", "not today");
      if (request.upgrade === "spdy/3.1") return { type: "connect", over: "upgrade", protocol: "SPDY/3.1", run: echo };
      return {
        type: "connect",
        over: "websocket",
        protocols: ["v5.channel.k8s.io", "v4.channel.k8s.io"],
        run: answerAll,
      };
    },
  };
  const endpoint: Endpoint = (call) => {
    const { path } = call.request;
    server.calls.set(path, call);
    outcomes.set(path, new Promise((resolve) => call.whenFinished(resolve)));
    return paths[path]?.(call);
  };

  const options = {
    reportError: report,
    requestTimeoutMs: DEADLINE_MS,
    clock: systemClock,
    isLongRunning: ({ path }: { path: string }) => path !== "/slow",
    hasTable: () => true,
    isUnstructured: () => false,
    authorizer: alwaysAllow,
  };
  const user = { name: "ann", groups: [] };
  const catalog = new Catalog([]);
  const handler = compose(
    stagesFor(
      options,
      authenticate({ authenticator: new TokenAuthenticator([{ token: TOKEN, user }]), audiences: [], refused: report }),
    ),
    route({ catalog, objects: () => Promise.reject(new Error("there are no objects")), endpoints: [endpoint] }),
  );
  const context = {
    report,
    now: systemClock.now,
    random: systemRandom,
    schemaOf: () => undefined,
    kindOf: () => undefined,
  };
  const answerRequest: Answer = (request) => answer(context, handler, request);
  const listener = await listen(answerRequest, {
    host: "127.0.0.1",
    port: 0,
    tls: secure,
    onUpgrade: serveUpgrades(answerRequest, report),
    reportError: report,
  });
  const server: StreamServer = {
    listener,
    goOn: () => goOn(),
    produced: 0,
    ended: 0,
    calls: new Map(),
    outcome: (path) => outcomes.get(path) ?? Promise.reject(new Error(`${path} was not requested`)),
    errors,
  };
  return server;
}

async function answerAll(channel: WebSocketChannel): Promise<void> {
  for await (const { data, isBinary } of channel.messages) {
    const text = Buffer.from(data).toString();
    if (text === "bye") return;
    await channel.send(isBinary ? data : `${channel.protocol}: ${text}`);
  }
}

async function echo(connection: NodeJS.ReadWriteStream): Promise<void> {
  for await (const chunk of connection) {
    if (String(chunk) === "bye") return;
    connection.write(chunk);
  }
}
