import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { suite, test } from "node:test";
import { printDuration } from "../../../base/go/duration.ts";
import { printGoFloat } from "../../../base/go/float.ts";
import { CompileError, compile, Program, program } from "../program.ts";
import { formatTimestamp } from "../values/time.ts";
import { doubleType, dynType, intType, listType, mapType, stringType, uintType } from "../values/types.ts";
import {
  CelError,
  Double,
  Duration,
  ListValue,
  MapValue,
  Optional,
  Timestamp,
  TypeValue,
  Uint,
  type Value,
} from "../values/value.ts";
import { newExpressions } from "./environment.ts";

/** Results and costs of the libraries of Kubernetes 1.37.1. */
const answers = JSON.parse(
  readFileSync(new URL("libraries.answers.json", import.meta.url), "utf8"),
) as readonly (readonly [expression: string, answer: string, cost: number])[];

const env = newExpressions.extend({
  variables: {
    s: stringType,
    l: listType(intType),
    m: mapType(stringType, intType),
    d: dynType,
    u: uintType,
    dl: listType(dynType),
    ls: listType(stringType),
    f: doubleType,
  },
});

const values = new Map<string, Value>(
  Object.entries({
    s: "'abc'",
    l: "[1,2,3]",
    m: "{'x': 1}",
    d: "{'x': dyn({'y': [1,2]}), 'n': dyn(null)}",
    u: "7u",
    dl: "[dyn(1), dyn('x')]",
    ls: "['a','b']",
    f: "1.5",
  }).map(([name, text]) => [name, run(text).value]),
);

function run(text: string): { value: Value; cost: number } {
  const checked = compile(text, env);
  if (checked instanceof CompileError) return { value: new CelError(checked.message), cost: 0 };
  const made = program(checked, env);
  if (!(made instanceof Program)) return { value: new CelError(`PROGRAM ${made.message}`), cost: 0 };
  return made.evaluate((name) => values.get(name));
}

function show(value: Value): string {
  if (typeof value === "string") return JSON.stringify(value);
  if (value instanceof CelError) return value.message;
  if (value instanceof Double) return `double(${printGoFloat(value.value)})`;
  if (value instanceof Uint) return `${value.value}u`;
  if (value instanceof Duration) return `duration(${printDuration(value.nanos)})`;
  if (value instanceof Timestamp) return `timestamp(${formatTimestamp(value)})`;
  if (value instanceof TypeValue) return `type(${value.of.name})`;
  if (value instanceof Optional) return value.value === undefined ? "optional.none" : `optional(${show(value.value)})`;
  if (value instanceof ListValue)
    return `[${Array.from({ length: value.size }, (_, i) => show(value.at(i))).join(", ")}]`;
  if (value instanceof MapValue) {
    return `{${[...value.keys()].map((key) => `${show(key)}: ${show(value.find(key) as Value)}`).join(", ")}}`;
  }
  return String(value);
}

suite("functions of Kubernetes' libraries", () => {
  for (const [expression, answer, cost] of answers) {
    test(expression, () => {
      const result = run(expression);
      assert.equal(show(result.value), answer);
      if (cost > 0) assert.equal(result.cost, cost);
    });
  }
});

test("includes() is available only in stored expressions", () => {
  assert.match(show(run("[1].includes(1)").value), /undeclared reference to 'includes'/);
});
