import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { Turns } from "./turns.ts";

suite("turns", () => {
  test("begins a few requests at once, and all in order", async () => {
    const turns = new Turns();
    const begun: number[] = [];
    const done = Promise.withResolvers<void>();
    for (let index = 0; index < 1000; index++) {
      turns.take(() => {
        begun.push(index);
        if (index === 999) done.resolve();
      });
    }
    assert.deepEqual(begun, [0, 1, 2, 3, 4, 5, 6, 7]);
    await done.promise;
    assert.deepEqual(
      begun,
      Array.from({ length: 1000 }, (_, index) => index),
    );
  });

  test("begins a request at once after a read with few", async () => {
    const turns = new Turns();
    let begun = 0;
    for (let read = 1; read <= 20; read++) {
      turns.take(() => {
        begun++;
      });
      assert.equal(begun, read);
      await new Promise((resolve) => setImmediate(resolve));
    }
  });

  test("lets others run between requests that take long", async () => {
    const turns = new Turns();
    const done = Promise.withResolvers<void>();
    let others = 0;
    let left = 40;
    const other = () => {
      others++;
      if (left > 0) setImmediate(other);
    };
    setImmediate(other);
    for (let index = 0; index < 40; index++) {
      turns.take(() => {
        JSON.stringify(Array(200_000).fill("x"));
        if (--left === 0) done.resolve();
      });
    }
    await done.promise;
    assert.ok(others > 3, `${others} turns`);
  });
});
