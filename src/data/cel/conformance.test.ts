import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { failureOf, vectors } from "./conformance.suite.ts";
import exceptions from "./conformance-exceptions.json" with { type: "json" };

/** Vectors that fail, by reason. A vector that passes must be removed from the list. */
const listed = new Map(Object.entries(exceptions).flatMap(([reason, paths]) => paths.map((path) => [path, reason])));

test(`passes all ${vectors.length} official vectors except the ${listed.size} listed with a reason`, () => {
  const missed: string[] = [];
  const met: string[] = [];
  for (const vector of vectors) {
    const failure = failureOf(vector);
    if (failure !== undefined && !listed.has(vector.path)) missed.push(`${vector.path}: ${vector.expr}: ${failure}`);
    if (failure === undefined && listed.has(vector.path)) met.push(vector.path);
  }
  assert.deepEqual({ missed, met }, { missed: [], met: [] });
});

test("docs/internals/decisions/0006-cel.md contains the number of passed vectors, and of failed ones by reason", () => {
  const page = readFileSync(new URL("../../../docs/internals/decisions/0006-cel.md", import.meta.url), "utf8");
  const met = (vectors.length - listed.size).toLocaleString("en-US");
  assert.ok(page.includes(`Of ${vectors.length.toLocaleString("en-US")} vectors ${met} are met.`));
  for (const [reason, paths] of Object.entries(exceptions)) {
    assert.ok(page.includes(`\n| ${reason} | ${paths.length} |\n`), reason);
  }
});

test("every listed vector exists and is listed once", () => {
  const paths = vectors.map(({ path }) => path);
  assert.deepEqual(
    [...listed.keys()].filter((path) => !paths.includes(path)),
    [],
  );
  assert.equal(Object.values(exceptions).flat().length, listed.size);
});
