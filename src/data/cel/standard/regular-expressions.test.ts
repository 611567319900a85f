import assert from "node:assert/strict";
import { test } from "node:test";
import { fc } from "../../../../test/support/random.ts";
import { CelError } from "../values/value.ts";
import { compilePattern, matcherOf, matches } from "./regular-expressions.ts";

const PARTS = [
  "a",
  "b",
  "[a-z]",
  "[^a]",
  ".",
  "\\d",
  "\\w+",
  "(a|b)",
  "(?i)A",
  "^",
  "$",
  "\\b",
  "é",
  "\\pL",
  "🎉",
  "x{2,3}",
  "(?:a*)*",
  "\\x{1F389}",
];
const TEXTS = ["a", "b", "A", "0", "-", "é", "🎉", "\n", "x", "\ud83c"];

test("matches() returns the same as a search for the pattern", () => {
  const pattern = fc.array(fc.tuple(fc.constantFrom(...PARTS), fc.constantFrom("", "", "*", "+", "?", "*?")), {
    maxLength: 5,
  });
  const text = fc.array(fc.constantFrom(...TEXTS), { maxLength: 8 });
  fc.assert(
    fc.property(pattern, text, (parts, letters) => {
      const source = parts.map(([part, quantifier]) => part + quantifier).join("");
      const compiled = compilePattern(source);
      const given = letters.join("");
      const wanted = compiled instanceof CelError ? compiled : compiled.matcher(given).find();
      assert.deepEqual(matches(given, source), wanted, `${source} in ${given}`);
      assert.deepEqual(matcherOf(source)(given), wanted);
    }),
    { numRuns: 2000 },
  );
});
