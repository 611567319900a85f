import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { takeEach } from "./take-each.ts";

suite("takeEach", () => {
  test("takes items in order until the callback returns false, then ends the sequence", async () => {
    let isEnded = false;
    const numbers = async function* () {
      try {
        for (let number = 1; ; number++) yield number;
      } finally {
        isEnded = true;
      }
    };
    const taken: number[] = [];
    await takeEach(numbers(), async (number) => taken.push(number) < 3);
    assert.deepEqual([taken, isEnded], [[1, 2, 3], true]);
  });

  test("ends the sequence when the callback throws", async () => {
    const one = async function* () {
      yield 1;
    };
    const taking = takeEach(one(), () => {
      throw new Error("no");
    });
    await assert.rejects(taking, /^Error: no$/);
  });

  test("does not retain an item while it waits for the next one", async () => {
    setFlagsFromString("--expose-gc");
    const collect = runInNewContext("gc") as () => void;
    const waiting = Promise.withResolvers<void>();
    const items: (object | undefined)[] = [{}];
    const held = new WeakRef(items[0] as object);
    const asked = Promise.withResolvers<void>();
    const iterator = {
      next: async () => {
        const value = items.pop();
        if (value) return { done: false as const, value };
        asked.resolve();
        await waiting.promise;
        return { done: true as const, value: undefined };
      },
    };
    const taking = takeEach({ [Symbol.asyncIterator]: () => iterator }, () => true);
    await asked.promise;
    await new Promise<void>((resolve) => setImmediate(resolve));
    collect();
    assert.equal(held.deref(), undefined);
    waiting.resolve();
    await taking;
  });
});
