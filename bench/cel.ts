/**
 * How long typical rules take to compile and to evaluate, with their cost counted and with a meter, and how long hostile expressions
 * hold the thread. Nothing is written; run alone.
 *   node bench/cel.ts
 */
import { Meter } from "../src/base/util/meter.ts";
import { Environment } from "../src/data/cel/environment.ts";
import { attempt, hostile } from "../src/data/cel/hostile.suite.ts";
import { CompileError, compile, type Program, program } from "../src/data/cel/program.ts";
import { optionalLibrary } from "../src/data/cel/standard/optional.ts";
import { standardLibrary } from "../src/data/cel/standard/standard.ts";
import { EntryMap } from "../src/data/cel/values/maps.ts";
import { dynType, intType, listType, mapType, stringType } from "../src/data/cel/values/types.ts";
import { ArrayList, isError, type Value } from "../src/data/cel/values/value.ts";

const env = new Environment({
  libraries: [standardLibrary, optionalLibrary],
  variables: {
    self: mapType(stringType, dynType),
    names: listType(stringType),
    replicas: intType,
    most: intType,
  },
});
const spec = EntryMap.of([
  ["minReplicas", 1],
  ["replicas", 3],
  ["maxReplicas", 10],
  ["name", "web-frontend"],
  ["type", "ClusterIP"],
]);
const values = new Map<string, Value>([
  ["self", spec],
  ["names", new ArrayList(["a", "b", "c", "d", "e"])],
  ["replicas", 3],
  ["most", 10],
]);

const rules: readonly string[] = [
  "replicas <= most",
  "self.minReplicas <= self.replicas && self.replicas <= self.maxReplicas",
  "has(self.name) && self.name.startsWith('web') || self.type == 'None'",
  "self.type in ['ClusterIP', 'NodePort', 'LoadBalancer']",
  "!has(self.missing) || self.missing > 0",
  "names.all(n, n.size() < 10)",
  "self.name.matches('^[a-z]+(-[a-z]+)*$')",
];

const ROUNDS = 7;

function microseconds(count: number, run: () => void): number {
  let least = Number.POSITIVE_INFINITY;
  for (let round = 0; round < ROUNDS; round++) {
    const start = performance.now();
    for (let i = 0; i < count; i++) run();
    least = Math.min(least, ((performance.now() - start) * 1000) / count);
  }
  return least;
}

function made(rule: string): Program {
  const checked = compile(rule, env);
  if (checked instanceof CompileError) throw checked;
  const result = program(checked, env);
  if (result instanceof CompileError) throw result;
  return result;
}

const activation = (name: string) => values.get(name);
process.stdout.write("evaluate µs | metered µs | compile µs | cost | rule\n");
for (const rule of rules) {
  const compiled = made(rule);
  const { value, cost } = compiled.evaluate(activation, 1_000_000);
  if (isError(value)) throw new Error(value.message);
  const evaluating = microseconds(100_000, () => compiled.evaluate(activation, 1_000_000));
  const meter = new Meter(Number.MAX_SAFE_INTEGER);
  const metered = microseconds(100_000, () => compiled.evaluate(activation, 1_000_000, meter));
  const compiling = microseconds(500, () => made(rule));
  process.stdout.write(
    `${evaluating.toFixed(3).padStart(11)} | ${metered.toFixed(3).padStart(10)} | ${compiling.toFixed(0).padStart(10)} | ${String(cost).padStart(4)} | ${rule}\n`,
  );
}

process.stdout.write("\nhostile, ms | expression\n");
const times = hostile.map(([name, text]) => [name, microseconds(1, () => void attempt(text)) / 1000] as const);
for (const [name, ms] of times.toSorted(([, a], [, b]) => b - a))
  process.stdout.write(`${ms.toFixed(1).padStart(11)} | ${name}\n`);
