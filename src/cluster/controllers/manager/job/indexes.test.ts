import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { fc } from "../../../../../test/support/random.ts";
import { Indexes } from "./indexes.ts";

const LIMIT = 40;
const numbers = fc.uniqueArray(fc.nat(LIMIT - 1));
const sorted = (indexes: Iterable<number>) => [...indexes].sort((one, other) => one - other);

suite("Indexes", () => {
  test("prints and reads intervals like the status of a Job", () => {
    const rows: [indexes: number[], text: string][] = [
      [[], ""],
      [[7], "7"],
      [[1, 2], "1,2"],
      [[5, 3, 4, 0, 9], "0,3-5,9"],
    ];
    for (const [indexes, text] of rows) {
      assert.equal(`${Indexes.of(indexes)}`, text);
      assert.equal(`${Indexes.parse(text, 10)}`, text);
    }
    assert.equal(`${Indexes.parse("1-5,8", 4)}`, "1-3");
    assert.equal(`${Indexes.parse("x,1-y,2,3,9-", 10)}`, "2,3");
  });

  test("behaves like a set of numbers", () => {
    const property = fc.property(numbers, numbers, fc.nat(10), (left, right, count) => {
      const [one, other] = [Indexes.of(left), Indexes.of(right)];
      const both = one.with(other);
      const all = new Set([...left, ...right]);
      const free = Array.from({ length: LIMIT }, (_, index) => index).filter((index) => !all.has(index));
      assert.equal(both.size, all.size);
      assert.equal(one.common(other), left.filter((index) => right.includes(index)).length);
      assert.deepEqual(both.missing(count, LIMIT), free.slice(0, count));
      assert.equal(`${both}`, `${Indexes.of(sorted(all))}`);
      assert.equal(`${Indexes.parse(`${both}`, LIMIT)}`, `${both}`);
      for (let index = 0; index < LIMIT; index += 1) assert.equal(both.has(index), all.has(index));
    });
    fc.assert(property);
  });

  test("costs nothing for indexes in between", () => {
    const many = Indexes.parse("0-2147483640", 2 ** 31);
    assert.equal(many.size, 2_147_483_641);
    assert.deepEqual(many.missing(2, 2 ** 31), [2_147_483_641, 2_147_483_642]);
  });
});
