import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { suite, test } from "node:test";
import { PAGES, problemsOf, readResults, resultFiles, withTables } from "../tools/results.ts";

const root = path.join(import.meta.dirname, "..");
const read = (file: string) => readFileSync(path.join(root, file), "utf8");

const MONTH = "(?:January|February|March|April|May|June|July|August|September|October|November|December)";
/** Dates, seeds, machine load and goals of runs: they belong into bench/results/. */
const OF_ONE_RUN = new RegExp(
  `\\b${MONTH} \\d|\\d ${MONTH}\\b|\\b20\\d\\d-\\d\\d|(?<!-)\\bseeds? \\d|\\bload (?:of )?\\d|\\bgoals? (?:is|are|was|were) (?:not )?reached|[Ll]ast measured`,
);

suite("pages with measurements", () => {
  for (const page of PAGES) {
    const text = read(page);

    test(`${page} has the tables that \`npm run docs results\` writes`, () => {
      assert.match(text, /<!-- generated from /);
      assert.equal(text, withTables(text));
    });

    test(`${page} has at most 200 lines`, () => {
      assert.ok(text.trimEnd().split("\n").length <= 200);
    });

    test(`${page} has no dates, seeds, machine load or goals`, () => {
      const prose = text.split("\n").filter((line) => OF_ONE_RUN.test(line));
      assert.deepEqual(prose, []);
    });

    test(`${page} names only files that exist`, () => {
      assert.deepEqual(missingFiles(text), []);
    });
  }
});

suite("bench/results", () => {
  for (const file of resultFiles()) {
    test(`${file} has the required fields`, () => {
      const { command } = readResults(file);
      assert.deepEqual(missingFiles(command ?? ""), []);
    });
  }

  test("reports what a file lacks", () => {
    const run = { id: "one", date: "2026-11-16", conditions: "quiet", rows: [{ what: "start", measured: 1 }] };
    const columns = [
      { key: "what", title: "" },
      { key: "measured", title: "measured" },
    ];
    const whole = { measures: "start", command: "npm test", machine: "2 cores", columns, shown: "one", runs: [run] };
    assert.deepEqual(problemsOf(whole), []);
    assert.deepEqual(problemsOf({ ...whole, shown: "two" }), ["there is no run two"]);
    assert.deepEqual(problemsOf({ ...whole, command: null }), ["what a page shows needs a command"]);
    assert.deepEqual(problemsOf({ ...whole, runs: [{ ...run, date: "yesterday" }] }), [
      "run one needs a date such as 2026-11-16",
    ]);
    const renamed = [...columns, { key: "renamed", title: "" }];
    assert.deepEqual(problemsOf({ ...whole, columns: renamed }), ["no row of run one has renamed"]);
  });
});

/** Files that a text names but that do not exist. `test/scripts.test.ts` checks npm scripts. */
function missingFiles(text: string): string[] {
  const files = Array.from(text.matchAll(/(?<![\w/.-])(?:bench|test|tools|deploy)\/[\w./-]*[\w/]/g), ([file]) => file);
  return files.filter((file) => !existsSync(path.join(root, file)));
}
