import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { Environment } from "./environment.ts";
import { CompileError, compile, Program, program } from "./program.ts";
import { twoVariableLibrary } from "./standard/comprehensions.ts";
import { optionalLibrary } from "./standard/optional.ts";
import { standardLibrary } from "./standard/standard.ts";
import { formatValue } from "./values/format.ts";
import { EntryMap } from "./values/maps.ts";
import { dynType, intType, listType, stringType } from "./values/types.ts";
import { ArrayList, isError, type Value } from "./values/value.ts";

const env = new Environment({
  libraries: [standardLibrary, optionalLibrary, twoVariableLibrary],
  variables: { a: intType, s: stringType, l: listType(intType), d: dynType },
});
const values = new Map<string, Value>([
  ["a", 1],
  ["s", "abc"],
  ["l", new ArrayList([1, 2, 3])],
  ["d", EntryMap.of([["x", EntryMap.of([["y", new ArrayList([1, 2])]])]])],
]);

function evaluate(text: string): string {
  const checked = compile(text, env);
  if (checked instanceof CompileError) return checked.message;
  const made = program(checked, env);
  assert.ok(made instanceof Program);
  const { value, cost } = made.evaluate((name) => values.get(name));
  return `${isError(value) ? `error: ${value.message}` : formatValue(value)}; cost ${cost}`;
}

/** Results of cel-go 0.29.2 in the environment of Kubernetes 1.37. */
const answers: readonly (readonly [string, string])[] = [
  ["a + 1 == 2", "true; cost 3"],
  ['s.startsWith("a") && a in [1,2]', "true; cost 3"],
  ["d.x.y[0] == 1", "true; cost 5"],
  ["l.all(x, x > 0)", "true; cost 17"],
  ["l.map(x, x * 2)", "[2, 4, 6]; cost 44"],
  ["true ? a : 2", "1; cost 0"],
  ["l[5]", "error: index out of bounds: 5; cost 2"],
  ["d.zz", "error: no such key: zz; cost 2"],
  ["9223372036854775807 + a", "error: integer overflow; cost 2"],
  ["a / 0", "error: division by zero; cost 2"],
  ["1/0 == 1 || true", "true; cost 2"],
  ["d.?x.?z.orValue(3)", "3; cost 2"],
  ["s + 1", "ERROR: <input>:1:3: found no matching overload for '_+_' applied to '(string, int)'\n | s + 1\n | ..^"],
  ["x.y", "ERROR: <input>:1:1: undeclared reference to 'x' (in container '')\n | x.y\n | ^"],
];

suite("expressions", () => {
  for (const [text, answer] of answers) test(text, () => assert.equal(evaluate(text), answer));
});

test("an evaluation fails if its cost exceeds the limit", () => {
  const checked = compile("l.all(x, l.all(y, x * y > 0))", env);
  assert.ok(!(checked instanceof CompileError));
  const made = program(checked, env);
  assert.ok(made instanceof Program);
  const { value, isCostExceeded } = made.evaluate((name) => values.get(name), 50);
  assert.ok(isError(value) && isCostExceeded);
  assert.equal(value.message, "operation cancelled: actual cost limit exceeded");
});
