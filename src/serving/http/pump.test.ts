import assert from "node:assert/strict";
import { once } from "node:events";
import http2 from "node:http2";
import https from "node:https";
import { after, before, describe, it } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import tls from "node:tls";
import type { Outcome } from "../../base/api/call.ts";
import { makeCa, makeIdentity } from "../../base/pki/make-certificate.ts";
import { FilledBody, type Filler } from "../../data/encoding/reply/filled-body.ts";
import { type Listener, listen } from "./listener.ts";

const now = Date.now();
const ca = makeCa("test-ca", now);
const serving = makeIdentity(ca, { commonName: "test", hosts: ["127.0.0.1"] }, "server", now);

/** A body of numbered lines, so a misplaced byte shows. */
function linesFrom(start: number, count: number): Filler {
  let next = start;
  return {
    fill: (target) => {
      let at = 0;
      while (next < start + count && target.length - at >= 10) at += target.write(`${`${next++}`.padStart(9)}\n`, at);
      return at;
    },
    get isDone() {
      return next === start + count;
    },
  };
}

const textOf = (start: number, count: number): string =>
  Array.from({ length: count }, (_, i) => `${`${start + i}`.padStart(9)}\n`).join("");

describe("filled bodies", () => {
  let listener: Listener;
  let base: string;
  const errors: unknown[] = [];
  const outcomes: Outcome[] = [];
  const agent = new https.Agent({ keepAlive: true, maxSockets: 1, rejectUnauthorized: false });

  before(async () => {
    const tlsOptions = { certificate: serving.certificate, key: serving.key };
    listener = await listen(
      async (request) => {
        const { query } = request;
        const count = Number(query.get("count"));
        request.whenFinished((outcome) => outcomes.push(outcome));
        return { status: 200, headers: {}, body: new FilledBody(linesFrom(Number(query.get("start")), count)) };
      },
      { host: "127.0.0.1", port: 0, tls: tlsOptions, reportError: (error) => errors.push(error) },
    );
    base = `https://127.0.0.1:${listener.port}`;
  });

  after(async () => {
    agent.destroy();
    await listener.close(1000);
    assert.deepEqual(errors, []);
  });

  const get = async (start: number, count: number): Promise<string> => {
    const request = https.get(`${base}/?start=${start}&count=${count}`, { agent });
    const [response] = await once(request, "response");
    assert.equal(response.headers["content-length"], undefined);
    return Buffer.concat(await response.toArray()).toString();
  };

  /** Outcomes of requests. A client may have its response a moment before the server records the outcome. */
  const ended = async (count: number): Promise<Outcome[]> => {
    while (outcomes.length < count) await nextTurn();
    return outcomes.splice(0);
  };

  it("arrive complete over HTTP/1.1, several on one connection", async () => {
    const counts = [1, 1700, 60_000, 200_000];
    for (const count of counts) assert.equal(await get(count, count), textOf(count, count));
    assert.deepEqual(
      await ended(counts.length),
      counts.map((count) => ({ code: 200, bytes: count * 10 })),
    );
    assert.equal(Object.values(agent.freeSockets).flat().length, 1);
  });

  it("arrive complete over HTTP/2, many concurrently", async () => {
    const session = http2.connect(base, { rejectUnauthorized: false });
    const read = async (start: number, count: number) => {
      const stream = session.request({ ":path": `/?start=${start}&count=${count}` });
      return Buffer.concat(await stream.toArray()).toString();
    };
    const starts = Array.from({ length: 12 }, (_, i) => i * 1_000_000);
    const texts = await Promise.all(starts.map((start) => read(start, 100_000)));
    assert.deepEqual(
      texts.map((text, i) => text === textOf(starts[i] ?? 0, 100_000)),
      starts.map(() => true),
    );
    session.close();
    await once(session, "close");
    assert.deepEqual(
      await ended(starts.length),
      starts.map(() => ({ code: 200, bytes: 1_000_000 })),
    );
  });

  it("arrive complete over HTTP/1.0, without chunks", async () => {
    const socket = tls.connect({ host: "127.0.0.1", port: listener.port, rejectUnauthorized: false });
    socket.write("GET /?start=5&count=50000 HTTP/1.0\r\nHost: x\r\n\r\n");
    const answer = Buffer.concat(await socket.toArray()).toString();
    assert.equal(answer.slice(answer.indexOf("\r\n\r\n") + 4), textOf(5, 50_000));
  });

  it("stop when the client disconnects, without affecting others", async () => {
    const session = http2.connect(base, { rejectUnauthorized: false });
    for (let i = 0; i < 5; i++) {
      const stream = session.request({ ":path": "/?start=0&count=5000000" });
      await once(stream, "data");
      stream.destroy();
      const request = https.get(`${base}/?start=0&count=5000000`, { rejectUnauthorized: false, agent: false });
      request.on("error", () => {});
      const [response] = await once(request, "response");
      await once(response, "data");
      request.destroy();
    }
    const texts = await Promise.all([1, 2, 3].map((start) => get(start * 1e6, 90_000)));
    assert.deepEqual(
      texts.map((text, i) => text === textOf((i + 1) * 1e6, 90_000)),
      [true, true, true],
    );
    session.close();
  });
});
