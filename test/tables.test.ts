import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";

const source = path.join(import.meta.dirname, "..", "src");

/** Places where a table of a module is read by a name that is not written there, so that `constructor` is found in it. */
function careless(text: string): string[] {
  const tables = [...text.matchAll(/^(?:export )?const (\w+): Readonly<Record<string, /gm)].map(([, name]) => name);
  return tables
    .filter((name) => !text.includes(`Object.hasOwn(${name},`))
    .flatMap((name) => text.match(new RegExp(`(?<![\\w.])${name}\\[(?!["\\d]).*`, "g")) ?? []);
}

test("a table is read with getMember, so that what every object inherits is not in it", () => {
  assert.deepEqual(careless("const TYPES: Readonly<Record<string, number>> = {};\nreturn TYPES[type] ?? 0;"), [
    "TYPES[type] ?? 0;",
  ]);
  const found = globSync("**/*.ts", { cwd: source })
    .filter((file) => !/\.(test|suite)\.ts$/.test(file))
    .flatMap((file) => careless(readFileSync(path.join(source, file), "utf8")).map((line) => `${file}: ${line}`));
  assert.deepEqual(found, []);
});
