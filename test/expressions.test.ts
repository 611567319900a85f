import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { expressionsOf, literalOf, ownExpressions, problemOf } from "./support/expressions.ts";
import proven from "./support/proven-expressions.json" with { type: "json" };

/** Expressions that `node tools/expressions.ts` has proven. With EXPRESSIONS=all they are proven again. */
const known = new Set(process.env.EXPRESSIONS === "all" ? [] : proven);

suite("regular expressions", () => {
  const all = ownExpressions();

  test("none of src takes more than linear time", (t) => {
    assert.ok(all.length > 150, "they are found at all");
    const open = all.filter((expression) => !known.has(literalOf(expression)));
    t.diagnostic(`${all.length} expressions, ${open.length} of them not proven yet`);
    const problems = open.flatMap((expression) => {
      const problem = problemOf(expression);
      return problem === undefined ? [] : [`${expression.place}: ${problem}`];
    });
    assert.deepEqual(problems, []);
    // Each new one takes about 0.1 s.
    assert.ok(
      known.size === 0 || open.length < 50,
      "run node tools/expressions.ts, and commit the list that it writes",
    );
  });

  test("the check finds what it is for", () => {
    const text =
      'const A = "^(a|a)*$";\nconst B = new RegExp(A);\nconst c = text.replace(/ +$/, "");\n// as in /x*x*x*$/ .\n';
    const found = expressionsOf("x.ts", text).map((expression) => [expression.place, problemOf(expression)]);
    assert.deepEqual(found, [
      ["x.ts:3", "2nd degree polynomial"],
      ["x.ts:2", "exponential"],
    ]);
  });
});
