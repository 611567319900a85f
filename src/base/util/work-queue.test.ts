import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import { systemClock } from "./clock.ts";
import { ManualClock } from "./environment.suite.ts";
import { WorkQueue } from "./work-queue.ts";

suite("WorkQueue", () => {
  test("processes each key once, however often it was added", async () => {
    const done: string[] = [];
    const queue = new WorkQueue<string>({
      clock: systemClock,
      concurrency: 2,
      work: async (key) => void done.push(key),
    });
    for (const key of ["a", "b", "a", "c", "a"]) queue.add(key);
    assert.deepEqual(done, [], "no work starts before the next turn of the event loop");
    await queue.idle();
    assert.deepEqual(done, ["a", "b", "c"]);
  });

  test("limits concurrency and never processes a key twice at the same time", async () => {
    let running = 0;
    let most = 0;
    const busy = new Set<number>();
    const queue = new WorkQueue<number>({
      clock: systemClock,
      concurrency: 3,
      work: async (key) => {
        assert.ok(!busy.has(key));
        busy.add(key);
        running += 1;
        most = Math.max(most, running);
        await nextTurn();
        running -= 1;
        busy.delete(key);
      },
    });
    for (let round = 0; round < 5; round += 1) {
      for (let key = 0; key < 10; key += 1) queue.add(key);
      await nextTurn();
    }
    await queue.idle();
    assert.equal(most, 3);
  });

  test("processes a key again that is added while it is being processed", async () => {
    let count = 0;
    const queue: WorkQueue<string> = new WorkQueue<string>({
      clock: systemClock,
      concurrency: 1,
      work: async (key) => {
        count += 1;
        if (count < 3) queue.add(key);
        await nextTurn();
      },
    });
    queue.add("a");
    await queue.idle();
    assert.equal(count, 3);
  });

  test("retries after a failure with growing backoff, which a success resets", async () => {
    const clock = new ManualClock();
    const errors: unknown[] = [];
    const startedMs: number[] = [];
    const queue = new WorkQueue<string>({
      clock,
      concurrency: 1,
      minBackoffMs: 4,
      maxBackoffMs: 10,
      work: async () => {
        startedMs.push(clock.monotonic());
        if (startedMs.length !== 5) throw new Error(`failure ${startedMs.length}`);
      },
      onError: (error) => errors.push(error),
    });
    queue.add("a");
    await clock.advance(1000);
    assert.ok(queue.isIdle);
    queue.add("a");
    await clock.advance(4);
    assert.deepEqual(startedMs, [0, 4, 12, 22, 32, 1000, 1004]);
    assert.equal(errors.length, 6);
    await queue.close();
  });

  test("keeps the earlier of two delays, and add() overrides both", async () => {
    const clock = new ManualClock();
    const startedMs: number[] = [];
    const work = async () => void startedMs.push(clock.monotonic());
    const queue = new WorkQueue<string>({ clock, concurrency: 1, work });
    queue.addAfter("a", 60_000);
    queue.addAfter("a", 1);
    queue.addAfter("a", 60_000);
    await clock.advance(100_000);
    assert.deepEqual(startedMs, [1]);
    queue.addAfter("a", 60_000);
    queue.add("a");
    await clock.advance(100_000);
    assert.deepEqual(startedMs, [1, 100_000]);
  });

  test("is settled while a key waits for its delay, but not while it waits for a retry", async () => {
    const clock = new ManualClock();
    let failures = 1;
    const queue = new WorkQueue<string>({
      clock,
      concurrency: 1,
      minBackoffMs: 10,
      work: async () => {
        if (failures-- > 0) throw new Error("failure");
      },
    });
    queue.addAfter("later", 1000);
    assert.ok(queue.isSettled && !queue.isIdle);
    await queue.settled();
    queue.add("a");
    let isSettled = false;
    const settled = queue.settled().then(() => {
      isSettled = true;
    });
    await clock.advance(5);
    assert.ok(!isSettled);
    await clock.advance(10);
    await settled;
    assert.ok(!queue.isIdle);
    failures = 1;
    queue.add("b");
    await clock.advance(1);
    const closed = queue.settled();
    await queue.close();
    await closed;
  });

  test("finishes running work on close and starts no more", async () => {
    const begun: string[] = [];
    const { promise, resolve } = Promise.withResolvers<void>();
    const queue = new WorkQueue<string>({
      clock: systemClock,
      concurrency: 1,
      work: async (key) => {
        begun.push(key);
        await promise;
        throw new Error("would be retried");
      },
    });
    queue.add("a");
    queue.add("b");
    queue.addAfter("c", 1);
    await nextTurn();
    const closed = queue.close();
    queue.add("d");
    resolve();
    await closed;
    assert.deepEqual(begun, ["a"]);
    assert.ok(queue.isIdle);
  });
});
