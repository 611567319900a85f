import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { RE2JS } from "re2js";
import { Meter, TooCostly } from "../util/meter.ts";
import { compileGoRegexp, compileUnits, goRegexpError } from "./regexp.ts";

const PATTERNS = [
  "^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$",
  "[a-z]{1,1000}x",
  "((a{1,10}){1,10}){1,10}",
  "\\pL{1,500}|\\x{41}{3}",
  "(a?b?){1,200}x",
  "(?i:aB)+(a*){0,50}[[:alnum:]]{2,}[^]a]{7}",
  "a{3}?b|\\Q{5}\\E",
  "[(]{2}(a|b|c)*\\({2}",
];

suite("goRegexpError", () => {
  for (const pattern of PATTERNS) {
    test(`accepts ${pattern}`, () => assert.equal(goRegexpError(pattern), ""));
  }

  for (const pattern of ["(", "a{2}{3}", "a{1001}", "a{5,2}", "((a{100}){100}){2}", "[a-", "\\p{Odd}", "a**", "{,"]) {
    test(`agrees with RE2 about ${pattern}`, () => {
      let expected = "";
      try {
        RE2JS.compile(pattern);
      } catch (error) {
        expected = (error as Error).message;
      }
      assert.equal(goRegexpError(pattern), expected);
    });
  }
});

suite("the meter of a pattern", () => {
  for (const pattern of PATTERNS) {
    test(`estimates the instructions of ${pattern}`, () => {
      const size = RE2JS.compile(pattern).programSize();
      const estimated = compileUnits(pattern) / compileUnits("a");
      assert.ok(estimated > 0.5 * size && estimated < 2 * size + 20, `${estimated} instead of ${size}`);
    });
  }

  test("is charged by the text and by what counted repetitions make of the pattern", () => {
    const units = 200_000;
    const text = "ab".repeat(5000);
    const match = (pattern: string) => compileGoRegexp(pattern, new Meter(units))?.matches(text);
    assert.throws(() => match("^(.*a.{30}){1,3}[cd]$"), TooCostly);
    assert.throws(() => compileGoRegexp(`${"[a-z]{1,1000}".repeat(20)}!`, new Meter(units)), TooCostly);
    assert.equal(match("^[ab]*$"), true);
  });
});
