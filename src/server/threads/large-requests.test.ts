import assert from "node:assert/strict";
import { suite, type TestContext, test } from "node:test";
import { eventually } from "../../../test/support/time.ts";
import { ApiError, timeout } from "../../api/api-error.ts";
import type { ApiReply } from "../../api/reply.ts";
import { ManualClock } from "../../lib/environment.suite.ts";
import { systemRandom } from "../../lib/random.ts";
import { callOf } from "../../pipeline/call.ts";
import { MemoryStore } from "../../storage/memory.ts";
import type { Store } from "../../storage/store.ts";
import { defaultConfig } from "../config.ts";
import { LargeRequests, type LargeRequestsOptions } from "./large-requests.ts";
import { shareStore } from "./remote-store.ts";
import { ThreadRequest } from "./thread-request.ts";

const CONTEXT = { random: systemRandom, schemaOf: () => undefined, kindOf: () => undefined };
const LARGE = "x".repeat(100_000);

/** A request to create a namespace, which no other object is looked up for. */
function requestFor(name: string): { request: ThreadRequest; body: Uint8Array } {
  const body = Buffer.from(JSON.stringify({ metadata: { name, annotations: { large: LARGE } } }));
  const headers = { "content-type": "application/json" };
  const user = { name: "somebody", groups: [] };
  const origin = { authority: "", remoteAddress: undefined, remotePort: undefined };
  const sent = { method: "POST", path: "/api/v1/namespaces", query: "", headers, user, warnings: [], body, ...origin };
  return { request: new ThreadRequest(sent), body };
}

/** A store that answers no read until it is told to. */
class SlowStore extends MemoryStore {
  readonly going = Promise.withResolvers<void>();

  override async put(...values: Parameters<Store["put"]>): ReturnType<Store["put"]> {
    await this.going.promise;
    return super.put(...values);
  }
}

class Fixture {
  readonly clock = new ManualClock();
  readonly store = new SlowStore();
  readonly lines: string[] = [];
  maxMemoryBytes = 2 ** 30;
  readonly requests: LargeRequests;

  constructor(t: TestContext, limits: Partial<LargeRequestsOptions> = {}) {
    const log = { error: (text: string) => void this.lines.push(text), warn() {}, info() {} };
    const fixture = this;
    this.requests = new LargeRequests({
      ...{ threads: 1, threadsAway: 0, waiting: 10, waitingBytes: 2 ** 20, idleMs: 1000, patienceMs: 100 },
      ...{ clock: this.clock, log, lines: log },
      ...limits,
      get maxMemoryBytes() {
        return fixture.maxMemoryBytes;
      },
      options: defaultConfig,
      kinds: { customObjects: "defined", aggregatorRouting: false, isShared: false },
      issuer: { issuer: "", audiences: [], maxExpirationSeconds: 0, extendsExpiration: false },
      parts: { store: shareStore(this.store) },
    });
    t.after(() => this.requests.close());
  }

  start(name: string): { reply: Promise<ApiReply>; request: ThreadRequest } {
    const { request, body } = requestFor(name);
    const reply = this.requests.carryOut(callOf(CONTEXT, request), body);
    reply.catch(() => {});
    return { reply, request };
  }

  async create(name: string): Promise<number> {
    const reply = await this.start(name).reply;
    return "code" in reply ? reply.code : 0;
  }

  threadsAre(count: number): Promise<unknown> {
    return eventually(() => this.requests.usage.threads === count, { what: () => JSON.stringify(this.requests.usage) });
  }
}

const refusedWith = (code: number) => (error: unknown) => error instanceof ApiError && error.code === code;

