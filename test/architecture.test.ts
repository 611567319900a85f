import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { suite, test } from "node:test";

const root = path.join(import.meta.dirname, "..");
const text = readFileSync(path.join(root, "docs", "internals", "architecture.md"), "utf8");

suite("docs/internals/architecture.md", () => {
  test("names only files and folders that exist", () => {
    const named = Array.from(
      text.matchAll(/`([\w-]+(?:\/[\w.-]+)*\/(?:[\w-]+\.\w+)?)(?:<\w+>\/)?`/g),
      ([, name = ""]) => name,
    );
    assert.ok(named.length > 50);
    const missing = named.filter(
      (name) => ![root, path.join(root, "src")].some((from) => existsSync(path.join(from, name))),
    );
    assert.deepEqual(missing, []);
  });

  test("has a row for every folder of src", () => {
    const folders = readdirSync(path.join(root, "src"), { withFileTypes: true }).filter((entry) => entry.isDirectory());
    const missing = folders.filter(({ name }) => !text.includes(`\n| \`${name}/\` |`));
    assert.deepEqual(missing, []);
  });
});
