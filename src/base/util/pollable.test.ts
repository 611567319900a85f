import assert from "node:assert/strict";
import { test } from "node:test";
import { END, type Pollable, PollWaiter, pollableOf } from "./pollable.ts";

const turn = () => new Promise((resolve) => setImmediate(resolve));

async function* numbers(count: number, error?: Error): AsyncGenerator<{ n: number }> {
  for (let n = 1; n <= count; n++) yield { n };
  if (error) throw error;
}

test("a polled iterator returns its values, wakes the poller, and ends", async () => {
  const polled = pollableOf(numbers(2));
  let wakes = 0;
  polled.onReady(() => wakes++);
  assert.equal(polled.poll(), undefined);
  assert.equal(polled.poll(), undefined);
  await turn();
  assert.equal(wakes, 1);
  assert.deepEqual(polled.poll(), { n: 1 });
  assert.equal(polled.poll(), undefined);
  await turn();
  assert.deepEqual(polled.poll(), { n: 2 });
  assert.equal(polled.poll(), undefined);
  await turn();
  assert.equal(polled.poll(), END);
  assert.equal(wakes, 3);
});

test("a failed iterator throws once", async () => {
  const polled = pollableOf(numbers(0, new Error("broken")));
  assert.equal(polled.poll(), undefined);
  await turn();
  assert.throws(() => polled.poll(), /broken/);
  assert.equal(polled.poll(), END);
});

test("a stopped iterator ends, even if more values follow", async () => {
  let returned = 0;
  const { promise, resolve } = Promise.withResolvers<IteratorResult<{ n: number }>>();
  const polled = pollableOf<{ n: number }>({
    [Symbol.asyncIterator]: () => ({
      next: () => promise,
      return: async () => {
        returned++;
        return { done: true, value: undefined };
      },
    }),
  });
  assert.equal(polled.poll(), undefined);
  polled.stop();
  resolve({ done: false, value: { n: 1 } });
  await turn();
  assert.equal(polled.poll(), END);
  assert.equal(returned, 1);
});

test("a stream that can be polled is not iterated", () => {
  const stream = {
    poll: () => END,
    onReady: () => {},
    stop: () => {},
    [Symbol.asyncIterator]: () => assert.fail("iterated"),
  } satisfies Pollable<object> & AsyncIterable<object>;
  assert.equal(pollableOf(stream), stream);
});

test("PollWaiter returns an available value at once, and otherwise the next one", async () => {
  const queue: (number | typeof END)[] = [1];
  let wake = () => {};
  const source: Pollable<number> = {
    poll: () => queue.shift(),
    onReady: (given) => {
      wake = given;
    },
    stop: () => {},
  };
  const waiter = new PollWaiter(source);
  assert.deepEqual(await waiter.next(), { done: false, value: 1 });
  const next = waiter.next();
  await assert.rejects(waiter.next(), TypeError);
  wake();
  queue.push(2, END);
  wake();
  wake();
  assert.deepEqual(await next, { done: false, value: 2 });
  assert.deepEqual(await waiter.next(), { done: true, value: undefined });
});
