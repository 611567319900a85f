import assert from "node:assert/strict";
import { suite, test } from "node:test";
import fc from "fast-check";
import { estimateCost } from "./cost/estimate.ts";
import { Environment } from "./environment.ts";
import { bindLibrary, twoVariableLibrary } from "./library/comprehensions.ts";
import { literalValidators } from "./library/literal-validators.ts";
import { optionalLibrary } from "./library/optional.ts";
import { compilePattern } from "./library/regular-expressions.ts";
import { standardLibrary } from "./library/standard.ts";
import { type Checked, CompileError, compile, compileSteps, type Program, program } from "./program.ts";
import { dynType, intType, listType, stringType } from "./values/types.ts";
import { ArrayList, isError, type Value } from "./values/value.ts";

const env = new Environment({
  libraries: [standardLibrary, optionalLibrary, twoVariableLibrary, bindLibrary, literalValidators],
  variables: { a: intType, s: stringType, l: listType(intType), d: dynType },
});
const values = new Map<string, Value>([
  ["a", 1],
  ["s", "a".repeat(100_000)],
  ["l", new ArrayList(Array.from({ length: 100_000 }, (_, i) => i))],
  ["d", 1],
]);
const LIMIT = 1_000_000;

/** Compiles and evaluates, as a rule of a client is; the text of a refusal, or of the error of the evaluation. */
function attempt(text: string): string {
  const checked = compile(text, env);
  if (checked instanceof CompileError) return checked.message;
  estimateCost(checked.expr, env);
  const made = program(checked, env);
  if (made instanceof CompileError) return made.message;
  const { value } = made.evaluate((name) => values.get(name), LIMIT);
  return isError(value) ? value.message : "";
}

/** Milliseconds that this thread computes, the least of several runs: other work on the machine does not count. */
function fastest(run: () => void): number {
  let least = Number.POSITIVE_INFINITY;
  for (let i = 0; i < 6; i++) {
    const before = process.threadCpuUsage();
    run();
    const { user, system } = process.threadCpuUsage(before);
    least = Math.min(least, (user + system) / 1000);
  }
  return least;
}

const nested = (open: string, inner: string, close: string, depth: number) =>
  open.repeat(depth) + inner + close.repeat(depth);

const hostile: readonly (readonly [string, string])[] = [
  ["parentheses", nested("(", "a", ")", 40_000)],
  ["open parentheses", "(".repeat(90_000)],
  ["open brackets and braces", "[{".repeat(40_000)],
  ["lists", nested("[", "a", "]", 40_000)],
  ["maps", nested("{1:", "a", "}", 20_000)],
  ["calls", nested("size(", "s", ")", 15_000)],
  ["indices", `l${"[0]".repeat(30_000)}`],
  ["fields", `d${".x".repeat(40_000)}`],
  ["sums", `a${"+a".repeat(40_000)}`],
  ["conditions", "true?a:".repeat(10_000)],
  ["and", `true${"&&true".repeat(8_000)}`],
  ["a list of empty lists", `[${"[],".repeat(8_000)}]`],
  ["a list of empty maps", `[${"{},".repeat(8_000)}]`],
  ["negations", `${"!".repeat(90_000)}true`],
  ["minus signs", `${"-".repeat(90_000)}a`],
  ["a long number", "9".repeat(90_000)],
  ["a long fraction", `0.${"9".repeat(90_000)}`],
  ["a long string", `"${"x".repeat(90_000)}"`],
  ["an open string", `"${"x".repeat(90_000)}`],
  ["open triple quotes", `""""`.repeat(20_000)],
  ["prefixes of strings", `br"`.repeat(30_000)],
  ["wrong characters", "@".repeat(90_000)],
  ["words", "a ".repeat(45_000)],
  ["commas", "f(".concat(",".repeat(90_000))],
  ["dots", ".".repeat(90_000)],
  ["a long name", "a".repeat(90_000)],
  ["too long", "a".repeat(3_000_000)],
  ["nested macros", `${"l.all(x, ".repeat(200)}true${")".repeat(200)}`],
  ["a loop in a loop", "l.all(x, l.all(y, x * y >= 0))"],
  ["maps of maps of maps", `${"[1].map(x, cel.bind(y, ".repeat(1)}1, {y: y}))`],
  ["types that double", doubling(30)],
  ["a text that doubles", doublingText(40)],
  ["a list that doubles", doublingList(40)],
  ["a pattern of nested repetitions", "s.matches('(a*)*b')"],
  ["a pattern of counted repetitions", "s.matches('(((a{1,100}){1,100}){1,100})')"],
  ["texts within texts", "l.all(x, s.contains('aaaaaaaaab'))"],
  ["growing lists", "l.map(x, l).map(y, y + y).size()"],
  ["entries of a map", "l.transformMap(i, v, v).size()"],
];

function doubling(depth: number): string {
  let text = "1";
  for (let i = 0; i < depth; i++) text = `cel.bind(v${i}, ${text}, {v${i}: v${i}})`;
  return text;
}
function doublingText(depth: number): string {
  let text = "s";
  for (let i = 0; i < depth; i++) text = `cel.bind(v${i}, ${text}, v${i} + v${i})`;
  return text;
}
function doublingList(depth: number): string {
  let text = "l";
  for (let i = 0; i < depth; i++) text = `cel.bind(v${i}, ${text}, v${i} + v${i})`;
  return `${text}.size()`;
}

