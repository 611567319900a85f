import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { fc } from "../../../test/support/random.ts";
import { divideSeats } from "./divide-seats.ts";

suite("dividing seats among priority levels", () => {
  test("divides in proportion to the targets", () => {
    const claims = [1, 2, 3].map((target) => ({ lower: 0, upper: 1000, target }));
    const division = divideSeats(60, claims);
    assert.deepEqual(division?.seats.map(Math.round), [10, 20, 30]);
  });

  test("gives no level less or more than its limits allow", () => {
    const claims = [
      { lower: 30, upper: 1000, target: 30 },
      { lower: 0, upper: 5, target: 100 },
      { lower: 0, upper: 1000, target: 10 },
    ];
    const division = divideSeats(40, claims);
    assert.deepEqual(division?.seats.map(Math.round), [30, 5, 5]);
  });

  test("returns undefined if the limits do not allow the sum", () => {
    assert.equal(divideSeats(1, [{ lower: 2, upper: 3, target: 2 }]), undefined);
    assert.equal(divideSeats(4, [{ lower: 2, upper: 3, target: 2 }]), undefined);
  });

  test("the seats add up to the total, at the same fraction of each target", () => {
    const claim = fc
      .tuple(fc.nat(50), fc.nat(200), fc.nat(100))
      .map(([lower, more, wanted]) => ({ lower, upper: lower + more, target: lower + wanted }));
    fc.assert(
      fc.property(
        fc.array(claim, { minLength: 1, maxLength: 8 }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        (claims, part) => {
          const lowest = claims.reduce((sum, { lower }) => sum + lower, 0);
          const highest = claims.reduce((sum, { upper }) => sum + upper, 0);
          const total = lowest + (highest - lowest) * part;
          const division = divideSeats(total, claims);
          assert.ok(division);
          const { seats, fraction } = division;
          assert.ok(Math.abs(seats.reduce((sum, one) => sum + one, 0) - total) < 1e-6);
          for (const [index, { lower, upper, target }] of claims.entries()) {
            const wanted = Math.max(target, 0.001) * fraction;
            assert.ok(Math.abs((seats[index] ?? 0) - Math.max(lower, Math.min(upper, wanted))) < 1e-6);
          }
        },
      ),
    );
  });
});
