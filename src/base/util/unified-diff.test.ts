import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { fc } from "../../../test/support/random.ts";
import { unifiedDiff } from "./unified-diff.ts";

const NAMES = ["a", "b"] as const;

/** Applies a diff like patch(1). */
function patched(before: string, diff: string): string {
  const lines = before === "" ? [] : before.slice(0, -1).split("\n");
  const out: string[] = [];
  let at = 0;
  for (const line of diff.split("\n").slice(2, -1)) {
    const hunk = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@$/.exec(line);
    if (hunk) {
      const first = Number(hunk[1]) - (hunk[2] === "0" ? 0 : 1);
      while (at < first) out.push(lines[at++] as string);
      assert.equal(out.length, Number(hunk[3]) - (hunk[4] === "0" ? 0 : 1), "the hunk is at the line of its header");
    } else if (line[0] === "+") out.push(line.slice(1));
    else {
      assert.equal(lines[at], line.slice(1));
      at++;
      if (line[0] === " ") out.push(line.slice(1));
    }
  }
  while (at < lines.length) out.push(lines[at++] as string);
  return out.length === 0 ? "" : `${out.join("\n")}\n`;
}

suite("unifiedDiff", () => {
  test("shows three lines around a change", () => {
    const before = "1\n2\n3\n4\n5\n6\n7\n8\n9\n";
    const diff = "--- a\n+++ b\n@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n";
    assert.equal(unifiedDiff(before, before.replace("5", "five"), NAMES), diff);
  });

  test("is empty for equal texts, and contains all lines of a new or removed text", () => {
    assert.equal(unifiedDiff("x\n", "x\n", NAMES), "");
    assert.equal(unifiedDiff("", "x\ny\n", NAMES), "--- a\n+++ b\n@@ -0,0 +1,2 @@\n+x\n+y\n");
    assert.equal(unifiedDiff("x\n", "", NAMES), "--- a\n+++ b\n@@ -1 +0,0 @@\n-x\n");
  });

  test("turns one text into the other with the fewest changes", () => {
    const text = fc
      .array(fc.constantFrom("a", "b", "c", ""), { maxLength: 30 })
      .map((lines) => lines.map((line) => `${line}\n`).join(""));
    fc.assert(
      fc.property(text, text, (before, after) => {
        const diff = unifiedDiff(before, after, NAMES);
        assert.equal(patched(before, diff), after);
      }),
    );
    const long = Array.from({ length: 3000 }, (_, index) => `${index}\n`);
    const other = long.map((line, index) => (index % 100 === 0 ? `x${line}` : line));
    const diff = unifiedDiff(long.join(""), other.join(""), NAMES);
    assert.equal(diff.match(/^[-+]\w/gm)?.length, 60);
    assert.equal(patched(long.join(""), diff), other.join(""));
  });

  test("is fast for long texts with nothing in common", () => {
    const lines = (mark: string) => Array.from({ length: 20_000 }, (_, index) => `${mark}${index}\n`).join("");
    assert.equal(patched(lines("a"), unifiedDiff(lines("a"), lines("b"), NAMES)), lines("b"));
  });
});
