import assert from "node:assert/strict";
import { test } from "node:test";
import { END, type Pollable, PolledIterator, PollWaiter } from "./pollable.ts";

const turn = () => new Promise((resolve) => setImmediate(resolve));

async function* numbers(count: number, error?: Error): AsyncGenerator<{ n: number }> {
  for (let n = 1; n <= count; n++) yield { n };
  if (error) throw error;
}

test("an iterator that is polled gives what it has, wakes, and ends", async () => {
  const polled = new PolledIterator(numbers(2));
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

test("an iterator that fails throws once", async () => {
  const polled = new PolledIterator(numbers(0, new Error("broken")));
  assert.equal(polled.poll(), undefined);
  await turn();
  assert.throws(() => polled.poll(), /broken/);
  assert.equal(polled.poll(), END);
});

test("an iterator that is stopped ends, whatever comes", async () => {
  let returned = 0;
  const { promise, resolve } = Promise.withResolvers<IteratorResult<{ n: number }>>();
  const polled = new PolledIterator<{ n: number }>({
    next: () => promise,
    return: async () => {
      returned++;
      return { done: true, value: undefined };
    },
  });
  assert.equal(polled.poll(), undefined);
  polled.stop();
  resolve({ done: false, value: { n: 1 } });
  await turn();
  assert.equal(polled.poll(), END);
  assert.equal(returned, 1);
});

test("waiting gives what there is at once, and otherwise what comes", async () => {
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
