import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { fc } from "../../../test/support/random.ts";
import {
  addQuantities,
  canonicalQuantity,
  compareQuantities,
  parseQuantity,
  printQuantity,
  subtractQuantities,
} from "./quantity.ts";

suite("a quantity", () => {
  const canonical: readonly (readonly [text: string, printed: string])[] = [
    ["0", "0"],
    ["00", "0"],
    ["0.0", "0"],
    ["0Ki", "0"],
    ["+", "0"],
    ["1", "1"],
    ["1.5", "1500m"],
    ["0.5", "500m"],
    ["1000", "1k"],
    ["1000m", "1"],
    ["100m", "100m"],
    ["1500m", "1500m"],
    ["1.500", "1.500"],
    ["+5", "+5"],
    ["-1000m", "-1"],
    ["1e3", "1e3"],
    ["1E3", "1E3"],
    ["1e1", "10"],
    ["1000e3", "1e6"],
    ["1024Mi", "1Gi"],
    ["1536Mi", "1536Mi"],
    ["1.5Gi", "1536Mi"],
    ["0.5Mi", "512Ki"],
    ["512Ki", "512Ki"],
    ["0.1Ki", "102400m"],
    ["1.1Ki", "1126400m"],
    ["5Gi", "5Gi"],
    ["1Ki", "1Ki"],
    ["16Ei", "9223372036854775807"],
    ["0.1n", "1n"],
    ["1.0000000001", "1000000001n"],
    ["1e-1000000", "1e-9"],
    ["123456789012345678901", "123456789012345678901"],
    ["1000E", "1"],
    ["1.G", "1.G"],
    ["m", "0"],
    ["100e999999998", "10e999999999"],
    [`1${"0".repeat(9_000)}`, "1"],
    [`${"9".repeat(9_000)}Ki`, "9223372036854775807"],
  ];
  for (const [text, printed] of canonical) {
    test(`${text.slice(0, 40)} is printed as ${printed}`, () => assert.equal(canonicalQuantity(text), printed));
  }

  test("limits its length and exponent, so that parsing stays cheap", () => {
    assert.throws(() => parseQuantity("1".repeat(10_001)), /no more than 10000 characters/);
    assert.throws(() => parseQuantity(`${"1".repeat(1_000_000)}!`), /must match the regular expression/);
    const [huge, one] = [parseQuantity("1e999999999"), parseQuantity("1Ki")];
    assert.ok(compareQuantities(huge, one) > 0);
    assert.equal(compareQuantities(subtractQuantities(addQuantities(one, huge), huge), one), 0);
    assert.equal(
      printQuantity({ ...addQuantities(one, parseQuantity(`${2n ** 30_000n}`)), text: undefined }).slice(-2),
      "Ki",
    );
  });

  test("is rejected if malformed", () => {
    const form = /quantities must match the regular expression/;
    for (const text of ["", "x", "1.2.3", "1 ", "true", "{}", "1Gi5x"])
      assert.throws(() => parseQuantity(text), form, text);
    for (const text of ["Ei", "e-12"]) assert.throws(() => parseQuantity(text), /numeric part/, text);
    for (const text of ["1Kj", "1ki", "5-3", "1e", "1MM", "1Gi5"]) {
      assert.throws(() => parseQuantity(text), /suffix|expression/, text);
    }
  });

  test("is compared and added exactly", () => {
    const compare = (left: string, right: string) =>
      Math.sign(compareQuantities(parseQuantity(left), parseQuantity(right)));
    assert.equal(compare("1", "1000m"), 0);
    assert.equal(compare("1Ki", "1k"), 1);
    assert.equal(compare("-1", "0"), -1);
    assert.equal(compare("-2", "-1"), -1);
    assert.equal(compare("1e1000000", "1e1000001"), -1);
    const add = (left: string, right: string) =>
      printQuantity(addQuantities(parseQuantity(left), parseQuantity(right)));
    assert.equal(add("100m", "0.9"), "1");
    assert.equal(add("1Gi", "512Mi"), "1536Mi");
    assert.equal(add("0", "1Mi"), "1Mi");
    assert.equal(printQuantity(subtractQuantities(parseQuantity("1"), parseQuantity("1500m"))), "-500m");
  });

  test("keeps its value when printed and parsed again", () => {
    const suffix = fc.constantFrom("", "m", "u", "n", "k", "M", "G", "Ki", "Mi", "Gi", "e3", "E-2");
    const number = fc.tuple(fc.integer({ min: -1_000_000, max: 1_000_000 }), fc.option(fc.nat(9999)), suffix);
    fc.assert(
      fc.property(number, ([whole, fraction, suffix]) => {
        const quantity = parseQuantity(`${whole}${fraction === null ? "" : `.${fraction}`}${suffix}`);
        const printed = printQuantity(quantity);
        assert.equal(compareQuantities(parseQuantity(printed), quantity), 0, printed);
        assert.equal(canonicalQuantity(printed), printed);
      }),
    );
  });
});
