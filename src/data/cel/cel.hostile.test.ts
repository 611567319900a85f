import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { fc } from "../../../test/support/random.ts";
import { StepCounter } from "../../../test/support/steps.ts";
import { estimateCost } from "./cost/estimate.ts";
import { attempt, env, hostile, long, nested } from "./hostile.suite.ts";
import { type Checked, CompileError, compile, compileSteps, type Program, program } from "./program.ts";
import { compilePattern } from "./standard/regular-expressions.ts";
import { intType } from "./values/types.ts";
import { isError, type Value } from "./values/value.ts";

const counter = new StepCounter();

/** The greatest count is 6 million. `node bench/cel.ts` prints how long each expression takes. */
const MOST_STEPS = 10_000_000;

suite("no expression takes many steps:", () => {
  for (const [name, text] of hostile) {
    test(name, () => {
      const steps = counter.count(() => void attempt(text));
      assert.ok(steps < MOST_STEPS, `${steps} steps: ${attempt(text).slice(0, 200)}`);
    });
  }
});

suite("no part of compiling a long expression takes many steps:", () => {
  for (const [name, text] of long) {
    test(name, () => {
      const parts = compileSteps(text, env);
      let checked: Checked | CompileError | undefined;
      const counts: number[] = [];
      while (checked === undefined)
        counts.push(
          counter.count(() => {
            checked = parts.next().value ?? undefined;
          }),
        );
      if (checked instanceof CompileError) assert.fail(checked.message);
      const accepted: Checked = checked;
      counts.push(
        counter.count(() => void program(accepted, env)),
        counter.count(() => void estimateCost(accepted.expr, env)),
      );
      assert.ok(Math.max(...counts) < MOST_STEPS, counts.join());
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
