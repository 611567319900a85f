import assert from "node:assert/strict";
import { suite, type TestContext, test } from "node:test";
import { eventually } from "../../../../test/support/time.ts";
import { ApiError, timeout } from "../../../base/api/api-error.ts";
import type { ApiReply } from "../../../base/api/reply.ts";
import type { Timer } from "../../../base/util/clock.ts";
import { ManualClock } from "../../../base/util/environment.suite.ts";
import { systemRandom } from "../../../base/util/random.ts";
import { LargeRequests, type LargeRequestsOptions } from "../../../serving/offload/large-requests.ts";
import { shareStore } from "../../../serving/offload/remote-store.ts";
import { callOf } from "../../../serving/pipeline/call.ts";
import { MemoryStore } from "../../../storage/memory.ts";
import type { Store } from "../../../storage/store.ts";
import { defaultConfig } from "../config.ts";
import { THREAD_PROGRAM } from "./offloading.ts";
import type { ThreadData } from "./thread.ts";
import { ThreadRequest } from "./thread-request.ts";

const CONTEXT = { random: systemRandom, schemaOf: () => undefined, kindOf: () => undefined };
const LARGE = "x".repeat(100_000);

/** A request that creates a namespace, which requires no other object. */
function requestFor(name: string): { request: ThreadRequest; body: Uint8Array } {
  const body = Buffer.from(JSON.stringify({ metadata: { name, annotations: { large: LARGE } } }));
  const headers = { "content-type": "application/json" };
  const user = { name: "alice", groups: [] };
  const origin = { authority: "", remoteAddress: undefined, remotePort: undefined };
  const sent = { method: "POST", path: "/api/v1/namespaces", query: "", headers, user, warnings: [], body, ...origin };
  return { request: new ThreadRequest(sent), body };
}

/** A store whose reads wait until `going` is resolved. */
class SlowStore extends MemoryStore {
  readonly going = Promise.withResolvers<void>();

  override async put(...values: Parameters<Store["put"]>): ReturnType<Store["put"]> {
    await this.going.promise;
    return super.put(...values);
  }
}

/** A clock that calls back right after each timer, before anything else can happen. */
class HookedClock extends ManualClock {
  afterTimer = (): void => {};

  override setTimer(delayMs: number, call: () => void): Timer {
    return super.setTimer(delayMs, () => {
      call();
      this.afterTimer();
    });
  }
}

class Fixture {
  readonly clock = new HookedClock();
  readonly store = new SlowStore();
  readonly lines: string[] = [];
  maxMemoryBytes = 2 ** 30;
  readonly requests: LargeRequests;

  constructor(t: TestContext, limits: Partial<LargeRequestsOptions> = {}) {
    const log = { error: (text: string) => void this.lines.push(text), warn() {}, info() {} };
    const fixture = this;
    this.requests = new LargeRequests({
      ...{ threads: 1, threadsForOthers: 0, threadsAway: 0, idleMs: 1000, patienceMs: 100 },
      ...{ waiting: 10, waitingBytes: 2 ** 20, waitingPerFlow: 10, waitingBytesPerFlow: 2 ** 20 },
      ...{ clock: this.clock, log, lines: log },
      ...limits,
      get maxMemoryBytes() {
        return fixture.maxMemoryBytes;
      },
      program: THREAD_PROGRAM,
      data: {
        options: defaultConfig,
        kinds: { customObjects: "defined", aggregatorRouting: false, apiDomain: "k8s.io", isShared: false },
        issuer: { issuer: "", audiences: [], maxExpirationSeconds: 0, extendsExpiration: false },
      } satisfies ThreadData,
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

suite("worker threads for large requests", () => {
  test("start on demand, are reused and end when idle", async (t) => {
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

  test("a terminating thread gets no request; it waits for the next thread", async (t) => {
    const all = new Fixture(t);
    all.store.going.resolve();
    assert.equal(await all.create("a"), 201);
    let next: ReturnType<Fixture["start"]> | undefined;
    all.clock.afterTimer = () => {
      if (next === undefined) {
        next = all.start("b");
        assert.deepEqual([all.requests.usage.threads, all.requests.usage.waiting], [1, 1]);
      }
    };
    await all.clock.advance(1000);
    const reply = await (next ?? assert.fail("no thread has ended")).reply;
    assert.equal("code" in reply && reply.code, 201);
    assert.deepEqual([all.requests.usage.lost, all.lines], [0, []]);
  });

  test("run one request at a time; requests beyond the queue limits get 429", async (t) => {
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

  test("are terminated, logged and replaced above the memory limit; the request gets 413", async (t) => {
    const all = new Fixture(t);
    all.maxMemoryBytes = 1;
    const lost = all.start("a");
    // The memory of a starting thread cannot be read yet.
    await eventually(async () => {
      await all.clock.advance(50);
      return all.requests.usage.lost === 1;
    });
    await assert.rejects(lost.reply, refusedWith(413));
    assert.deepEqual(all.lines, ["large request failed because its worker thread ended"]);
    all.maxMemoryBytes = 2 ** 30;
    all.store.going.resolve();
    assert.equal(await all.create("b"), 201);
    assert.equal(all.requests.usage.lost, 1);
  });

  test("are terminated and replaced if they do not stop after a cancelled request", async (t) => {
    const all = new Fixture(t);
    const [stuck, next] = [all.start("a"), all.start("b")];
    stuck.request.abort(timeout("too late"));
    await assert.rejects(stuck.reply, refusedWith(504));
    assert.equal(all.requests.usage.waiting, 1);
    await all.clock.advance(100);
    assert.deepEqual(all.lines, ["terminated a worker thread that did not stop after its request was cancelled"]);
    all.store.going.resolve();
    assert.equal(((await next.reply) as { code: number }).code, 201);
    assert.equal(all.requests.usage.threads, 1);
  });

  test("are reused if they stop in time", async (t) => {
    const all = new Fixture(t);
    const left = all.start("a");
    left.request.abort();
    await assert.rejects(left.reply, refusedWith(504));
    all.store.going.resolve();
    assert.equal(await all.create("b"), 201);
    await all.clock.advance(100);
    assert.deepEqual([all.requests.usage.threads, all.lines.length], [1, 0]);
  });

  test("never receive a request that is cancelled while queued", async (t) => {
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

  test("end on close, and so do their requests", async (t) => {
    const all = new Fixture(t);
    const [running, waiting] = [all.start("a"), all.start("b")];
    await all.requests.close();
    await assert.rejects(running.reply, refusedWith(504));
    await assert.rejects(waiting.reply, refusedWith(504));
    await assert.rejects(all.start("c").reply, refusedWith(504));
    assert.deepEqual([all.requests.usage.threads, all.lines.length], [0, 0]);
  });
});
