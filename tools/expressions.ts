/**
 * Proves that no regular expression of src/ takes more than linear time, and writes the list of those that
 * test/expressions.test.ts need not prove again. It takes about half a minute.
 *   node tools/expressions.ts
 */
import { writeFileSync } from "node:fs";
import path from "node:path";
import { literalOf, ownExpressions, problemOf } from "../test/support/expressions.ts";

const LIST = path.join(import.meta.dirname, "..", "test", "support", "proven-expressions.json");

const open = new Map(ownExpressions().map((expression) => [literalOf(expression), expression]));
const proven: string[] = [];
for (const [literal, expression] of open) {
  const problem = problemOf(expression);
  if (problem === undefined) proven.push(literal);
  else process.stderr.write(`${expression.place}: ${problem}\n`);
}
writeFileSync(LIST, `${JSON.stringify(proven.sort(), undefined, 2)}\n`);
process.stdout.write(`${proven.length} of ${open.size} expressions are proven\n`);
process.exitCode = proven.length === open.size ? 0 : 1;
