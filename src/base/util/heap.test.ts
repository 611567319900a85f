import assert from "node:assert/strict";
import { test } from "node:test";
import { Heap } from "./heap.ts";
import { seededRandom } from "./seeded-random.ts";

interface Item {
  rank: number;
}

test("the first item is the smallest one after any sequence of additions, moves and removals", () => {
  const random = seededRandom(7);
  const heap = new Heap<Item>((a, b) => a.rank < b.rank);
  const items: Item[] = [];
  for (let turn = 0; turn < 5000; turn += 1) {
    const choice = random.integer(4);
    const item = items[random.integer(Math.max(1, items.length))];
    if (choice < 2 || item === undefined) {
      const added = { rank: random.integer(1000) };
      items.push(added);
      heap.set(added);
    } else if (choice === 2) {
      item.rank = random.integer(1000);
      heap.set(item);
    } else {
      items.splice(items.indexOf(item), 1);
      assert.equal(heap.delete(item), true);
      assert.equal(heap.delete(item), false);
    }
    assert.equal(heap.size, items.length);
    assert.equal(heap.first?.rank, items.length === 0 ? undefined : Math.min(...items.map(({ rank }) => rank)));
  }
  for (const item of items) heap.delete(item);
  assert.deepEqual([heap.size, heap.first], [0, undefined]);
});

test("adding, moving and removing an item compares it with O(log n) others", () => {
  let compared = 0;
  const heap = new Heap<Item>((a, b) => {
    compared += 1;
    return a.rank < b.rank;
  });
  const items = Array.from({ length: 4096 }, (_, rank) => ({ rank }));
  for (const item of items) heap.set(item);
  for (const item of items.toReversed()) {
    compared = 0;
    item.rank = 4096 - item.rank;
    heap.set(item);
    assert.ok(compared <= 26, `moved by ${compared} comparisons`);
  }
  for (const item of items) {
    compared = 0;
    heap.delete(item);
    assert.ok(compared <= 26, `removed by ${compared} comparisons`);
  }
});