suite("no expression holds the thread for 50 ms:", () => {
  for (const [name, text] of hostile) {
    test(name, () => {
      const took = fastest(() => attempt(text));
      assert.ok(took < 50, `${took} ms: ${attempt(text).slice(0, 200)}`);
    });
  }
});

/** Expressions of nearly 100,000 characters that are accepted: what each step of compiling takes is what others wait. */
const long: readonly (readonly [string, string])[] = [
  ["comparisons", repeated("a==1", "&&")],
  ["indices", repeated("l[0]>0", "&&")],
  ["macros", repeated("l.all(x,x>1)", "&&")],
  ["folds of lists", repeated("[].map(x,x).size()>0", "&&")],
  ["conditions", `[${repeated("true?1:2", ",")}].size()>0`],
  ["a list of numbers", `a in [${repeated("1", ",")}]`],
  ["a list of empty maps", `[${repeated("{}", ",")}].size()>0`],
  ["bytes", `b"${"x".repeat(99_000)}" == b""`],
];

function repeated(piece: string, separator: string): string {
  const count = Math.floor(99_000 / (piece.length + separator.length));
  return Array.from({ length: count }, () => piece).join(separator);
}

suite("no step of compiling a long expression takes long:", () => {
  for (const [name, text] of long) {
    test(name, () => {
      const slowest = new Map<number, number>();
      for (let round = 0; round < 4; round++) {
        const steps = compileSteps(text, env);
        let checked: Checked | CompileError | undefined;
        const rest = [() => program(checked as Checked, env), () => void estimateCost((checked as Checked).expr, env)];
        for (let number = 0; ; number++) {
          const before = process.threadCpuUsage();
          if (checked === undefined) checked = steps.next().value ?? undefined;
          else rest.shift()?.();
          const { user, system } = process.threadCpuUsage(before);
          slowest.set(number, Math.min(slowest.get(number) ?? Number.POSITIVE_INFINITY, (user + system) / 1000));
          if (checked instanceof CompileError) assert.fail(checked.message);
          if (rest.length === 0) break;
        }
      }
      // 20 to 40 ms without other work; a busy machine takes twice the processor time.
      assert.ok(Math.max(...slowest.values()) < 100, [...slowest.values()].join());
    });
  }
});

test("limits are those of cel-go, in its words", () => {
  const refused = (text: string) => attempt(text).split("\n")[0];
  assert.equal(refused(nested("(", "a", ")", 300)), "ERROR: <input>:-1:0: expression recursion limit exceeded: 250");
  assert.equal(refused(`a${"+a".repeat(300)}`), "ERROR: <input>:-1:0: expression recursion limit exceeded: 250");
  const size = "ERROR: <input>:-1:0: expression code point size exceeds limit: size: 100001, limit 100000";
  assert.equal(refused("a".repeat(100_001)), size);
  assert.equal(refused("l.all(x, l.all(y, x * y >= 0))"), "operation cancelled: actual cost limit exceeded");
});

test("compiled patterns are kept, but not without bound", () => {
  const first = compilePattern("^a+$");
  assert.equal(compilePattern("^a+$"), first);
  for (let i = 0; i < 300; i++) compilePattern(`x${i}`);
  assert.notEqual(compilePattern("^a+$"), first);
});

test("no text makes the parser fail in another way than by an error", () => {
  const token = fc.constantFrom(
    ..."a s l 1 2u 1.5 'x' true null ( ) [ ] { } . , ? : + - * ! == < in && || if ` @ = r\" \\".split(" "),
  );
  fc.assert(
    fc.property(
      fc.oneof(
        fc.array(token).map((parts) => parts.join(" ")),
        fc.string({ unit: "grapheme" }),
      ),
      (text) => {
        const refusal = attempt(text);
        if (compile(text, env) instanceof CompileError) assert.match(refusal, /^ERROR: <input>:-?[0-9]+:[0-9]+: ./);
      },
    ),
    { numRuns: 2000 },
  );
});

test("ints have 64 bits, and nothing beyond goes unnoticed", () => {
  const int64 = fc.bigInt({ min: -(1n << 63n), max: (1n << 63n) - 1n });
  const near = fc.oneof(
    int64,
    fc.integer().map(BigInt),
    fc.constantFrom(0n, 1n, -1n, 2n ** 53n, -(2n ** 53n), 2n ** 62n),
  );
  const numbers = env.extend({ variables: { x: intType, y: intType } });
  const made = new Map(
    ["+", "-", "*"].map((op) => {
      const checked = compile(`x ${op} y`, numbers);
      assert.ok(!(checked instanceof CompileError));
      return [op, program(checked, numbers) as Program];
    }),
  );
  const exact = {
    "+": (a: bigint, b: bigint) => a + b,
    "-": (a: bigint, b: bigint) => a - b,
    "*": (a: bigint, b: bigint) => a * b,
  };
  const asInt = (n: bigint): Value => (Number.isSafeInteger(Number(n)) ? Number(n) : n);
  fc.assert(
    fc.property(near, near, fc.constantFrom("+", "-", "*" as const), (a, b, op) => {
      const result = made.get(op)?.evaluate((name) => (name === "x" ? asInt(a) : asInt(b))).value as Value;
      const wanted = exact[op as "+"](a, b);
      if (wanted >= 1n << 63n || wanted < -(1n << 63n))
        assert.ok(isError(result) && result.message === "integer overflow");
      else assert.equal(BigInt(result as number), wanted);
    }),
    { numRuns: 3000 },
  );
});
