import assert from "node:assert/strict";
import { existsSync, globSync, readFileSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";

const root = path.join(import.meta.dirname, "..");
const DECISIONS = "docs/internals/decisions";
const CONTENTS = "docs/README.md";

const read = (file: string) => readFileSync(path.join(root, file), "utf8");
const pages = globSync("docs/**/*.md", { cwd: root }).sort();

test("docs/README.md leads to every page", () => {
  const links = Array.from(read(CONTENTS).matchAll(/\]\(([^)#]+)\)/g), ([, link = ""]) => path.join("docs", link));
  const missing = pages.filter((page) => page !== CONTENTS && !page.startsWith(DECISIONS) && !links.includes(page));
  assert.deepEqual(missing, []);
});

test("every page that is linked to or named is there", () => {
  const texts = globSync("{*.md,docs/**/*.md,examples/**/*.md,{src,test,tools,bench}/**/*.{ts,json,md}}", {
    cwd: root,
  });
  const lost: string[] = [];
  for (const file of texts) {
    const text = read(file);
    for (const [named] of text.matchAll(/(?<![\w/.])docs\/[\w/-]+\.(?:md|json|svg)\b/g)) {
      if (!existsSync(path.join(root, named))) lost.push(`${file} names ${named}`);
    }
    if (!file.endsWith(".md")) continue;
    for (const [, link = ""] of text.matchAll(/\]\((?!https?:|#)([^)#\s]+)/g)) {
      if (!existsSync(path.join(root, path.dirname(file), link))) lost.push(`${file} links to ${link}`);
    }
  }
  assert.deepEqual(lost, []);
});

test("records of decisions and gotchas name sources that exist", () => {
  const named = [...pages.filter((page) => page.startsWith(DECISIONS)), "docs/internals/gotchas.md"].flatMap((page) =>
    Array.from(read(page).matchAll(/`((?:[\w.-]+\/)+[\w.-]+\.(?:ts|json|txt))`/g), ([, file = ""]) => ({ page, file })),
  );
  const isThere = (file: string) => [root, path.join(root, "src")].some((from) => existsSync(path.join(from, file)));
  assert.deepEqual(
    named.filter(({ file }) => !isThere(file)),
    [],
  );
});
