import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { fc } from "../../test/support/random.ts";
import { compareKeys, OrderedMap, prefixEnd } from "./ordered-map.ts";

const byBytes = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b));

// Few letters, so that keys collide and share prefixes; some beyond ASCII, on both sides of the surrogates.
const anyKey = fc
  .array(fc.constantFrom("a", "b", "/", "z", "ü", "\ud7ff", "\ue000", "\uffff", "\u{10000}", "\u{10ffff}"), {
    maxLength: 4,
  })
  .map((letters) => letters.join(""));
const asciiKey = fc.integer({ min: 0, max: 400 }).map((i) => `/k/${i}`);

type Step =
  | { readonly type: "set"; readonly key: string; readonly value: number }
  | { readonly type: "delete"; readonly key: string }
  | { readonly type: "clone" };

function anyStep(key: fc.Arbitrary<string>): fc.Arbitrary<Step> {
  return fc.oneof(
    { weight: 10, arbitrary: fc.record({ type: fc.constant("set" as const), key, value: fc.nat() }) },
    { weight: 7, arbitrary: fc.record({ type: fc.constant("delete" as const), key }) },
    { weight: 1, arbitrary: fc.record({ type: fc.constant("clone" as const) }) },
  );
}

function checkSame(
  map: OrderedMap<number>,
  model: ReadonlyMap<string, number>,
  bounds: readonly [string, string],
): void {
  const sorted = [...model].sort(([a], [b]) => byBytes(a, b));
  const [low, high] = bounds;
  assert.equal(map.size, model.size);
  assert.deepEqual([...map.entries()], sorted);
  assert.deepEqual(
    [...map.entries(low)],
    sorted.filter(([key]) => byBytes(key, low) >= 0),
  );
  const inside = sorted.filter(([key]) => byBytes(key, low) > 0 && byBytes(key, high) < 0);
  assert.equal(map.countRange(low, high), inside.length);
  assert.equal(map.countRange(undefined, high), sorted.filter(([key]) => byBytes(key, high) < 0).length);
  assert.deepEqual(
    map.values({ after: low, to: high }),
    inside.map(([, value]) => value),
  );
  const slice = map.slice({ after: low, to: high });
  assert.deepEqual(
    [...slice],
    inside.map(([, value]) => value),
  );
  // Also in random order.
  for (const index of [slice.length - 1, 0, slice.length >> 1, slice.length, -1]) {
    assert.equal(slice.at(index), inside[index]?.[1]);
  }
  assert.deepEqual([...map.slice()], map.values());
  assert.deepEqual([...map.slice({ from: low })], map.values({ from: low }));
  assert.deepEqual(
    map.values({ from: low, limit: 3 }),
    sorted
      .filter(([key]) => byBytes(key, low) >= 0)
      .slice(0, 3)
      .map(([, value]) => value),
  );
}

function checkSteps(steps: readonly Step[], bounds: readonly [string, string]): void {
  let map = new OrderedMap<number>();
  let model = new Map<string, number>();
  const others: [OrderedMap<number>, Map<string, number>][] = [];
  for (const step of steps) {
    if (step.type === "set") {
      assert.equal(map.set(step.key, step.value), model.get(step.key));
      model.set(step.key, step.value);
    } else if (step.type === "delete") {
      assert.equal(map.delete(step.key), model.get(step.key));
      model.delete(step.key);
    } else {
      // Continues alternately with the clone and the original, so that both kinds diverge.
      others.push([map, model]);
      map = map.clone();
      const [first] = others;
      if (others.length % 2 === 0 && first !== undefined) {
        others[0] = [map, new Map(model)];
        [map, model] = first;
      } else {
        model = new Map(model);
      }
    }
    if (step.type !== "clone") assert.equal(map.get(step.key), model.get(step.key));
  }
  for (const [other, otherModel] of [...others, [map, model] as const]) checkSame(other, otherModel, bounds);
}

describe("OrderedMap", () => {
  it("agrees with a sorted array, and so do diverging clones", () => {
    const run = fc.property(
      fc.array(anyStep(asciiKey), { maxLength: 1500, size: "max" }),
      fc.tuple(asciiKey, asciiKey),
      checkSteps,
    );
    fc.assert(run, { numRuns: 60 });
  });

  it("orders keys beyond ASCII by their bytes", () => {
    const run = fc.property(
      fc.array(anyStep(anyKey), { maxLength: 300, size: "max" }),
      fc.tuple(anyKey, anyKey),
      checkSteps,
    );
    fc.assert(run, { numRuns: 100 });
    fc.assert(
      fc.property(anyKey, anyKey, (a, b) => assert.equal(Math.sign(compareKeys(a, b)), Math.sign(byBytes(a, b)))),
    );
  });

  it("finds exactly the keys of a prefix up to its end", () => {
    const run = fc.property(fc.array(anyKey), anyKey, (keys, prefix) => {
      const map = new OrderedMap<string>();
      for (const key of keys) map.set(key, key);
      const expected = [...new Set(keys)].filter((key) => key.startsWith(prefix)).sort(byBytes);
      assert.deepEqual(map.values({ from: prefix, to: prefixEnd(prefix) }), expected);
    });
    fc.assert(run, { numRuns: 300 });
    assert.equal(prefixEnd("/a/"), "/a0");
    assert.equal(prefixEnd(""), undefined);
  });

  it("loses no key inserted in descending order", () => {
    const map = new OrderedMap<number>();
    for (let i = 999; i >= 100; i--) {
      map.set(`/k/${i}`, i);
      assert.equal(map.get(`/k/${i}`), i);
    }
    for (let i = 100; i < 1000; i++) assert.equal(map.get(`/k/${i}`), i);
    assert.equal(map.size, 900);
  });

  it("shrinks to nothing and grows again", () => {
    const map = new OrderedMap<number>();
    for (let round = 0; round < 2; round++) {
      for (let i = 0; i < 20_000; i++) map.set(`/k/${(i * 7919) % 20_000}`, i);
      assert.equal(map.size, 20_000);
      const full = map.clone();
      for (let i = 0; i < 20_000; i++) assert.ok(map.delete(`/k/${(i * 104_729) % 20_000}`) !== undefined);
      assert.equal(map.size, 0);
      assert.deepEqual(map.values(), []);
      assert.equal(full.size, 20_000);
      assert.equal(full.countRange("/k/", undefined), 20_000);
    }
  });

  it("isolates a thousand clones while one map changes", () => {
    const map = new OrderedMap<number>();
    for (let i = 0; i < 5000; i++) map.set(`/k/${i}`, 0);
    const clones = Array.from({ length: 1000 }, (_, i) => {
      const clone = map.clone();
      map.set(`/k/${i}`, 1);
      return clone;
    });
    const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
    assert.equal(sum(clones[0]?.values() ?? []), 0);
    assert.equal(sum(clones[500]?.values() ?? []), 500);
    assert.equal(sum(map.values()), 1000);
  });
});
