import assert from "node:assert/strict";
import { suite, type TestContext, test } from "node:test";
import { eventually } from "../../../../test/support/time.ts";
import { ApiError, timeout } from "../../../base/api/api-error.ts";
import type { Call } from "../../../base/api/call.ts";
import type { ApiReply } from "../../../base/api/reply.ts";
import { ManualClock } from "../../../base/util/environment.suite.ts";
import { systemRandom } from "../../../base/util/random.ts";
import { LargeRequests, type LargeRequestsOptions } from "../../../serving/offload/large-requests.ts";
import { callOf } from "../../../serving/pipeline/call.ts";
import { ThreadRequest } from "./thread-request.ts";

const CONTEXT = { random: systemRandom, schemaOf: () => undefined, kindOf: () => undefined };
const BYTES = 100_000;

interface Started {
  readonly reply: Promise<ApiReply>;
  readonly request: ThreadRequest;
}

/** Threads that do what the test says: see scripted-thread.suite.ts. */
class Scripted {
  readonly clock = new ManualClock();
  readonly lines: string[] = [];
  /** The requests that threads have begun, in order. */
  readonly begun: string[] = [];
  readonly #open = new Map<string, () => void>();
  readonly requests: LargeRequests;

  constructor(t: TestContext, limits: Partial<LargeRequestsOptions> = {}) {
    const log = { error: (text: string) => void this.lines.push(text), warn() {}, info() {} };
    const gate = {
      pass: async (path: string) => {
        this.begun.push(path);
        await new Promise<void>((resolve) => this.#open.set(path, resolve));
        return path;
      },
    };
    this.requests = new LargeRequests({
      ...{ threads: 1, threadsForOthers: 0, threadsAway: 0, idleMs: 1000, patienceMs: 100 },
      ...{ waiting: 100, waitingBytes: 2 ** 26, waitingPerFlow: 50, waitingBytesPerFlow: 2 ** 25 },
      ...{ clock: this.clock, log, lines: log, maxMemoryBytes: 2 ** 30, data: undefined, parts: { gate } },
      ...limits,
      program: new URL("scripted-thread.suite.ts", import.meta.url),
    });
    t.after(() => this.requests.close());
  }

  send(name: string, path: string, bytes = BYTES): Started {
    const body = new Uint8Array(bytes);
    const origin = { authority: "", remoteAddress: undefined, remotePort: undefined };
    const user = { name, groups: [] };
    const sent = { method: "POST", path, query: "", headers: {}, user, warnings: [], body, ...origin };
    const request = new ThreadRequest(sent);
    const call: Call = callOf(CONTEXT, request);
    call.user = user;
    const reply = this.requests.carryOut(call, body);
    reply.catch(() => {});
    return { reply, request };
  }

  begins(path: string): Promise<unknown> {
    return eventually(() => this.begun.includes(path), { what: () => `${path}: ${this.begun}`, withinMs: 60_000 });
  }

  /** Lets a thread finish its request. */
  async pass(path: string): Promise<void> {
    await this.begins(path);
    this.#open.get(path)?.();
  }
}

async function codeOf({ reply }: Started): Promise<number> {
  try {
    const done = await reply;
    return "code" in done ? done.code : 0;
  } catch (error) {
    return error instanceof ApiError ? error.code : -1;
  }
}

suite("threads are shared by users", { timeout: 240_000 }, () => {
  test("a request waits for at most one of a user who floods", async (t) => {
    const all = new Scripted(t);
    const flood = Array.from({ length: 50 }, (_, at) => all.send("eve", `/eve/${at}`));
    await all.begins("/eve/0");
    for (let turn = 0; turn < 10; turn += 1) {
      const victim = all.send("bob", `/bob/${turn}`);
      const running = all.begun.at(-1) ?? "";
      await all.pass(running);
      await all.pass(`/bob/${turn}`);
      assert.equal(await codeOf(victim), 200);
      await all.begins(`/eve/${turn + 1}`);
      assert.equal(all.begun.length, 2 * (turn + 1) + 1);
    }
    for (let at = 10; at < flood.length; at += 1) await all.pass(`/eve/${at}`);
    for (const one of flood) assert.equal(await codeOf(one), 200);
  });

  test("only the user who fills the queue gets 429, anonymous or not", async (t) => {
    const all = new Scripted(t, { waitingPerFlow: 3, waitingBytesPerFlow: 4 * BYTES });
    const first = all.send("system:anonymous", "/first");
    const waiting = [1, 2, 3].map((at) => all.send("system:anonymous", `/${at}`));
    const rejected = await all.send("system:anonymous", "/4").reply;
    assert.deepEqual(rejected.type === "raw" && [rejected.code, rejected.headers["retry-after"], rejected.body], [
      429,
      "1",
      "Too many requests, please try again later.\n",
    ]);
    const others = ["bob", "system:serviceaccount:default:a", "system:serviceaccount:default:b"].map((name) =>
      all.send(name, `/${name}`, 3 * BYTES),
    );
    assert.equal(await codeOf(all.send("bob", "/large", 2 * BYTES)), 429);
    assert.equal(all.requests.usage.waiting, 6);
    for (const path of ["/first", "/bob", "/system:serviceaccount:default:a", "/system:serviceaccount:default:b"]) {
      await all.pass(path);
    }
    for (const path of ["/1", "/2", "/3"]) await all.pass(path);
    for (const one of [first, ...waiting, ...others]) assert.equal(await codeOf(one), 200);
  });

  test("a queue that many users fill still has room for one who sends little", async (t) => {
    const all = new Scripted(t, { waiting: 8 });
    const running = all.send("eve", "/running");
    const eve = [1, 2, 3, 4].map((at) => all.send("eve", `/eve/${at}`));
    const dan = [1, 2, 3, 4].map((at) => all.send("dan", `/dan/${at}`));
    const bob = all.send("bob", "/bob");
    assert.equal(await codeOf(eve[3] ?? assert.fail()), 429);
    assert.equal(all.requests.usage.waiting, 8);
    await all.pass("/running");
    await all.pass("/dan/1");
    await all.pass("/bob");
    assert.deepEqual([await codeOf(running), await codeOf(bob)], [200, 200]);
    assert.equal(dan.length, 4);
  });

  test("`flowOf` and `admission` decide what shares a place and what may wait", async (t) => {
    const seen: unknown[] = [];
    const all = new Scripted(t, {
      flowOf: ({ request }) => request.path.split("/")[1] ?? "",
      admission: {
        admits(call, bytes, waiting) {
          seen.push([call.user.name, bytes, waiting]);
          return call.user.name !== "eve";
        },
      },
    });
    const [first, second] = [all.send("bob", "/a/1"), all.send("dan", "/a/2")];
    assert.equal(await codeOf(all.send("eve", "/a/3")), 429);
    assert.deepEqual(seen.at(-1), ["eve", BYTES, { requests: 1, bytes: BYTES }]);
    for (const path of ["/a/1", "/a/2"]) await all.pass(path);
    assert.deepEqual([await codeOf(first), await codeOf(second)], [200, 200]);
  });

  test("a further thread serves users that no thread works for, and only those", async (t) => {
    const all = new Scripted(t, { threadsForOthers: 1 });
    const flood = [0, 1, 2].map((at) => all.send("eve", `/eve/${at}`));
    await all.begins("/eve/0");
    assert.equal(all.requests.usage.threads, 1);
    // The running request never passes before that of the other user is done.
    const victim = all.send("bob", "/bob");
    await all.pass("/bob");
    assert.equal(await codeOf(victim), 200);
    assert.deepEqual(all.begun, ["/eve/0", "/bob"]);
    assert.deepEqual(all.requests.usage, { threads: 2, waiting: 2, carriedOut: 2, lost: 0 });
    for (const at of [0, 1, 2]) await all.pass(`/eve/${at}`);
    for (const one of flood) assert.equal(await codeOf(one), 200);
    await all.clock.advance(1000);
    await eventually(() => all.requests.usage.threads === 0);
  });
});

suite("a thread that ends by itself", { timeout: 240_000 }, () => {
  for (const path of ["/throw", "/reject", "/exit"]) {
    test(`${path.slice(1)}: its request gets 500, others are carried out by a new thread`, async (t) => {
      const all = new Scripted(t);
      const lost = all.send("eve", path);
      const others = [all.send("bob", "/1"), all.send("eve", "/2")];
      assert.equal(await codeOf(lost), 500);
      for (const next of ["/1", "/2"]) await all.pass(next);
      for (const one of others) assert.equal(await codeOf(one), 200);
      assert.deepEqual(all.requests.usage, { threads: 1, waiting: 0, carriedOut: 3, lost: 1 });
      assert.deepEqual(all.lines, ["large request failed because its worker thread ended"]);
    });
  }

  test("or never returns is ended after its deadline, and its request gets 504", async (t) => {
    const all = new Scripted(t);
    const stuck = all.send("eve", "/hang");
    const next = all.send("bob", "/1");
    stuck.request.abort(timeout("too late"));
    assert.equal(await codeOf(stuck), 504);
    await all.clock.advance(100);
    await all.pass("/1");
    assert.equal(await codeOf(next), 200);
  });

  test("again and again is started ever more rarely, until a request succeeds", async (t) => {
    const all = new Scripted(t);
    const lost = Array.from({ length: 5 }, () => all.send("eve", "/exit"));
    const last = all.send("eve", "/1");
    const begunIs = (count: number) =>
      eventually(() => all.requests.usage.lost === count && all.requests.usage.threads === 0, {
        what: () => JSON.stringify(all.requests.usage),
        withinMs: 60_000,
      });
    // The first failure may be an accident: the next thread starts at once.
    await begunIs(2);
    for (const [at, delayMs] of [100, 200, 400].entries()) {
      await all.clock.advance(delayMs - 1);
      assert.deepEqual([all.requests.usage.threads, all.requests.usage.carriedOut], [0, at + 2]);
      await all.clock.advance(1);
      await begunIs(at + 3);
    }
    for (const one of lost) assert.equal(await codeOf(one), 500);
    await all.clock.advance(800);
    await all.pass("/1");
    assert.equal(await codeOf(last), 200);
    // A success forgives: the next failure delays nothing.
    const again = all.send("eve", "/exit");
    assert.equal(await codeOf(again), 500);
    const after = all.send("eve", "/2");
    await all.pass("/2");
    assert.equal(await codeOf(after), 200);
  });

  test("of one user is no obstacle for another one with a thread of his own", async (t) => {
    const all = new Scripted(t, { threadsForOthers: 1 });
    const first = all.send("eve", "/first");
    await all.begins("/first");
    const victim = all.send("bob", "/bob/0");
    await all.pass("/bob/0");
    assert.equal(await codeOf(victim), 200);
    const lost = all.send("eve", "/exit");
    await all.pass("/first");
    assert.deepEqual([await codeOf(first), await codeOf(lost)], [200, 500]);
    const next = all.send("bob", "/bob/1");
    await all.pass("/bob/1");
    assert.equal(await codeOf(next), 200);
  });
});
