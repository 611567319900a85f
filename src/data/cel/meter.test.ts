import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { Meter, TooCostly } from "../../base/util/meter.ts";
import { storedExpressions } from "./kubernetes/environment.ts";
import { CompileError, compile, type Program, program } from "./program.ts";
import { jsonValue } from "./values/json.ts";
import { dynType } from "./values/types.ts";
import { CelError } from "./values/value.ts";

const env = storedExpressions.extend({ variables: { self: dynType } });

function made(text: string): Program {
  const checked = compile(text, env);
  if (checked instanceof CompileError) throw checked;
  const found = program(checked, env);
  if (found instanceof CompileError) throw found;
  return found;
}

const names = Array.from({ length: 3000 }, (_, index) => `name-${index}`);
const self = jsonValue({
  names,
  nested: [[names], [names]],
  map: Object.fromEntries(names.slice(0, 400).map((name) => [name, "v"])),
  text: "x".repeat(20_000),
  nearly: `${"x".repeat(10_000)}y`,
});

const evaluate = (text: string, units: number) =>
  made(text).evaluate((name) => (name === "self" ? self : undefined), Number.POSITIVE_INFINITY, new Meter(units));

suite("the meter of an expression", () => {
  const UNITS = 200_000;
  // Most of these cost little by cel-go's count.
  for (const text of [
    "self.map.all(a, self.map.all(b, a != b || a == b))",
    "self.names.map(n, self.names.sort()).size() > 0",
    "self.names.all(n, self.names.isSorted() || true)",
    "self.names.all(n, n in self.names)",
    "self.names.all(n, self.nested[0] == self.nested[1])",
    "self.names.all(n, '%s'.format([self.map]).size() > 0)",
    "sets.equivalent(self.names, self.names)",
    "self.names.distinct().size() > 0",
    "self.text.replace('x', self.text).size() > 0",
    "self.text.split('').join(self.text).size() > 0",
  ]) {
    test(`ends ${text}`, () => assert.throws(() => evaluate(text, UNITS), TooCostly));
  }

  for (const text of [
    "self.names.exists(n, n == 'name-2999')",
    "self.names.sort().size() > 0",
    "self.text.lastIndexOf(self.nearly) == -1",
  ]) {
    test(`lets ${text} pass`, () => assert.equal(evaluate(text, UNITS).value, true));
  }

  test("is shared by several evaluations", () => {
    const meter = new Meter(UNITS);
    const rule = made("self.names.all(n, n.size() > 0)");
    const run = () => rule.evaluate((name) => (name === "self" ? self : undefined), Number.POSITIVE_INFINITY, meter);
    const { cost } = run();
    assert.ok(meter.left <= UNITS - cost, "the cost is charged");
    assert.throws(() => {
      for (let round = 0; round * cost <= UNITS; round++) run();
    }, TooCostly);
  });

  test("does not change what an expression above its own limit yields", () => {
    const rule = made("self.map.all(a, self.map.all(b, a != b || a == b))");
    const result = rule.evaluate((name) => (name === "self" ? self : undefined), 1000, new Meter(UNITS));
    assert.equal(result.isCostExceeded, true);
  });
});

test("a string that V8 cannot build is an error of the expression", () => {
  const huge = jsonValue({ a: "x".repeat(30_000), b: "y".repeat(30_000) });
  const { value, isCostExceeded } = made("self.a.split('').join(self.b).size() > 0").evaluate(() => huge, 1_000_000);
  assert.ok(value instanceof CelError);
  assert.equal(isCostExceeded, true);
});
