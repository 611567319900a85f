import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import path from "node:path";
import { test } from "node:test";
import { compatibilityText } from "../tools/compatibility.ts";
import { featureGatesText } from "../tools/feature-gates.ts";

test("docs/compatibility.md is up to date (node tools/compatibility.ts writes it)", async () => {
  const written = await readFile(path.join(import.meta.dirname, "..", "docs", "compatibility.md"), "utf8");
  assert.equal(written, compatibilityText());
});

test("docs/reference/feature-gates.md is what `npm run docs feature-gates` writes", async () => {
  const written = await readFile(path.join(import.meta.dirname, "..", "docs", "reference", "feature-gates.md"), "utf8");
  assert.equal(written, featureGatesText());
});
