import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { failureOf, vectors } from "./conformance.suite.ts";
import exceptions from "./conformance-exceptions.json" with { type: "json" };

/** Vectors that are not met, by the reason. One that is met after all must leave the list. */
const listed = new Map(Object.entries(exceptions).flatMap(([reason, paths]) => paths.map((path) => [path, reason])));

test(`of ${vectors.length} official vectors, all but the ${listed.size} that are listed with a reason are met`, () => {
  const missed: string[] = [];
  const met: string[] = [];
  for (const vector of vectors) {
    const failure = failureOf(vector);
    if (failure !== undefined && !listed.has(vector.path)) missed.push(`${vector.path}: ${vector.expr}: ${failure}`);
    if (failure === undefined && listed.has(vector.path)) met.push(vector.path);
  }
  assert.deepEqual({ missed, met }, { missed: [], met: [] });
});

test("docs/internals/decisions/0006-cel.md tells how many are met, and how many are not for which reason", () => {
  const page = readFileSync(new URL("../../docs/internals/decisions/0006-cel.md", import.meta.url), "utf8");
  const met = (vectors.length - listed.size).toLocaleString("en-US");
  assert.ok(page.includes(`Of ${vectors.length.toLocaleString("en-US")} vectors ${met} are met.`));
  for (const [reason, paths] of Object.entries(exceptions)) {
    assert.ok(page.includes(`\n| ${reason} | ${paths.length} |\n`), reason);
  }
});

test("every listed vector exists, once", () => {
  const paths = vectors.map(({ path }) => path);
  assert.deepEqual(
    [...listed.keys()].filter((path) => !paths.includes(path)),
    [],
  );
  assert.equal(Object.values(exceptions).flat().length, listed.size);
});
