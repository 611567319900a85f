import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import { connect as connectHttp2, constants } from "node:http2";
import { Agent, request } from "node:https";
import { connect as connectTcp } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { connect as connectTls } from "node:tls";
import WebSocket from "ws";
import { RawClient } from "../cost/raw-client.ts";
import type { CostlyRequest } from "../cost/server.ts";
import type { Answer } from "../support/client.ts";
import { tokens } from "../support/oracle.ts";
import { SECRET_MARK, type SecretSearch } from "../support/secrets.ts";

/** The attacked server. */
export interface Target {
  readonly base: string;
  readonly costly: readonly CostlyRequest[];
  /** Searches all error responses for secrets. */
  readonly answers: SecretSearch;
  /** Counts outcomes, by attacker and status. */
  readonly count: (attacker: string, what: string) => void;
}

/** One episode of an attack. It ends by itself, or when the signal aborts. */
type Attack = (target: Target, signal: AbortSignal, turn: number) => Promise<void>;

/** A large list, in a namespace of its own. */
export const LARGE = "/api/v1/namespaces/large/configmaps";
const SECRETS = "/api/v1/namespaces/large/secrets";
const authorization = `Bearer ${tokens.admin}`;

/** How long slow attackers hold a connection. */
const HOLD_MS = 15_000;
const FLOOD = 50;
const PINGS = 20_000;
const TIMEOUT_MS = 30_000;
/** How long the server waits for headers. */
const HEADERS_MS = 32_000;
/** A request that takes longer gets no answer at all, however busy the machine is. */
const ANSWER_MS = 300_000;

const urlOf = ({ base }: Target) => new URL(base);
const isOver = (signal: AbortSignal, begun: number) => signal.aborted || performance.now() - begun > HOLD_MS;
/** Waits, at most until the load ends. */
const rest = (ms: number, signal: AbortSignal) => pause(ms, undefined, { signal }).catch(() => undefined);

/** Sends a request on a separate connection. The caller must destroy it. */
function open(target: Target, method: string, path: string, headers: Record<string, string | number> = {}) {
  const agent = new Agent({ keepAlive: false, rejectUnauthorized: false });
  const call = request(`${target.base}${path}`, { method, agent, headers: { authorization, ...headers } });
  call.on("error", () => undefined);
  return call;
}

/** Sends requests that `npm run fuzz cost` found to be expensive. */
const sendsCostly: Attack = async (target, signal, turn) => {
  const client = new RawClient(target.base, ANSWER_MS);
  for (let step = 0; step < 5 && !signal.aborted; step += 1) {
    const costly = target.costly[(turn * 7 + step) % target.costly.length];
    if (!costly) break;
    const answer = await sendAndCount(target, "costly", client, costly);
    if (answer.status >= 400) target.answers.read(JSON.stringify(answer.body));
    // Stored objects are no leak, but would hide one.
    const { pathname } = new URL(costly.path, target.base);
    if (answer.status === 201 && costly.method === "POST")
      await client.send({ method: "DELETE", path: `${pathname}/${answer.body.metadata.name}?gracePeriodSeconds=0` });
  }
  client.close();
};

/** Sends a request and counts its outcome. */
async function sendAndCount(
  target: Target,
  attacker: string,
  client: RawClient,
  costly: CostlyRequest,
): Promise<Answer> {
  const begun = performance.now();
  const answer = await client.send(costly);
  // Attackers have low priority. One that gets no processor for so long sends its headers too late.
  const isLate = performance.now() - begun > HEADERS_MS;
  const outcome = isLate ? "closed for its slowness" : `no answer: ${answer.body.message}`;
  target.count(attacker, answer.status === 0 ? outcome : String(answer.status));
  return answer;
}

/** Reads a large list slowly. */
const readsSlowly: Attack = async (target, signal) => {
  const call = open(target, "GET", LARGE);
  const begun = performance.now();
  let response: IncomingMessage | undefined;
  call.once("response", (begins) => {
    response = begins.on("error", () => undefined).pause();
    target.count("slow reader", String(begins.statusCode));
  });
  call.end();
  while (!isOver(signal, begun)) {
    response?.read(1000);
    await rest(200, signal);
  }
  call.destroy();
};

/** Sends a body byte by byte. */
const writesSlowly: Attack = async (target, signal) => {
  const call = open(target, "POST", LARGE, { "content-type": "application/json", "content-length": 100_000 });
  call.on("response", (response) => {
    target.count("slow writer", String(response.statusCode));
    response.resume();
  });
  const begun = performance.now();
  while (!isOver(signal, begun) && !call.destroyed) {
    call.write(" ");
    await rest(100, signal);
  }
  call.destroy();
};

