import assert from "node:assert/strict";
import { existsSync, globSync, readFileSync } from "node:fs";
import path from "node:path";
import { suite, test } from "node:test";
import packageJson from "../package.json" with { type: "json" };
import { testsOf } from "../tools/changed-tests.ts";
import { GROUPS } from "../tools/run-table.ts";

const root = path.join(import.meta.dirname, "..");
const MAX_SCRIPTS = 15;
const TEXTS =
  "{*.md,.ci/run,.github/**/*,.vscode/*,.devcontainer/*,docs/**/*.md,{bench,deploy,examples,src,test,tools}/**/*}";
const DATA = /^test\/golden\/(recorded|scenarios)\/|^test\/clients\/kubectl\/recorded\/|\/go\.(mod|sum)$/;

const read = (file: string) => readFileSync(path.join(root, file), "utf8");

/** What is wrong with the npm scripts that a text mentions. */
function unknownScripts(text: string): string[] {
  const unknown: string[] = [];
  for (const [mention, script = "", name] of text.matchAll(
    /\bnpm run (?:--silent )?([a-z][\w-]*(?::[\w-]+)*)(?: ([a-z][\w-]*))?/g,
  )) {
    const group = GROUPS[script];
    const isKnown = script in packageJson.scripts;
    // Other scripts take no names: what follows them belongs to the sentence.
    const isComplete = group === undefined || name === undefined || group.programs.some((one) => one.name === name);
    if (!isKnown || !isComplete) unknown.push(mention);
  }
  return unknown;
}

suite("npm scripts", () => {
  test(`are at most ${MAX_SCRIPTS}`, () => {
    assert.ok(Object.keys(packageJson.scripts).length <= MAX_SCRIPTS);
  });

  test("start files that exist", () => {
    const lost = Object.entries(packageJson.scripts).flatMap(([script, command]) =>
      Array.from(command.matchAll(/(?:^|\s)((?:tools|test)\/\S+\.ts)/g), ([, file = ""]) => file)
        .filter((file) => !existsSync(path.join(root, file)))
        .map((file) => `${script}: ${file}`),
    );
    assert.deepEqual(lost, []);
  });

  test("watch and measure the same files that test:unit runs", () => {
    const pattern = /'[^']+\.test\.ts'$/.exec(packageJson.scripts["test:unit"])?.[0] ?? assert.fail();
    assert.ok(packageJson.scripts["test:watch"].endsWith(pattern));
    // The unit tests of test/ read the sources as text, and take several times as long while coverage is measured.
    assert.ok(packageJson.scripts.coverage.endsWith(pattern.replace("{src,test}", "src")));
  });

  for (const [script, { programs }] of Object.entries(GROUPS)) {
    test(`${script} has a script, and rows with one name, one line and files that exist each`, () => {
      assert.equal(packageJson.scripts[script as keyof typeof packageJson.scripts], `node tools/run.ts ${script}`);
      const names = programs.map(({ name }) => name);
      assert.deepEqual(names, [...new Set(names)]);
      for (const { name, does, files = [], tests = [] } of programs) {
        assert.match(name, /^[a-z][\w-]*$/);
        assert.match(does, /^[^\n]{10,100}$/, name);
        assert.ok(files.length + tests.length > 0, name);
        for (const file of files) assert.ok(existsSync(path.join(root, file)), file);
        for (const pattern of tests) assert.ok(globSync(pattern, { cwd: root }).length > 0, pattern);
      }
    });
  }

  test("that the repository mentions exist", () => {
    const files = globSync(TEXTS, { cwd: root, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => path.relative(root, path.join(entry.parentPath, entry.name)))
      .filter((file) => !DATA.test(file) && file !== "test/scripts.test.ts");
    assert.ok(files.includes("CONTRIBUTING.md") && files.includes(".ci/run") && files.includes("tools/provide"));
    const lost = files.flatMap((file) => unknownScripts(read(file)).map((mention) => `${file}: ${mention}`));
    assert.deepEqual(lost, []);
  });

  test("are found in a text: unknown scripts, and unknown names", () => {
    assert.deepEqual(unknownScripts("run `npm run conformance -- --all`, then npm run bench:startup"), [
      "npm run conformance",
      "npm run bench:startup",
    ]);
    assert.deepEqual(unknownScripts("`npm run bench nothing`"), ["npm run bench nothing"]);
    assert.deepEqual(unknownScripts("`npm run bench startup`, `npm run --silent check`, npm run build first"), []);
    assert.deepEqual(unknownScripts("npm run fuzz NAME, npm run compare -- golden --help"), []);
  });
});

suite("test:watch runs", () => {
  const files: Record<string, string> = {
    "src/a.test.ts": 'import { b } from "./b.ts";\nimport type { D } from "./d.ts";\n',
    "src/b.ts": 'const { c } = await import("../lib/c.ts");\n',
    "lib/c.ts": 'export { a } from "../src/b.ts";\nimport data from "./data.json" with { type: "json" };\n',
    "src/d.ts": "",
    "src/d.test.ts": 'import {\n  d,\n} from "./d.ts";\n',
  };
  const tests = ["src/a.test.ts", "src/d.test.ts"];
  const testsFor = (...changed: string[]) => testsOf(changed, tests, (file) => files[file] ?? assert.fail(file));

  test("the tests that reach a changed file through imports", () => {
    assert.deepEqual(testsFor("lib/c.ts"), ["src/a.test.ts"]);
    assert.deepEqual(testsFor("lib/data.json"), ["src/a.test.ts"]);
    assert.deepEqual(testsFor("lib/c.ts", "src/d.ts"), tests);
    assert.deepEqual(testsFor("src/d.test.ts"), ["src/d.test.ts"]);
  });

  test("no tests because of a type, or of a file that none imports", () => {
    assert.deepEqual(testsFor("src/d.ts"), ["src/d.test.ts"]);
    assert.deepEqual(testsFor("src/e.ts"), []);
  });
});
