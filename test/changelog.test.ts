import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import path from "node:path";
import { suite, test } from "node:test";

const text = readFileSync(path.join(import.meta.dirname, "..", "CHANGELOG.md"), "utf8");

suite("CHANGELOG.md", () => {
  test("groups entries by version under Added, Changed, Deprecated, Removed, Fixed and Security", () => {
    const headings = Array.from(text.matchAll(/^(#{2,3}) (.*)$/gm), ([, marks = "", title = ""]) => ({ marks, title }));
    const versions = headings.filter(({ marks }) => marks === "##").map(({ title }) => title);
    assert.equal(versions[0], "Unreleased");
    assert.deepEqual(
      versions.slice(1).filter((title) => !/^\[?\d+\.\d+\.\d+\]?(?![\w.-])/.test(title)),
      [],
    );
    const groups = headings.filter(({ marks }) => marks === "###").map(({ title }) => title);
    const known = ["Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"];
    assert.deepEqual(
      groups.filter((title) => !known.includes(title)),
      [],
    );
  });

  test("has entries of at most two lines of 160 characters", () => {
    const entries = text.split(/^(?=- |#|\n)/m).filter((part) => part.startsWith("- "));
    assert.ok(entries.length > 0);
    const long = entries.filter((entry) => {
      const lines = entry.trimEnd().split("\n");
      return lines.length > 2 || lines.some(({ length }) => length > 160);
    });
    assert.deepEqual(long, []);
  });
});