/** Sends many requests at once without waiting: wrong tokens, unknown paths, small invalid writes. */
const floods: Attack = (target, signal, turn) => {
  const { hostname, port } = urlOf(target);
  const wrong = `${SECRET_MARK}-${turn}`;
  const lines = Array.from({ length: FLOOD }, (_, index) => {
    const token = index % 3 === 0 ? wrong : tokens.admin;
    const path = index % 3 === 1 ? `/apis/none/v1/x${index}` : `${LARGE}/missing`;
    const last = index === FLOOD - 1 ? "Connection: close\r\n" : "";
    return `GET ${path} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${token}\r\n${last}\r\n`;
  });
  return new Promise((resolve) => {
    const socket = connectTls({ host: hostname, port: Number(port), rejectUnauthorized: false }, () => {
      socket.write(lines.join(""));
    });
    const end = () => socket.destroy();
    signal.addEventListener("abort", end, { once: true });
    socket.setTimeout(TIMEOUT_MS, end);
    socket.on("data", (chunk) => {
      const text = chunk.toString("latin1");
      target.count("flood", `${text.split("HTTP/1.1 ").length - 1 > 0 ? "answers" : "pieces"}`);
      target.answers.read(text);
    });
    socket.once("error", end);
    socket.once("close", () => {
      signal.removeEventListener("abort", end);
      resolve();
    });
  });
};

/** Requests a large list and resets the connection when the response begins. */
const resets: Attack = (target) => {
  const { hostname, port } = urlOf(target);
  const { promise, resolve } = Promise.withResolvers<void>();
  const socket = connectTcp({ host: hostname, port: Number(port) });
  const secure = connectTls({ socket, rejectUnauthorized: false }, () => {
    secure.write(`GET ${LARGE} HTTP/1.1\r\nHost: a\r\nAuthorization: ${authorization}\r\n\r\n`);
  });
  secure.once("data", () => {
    target.count("reset", "cut off");
    socket.resetAndDestroy();
  });
  for (const one of [socket, secure]) one.on("error", () => socket.destroy());
  socket.setTimeout(TIMEOUT_MS, () => socket.destroy());
  socket.once("close", () => {
    secure.destroy();
    resolve();
  });
  return promise;
};

/** Opens many HTTP/2 streams and cancels each at once. */
const cancels: Attack = (target, signal) => {
  const session = connectHttp2(target.base, { rejectUnauthorized: false });
  const { promise, resolve } = Promise.withResolvers<void>();
  const end = () => session.destroy();
  signal.addEventListener("abort", end, { once: true });
  session.on("error", () => undefined);
  session.once("close", () => {
    signal.removeEventListener("abort", end);
    target.count("cancelled streams", "sessions");
    resolve();
  });
  session.once("connect", () => {
    for (let index = 0; index < FLOOD; index += 1) {
      const stream = session.request({ ":path": LARGE, authorization });
      stream.on("error", () => undefined);
      stream.close(constants.NGHTTP2_CANCEL);
    }
    session.close();
  });
  session.setTimeout(5000, end);
  return promise;
};

/** Watches by WebSocket, sends pings and reads nothing. */
const pings: Attack = async (target, signal) => {
  const socket = new WebSocket(`${target.base.replace("https", "wss")}${LARGE}?watch=1`, {
    origin: target.base,
    rejectUnauthorized: false,
    headers: { authorization },
  });
  socket.on("error", () => undefined);
  await new Promise((resolve) => socket.once("open", resolve).once("close", resolve));
  target.count("pings", socket.readyState === WebSocket.OPEN ? "open" : "refused");
  socket.pause();
  for (let sent = 0; sent < PINGS && socket.readyState === WebSocket.OPEN && !signal.aborted; sent += 1) {
    socket.ping(Buffer.alloc(120));
    if (sent % 500 === 0) await rest(50, signal);
  }
  socket.terminate();
};

/** Reads large lists as fast as possible, in several encodings. */
const lists: Attack = async (target, signal, turn) => {
  const accepts = ["application/json", "application/yaml", "application/json;as=Table;v=v1;g=meta.k8s.io"];
  const accept = accepts[turn % accepts.length] ?? "";
  const call = open(target, "GET", LARGE, { accept });
  await new Promise((resolve) => {
    const end = () => call.destroy();
    signal.addEventListener("abort", end, { once: true });
    call.once("response", (response) => {
      target.count("large lists", String(response.statusCode));
      response.on("error", () => undefined).resume();
    });
    call.once("close", () => {
      signal.removeEventListener("abort", end);
      resolve(undefined);
    });
    call.end();
  });
};