suite("threads for large requests", { timeout: 240_000 }, () => {
  test("come with the first one, stay for the next and end when none comes for a while", async (t) => {
    const all = new Fixture(t);
    all.store.going.resolve();
    assert.equal(all.requests.usage.threads, 0);
    assert.equal(await all.create("a"), 201);
    assert.equal(await all.create("a"), 409);
    assert.deepEqual(all.requests.usage, { threads: 1, waiting: 0, carriedOut: 2, lost: 0 });
    await all.clock.advance(999);
    assert.equal(await all.create("b"), 201);
    await all.clock.advance(999);
    assert.equal(all.requests.usage.threads, 1);
    await all.clock.advance(1);
    await all.threadsAre(0);
    assert.equal(await all.create("c"), 201);
    assert.deepEqual(all.lines, []);
  });

  test("get no request once they are ending; it waits for the next one", async (t) => {
    const all = new Fixture(t);
    all.store.going.resolve();
    assert.equal(await all.create("a"), 201);
    await all.clock.advance(1000);
    assert.equal(all.requests.usage.threads, 1, "it has ended before anything could be given to it");
    const next = all.start("b");
    assert.deepEqual([all.requests.usage.threads, all.requests.usage.waiting], [1, 1]);
    assert.equal(((await next.reply) as { code: number }).code, 201);
    assert.deepEqual([all.requests.usage.lost, all.lines], [0, []]);
  });

  test("work on one request at a time; of those that wait, those beyond number and size get 429", async (t) => {
    const all = new Fixture(t, { waiting: 2 });
    const first = all.start("a");
    const [second, third] = [all.start("b"), all.start("c")];
    assert.deepEqual([all.requests.usage.threads, all.requests.usage.waiting], [1, 2]);
    const refused = await all.start("d").reply;
    assert.deepEqual(refused, {
      type: "raw",
      code: 429,
      headers: { "content-type": "text/plain; charset=utf-8", "x-content-type-options": "nosniff", "retry-after": "1" },
      body: "Too many requests, please try again later.\n",
    });
    all.store.going.resolve();
    for (const { reply } of [first, second, third]) assert.equal(((await reply) as { code: number }).code, 201);

    const bounded = new Fixture(t, { waitingBytes: 150_000 });
    const under = [bounded.start("a"), bounded.start("b")];
    assert.equal(await bounded.create("c"), 429);
    bounded.store.going.resolve();
    await Promise.all(under.map(({ reply }) => reply));
  });

  test("that take too much memory are ended, told of and replaced; the request gets 413", async (t) => {
    const all = new Fixture(t);
    all.maxMemoryBytes = 1;
    const lost = all.start("a");
    // A thread that is being started cannot be looked into yet.
    await eventually(async () => {
      await all.clock.advance(50);
      return all.requests.usage.lost === 1;
    });
    await assert.rejects(lost.reply, refusedWith(413));
    assert.deepEqual(all.lines, ["a large request was lost with the thread that worked on it"]);
    all.maxMemoryBytes = 2 ** 30;
    all.store.going.resolve();
    assert.equal(await all.create("b"), 201);
    assert.equal(all.requests.usage.lost, 1);
  });

  test("that do not stop when their request is given up are ended and replaced", async (t) => {
    const all = new Fixture(t);
    const [stuck, next] = [all.start("a"), all.start("b")];
    stuck.request.abort(timeout("too late"));
    await assert.rejects(stuck.reply, refusedWith(504));
    assert.equal(all.requests.usage.waiting, 1);
    await all.clock.advance(100);
    assert.deepEqual(all.lines, ["a thread was ended that worked on a large request after it was given up"]);
    all.store.going.resolve();
    assert.equal(((await next.reply) as { code: number }).code, 201);
    assert.equal(all.requests.usage.threads, 1);
  });

  test("that stop in time work on", async (t) => {
    const all = new Fixture(t);
    const left = all.start("a");
    left.request.abort();
    await assert.rejects(left.reply, refusedWith(504));
    all.store.going.resolve();
    assert.equal(await all.create("b"), 201);
    await all.clock.advance(100);
    assert.deepEqual([all.requests.usage.threads, all.lines.length], [1, 0]);
  });

  test("never hear of a request that is given up while it waits", async (t) => {
    const all = new Fixture(t);
    const [, waiting] = [all.start("a"), all.start("b")];
    waiting.request.abort();
    await assert.rejects(waiting.reply, refusedWith(504));
    assert.equal(all.requests.usage.waiting, 0);
    const { request, body } = requestFor("c");
    request.abort();
    await assert.rejects(all.requests.carryOut(callOf(CONTEXT, request), body), refusedWith(504));
    assert.equal(all.requests.usage.carriedOut, 1);
  });

  test("end with the server, and so do the requests that they work on", async (t) => {
    const all = new Fixture(t);
    const [running, waiting] = [all.start("a"), all.start("b")];
    await all.requests.close();
    await assert.rejects(running.reply, refusedWith(504));
    await assert.rejects(waiting.reply, refusedWith(504));
    await assert.rejects(all.start("c").reply, refusedWith(504));
    assert.deepEqual([all.requests.usage.threads, all.lines.length], [0, 0]);
  });
});