/** Watches everything from the start, including Secrets, and reads nothing. */
const watchesUnread: Attack = async (target, signal, turn) => {
  const query = "watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true";
  const call = open(target, "GET", `${turn % 2 === 0 ? LARGE : SECRETS}?${query}`);
  call.once("response", (response) => {
    target.count("unread watch", String(response.statusCode));
    response.on("error", () => undefined).pause();
  });
  call.end();
  const begun = performance.now();
  while (!isOver(signal, begun)) await rest(500, signal);
  call.destroy();
};

/** Connects and sends nothing, or something that is not TLS. */
const saysNothing: Attack = async (target, signal, turn) => {
  const { hostname, port } = urlOf(target);
  const socket = connectTcp({ host: hostname, port: Number(port) });
  socket.on("error", () => undefined).resume();
  if (turn % 2 === 0) socket.write("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
  const begun = performance.now();
  while (!isOver(signal, begun) && !socket.destroyed) await rest(500, signal);
  target.count("silent", "ended");
  socket.destroy();
};

/** Changes a large object and a Secret repeatedly, so that watches have unread events. */
const writes: Attack = async (target, signal, turn) => {
  const client = new RawClient(target.base, ANSWER_MS);
  const headers = { "content-type": "application/merge-patch+json" };
  const value = `${SECRET_MARK}-${turn}-`;
  const secret = { stringData: { a: value.repeat(500) } };
  const map = { data: { a: String(turn).padEnd(100_000, "x") } };
  for (const [path, body] of [
    [`${LARGE}/l0`, map],
    [`${SECRETS}/s0`, secret],
  ] as const) {
    const patch = { method: "PATCH", path, headers, body: Buffer.from(JSON.stringify(body)) };
    const answer = await sendAndCount(target, "writes", client, patch);
    if (answer.status >= 400) target.answers.read(JSON.stringify(answer.body));
  }
  client.close();
  await rest(20, signal);
};

/** The attackers, with their share of 50 connections. */
const ATTACKERS: readonly (readonly [Attack, count: number])[] = [
  [sendsCostly, 8],
  [readsSlowly, 6],
  [writesSlowly, 6],
  [floods, 6],
  [resets, 4],
  [cancels, 4],
  [pings, 4],
  [lists, 3],
  [watchesUnread, 5],
  [saysNothing, 2],
  [writes, 2],
];

/** Pause of an attacker that fails at once. */
const BREATH_MS = 10;

/** Attacks on all connections until the signal aborts. Resolves when all have ended, or some time after that. */
export async function attack(target: Target, signal: AbortSignal): Promise<void> {
  const attackers = ATTACKERS.flatMap(([one, count]) => Array.from({ length: count }, () => one));
  const left = Promise.all(
    attackers.map(async (one, index) => {
      for (let turn = index; !signal.aborted; turn += attackers.length) {
        await one(target, signal, turn).catch(() => undefined);
        await rest(BREATH_MS, signal);
      }
    }),
  );
  // A client that hears nothing of its own end, as one of Node's may, does not hold up the result.
  const late = once(signal, "abort").then(() => pause(2 * ANSWER_MS, undefined, { ref: false }));
  await Promise.race([left, late]);
}

/** Creates objects for a list of 20 MB, and Secrets. */
export async function prepare(base: string, secrets: SecretSearch): Promise<void> {
  const client = new RawClient(base, ANSWER_MS);
  const create = async (path: string, value: object) => {
    const { status, body } = await client.send({ method: "POST", path, body: Buffer.from(JSON.stringify(value)) });
    if (status !== 201) throw new Error(`${path}: ${status} ${body.message}`);
  };
  await create("/api/v1/namespaces", { metadata: { name: "large" } });
  await create("/api/v1/namespaces/large/serviceaccounts", { metadata: { name: "default" } });
  for (let index = 0; index < 200; index += 1) {
    await create(LARGE, { metadata: { name: `l${index}` }, data: { a: "a line\n".repeat(14_000) } });
  }
  for (let index = 0; index < 20; index += 1) {
    const value = `${SECRET_MARK}-stored-${index}`;
    secrets.add(`the Secret s${index}`, value);
    await create(SECRETS, { metadata: { name: `s${index}` }, stringData: { a: value } });
  }
  client.close();
}
