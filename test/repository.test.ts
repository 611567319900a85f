import assert from "node:assert/strict";
import { existsSync, globSync, readFileSync } from "node:fs";
import path from "node:path";
import { suite, test } from "node:test";
import { load } from "js-yaml";
import packageJson from "../package.json" with { type: "json" };
import { releaseNotes } from "../tools/release-notes.ts";
import { GROUPS } from "../tools/run-table.ts";

const root = path.join(import.meta.dirname, "..");
const read = (file: string) => readFileSync(path.join(root, file), "utf8");

interface Job {
  readonly strategy?: { readonly matrix?: { readonly name?: readonly string[] } };
  readonly steps?: readonly { readonly uses?: string; readonly run?: string }[];
  readonly uses?: string;
}

interface Workflow {
  readonly name: string;
  readonly permissions: object;
  readonly jobs: Readonly<Record<string, Job>>;
}

const workflows = globSync(".github/workflows/*.yml", { cwd: root });
const workflow = (file: string) => load(read(file)) as Workflow;

suite("workflows", () => {
  test("parse, have limited permissions, and use pinned actions or files that exist", () => {
    assert.equal(workflows.length, 3);
    for (const file of workflows) {
      const { name, permissions, jobs } = workflow(file);
      assert.ok(name, file);
      assert.deepEqual(permissions, { contents: "read" }, file);
      for (const { steps = [], uses } of Object.values(jobs)) {
        assert.ok(steps.length > 0 || (uses !== undefined && existsSync(path.join(root, uses))), file);
        for (const step of steps) {
          assert.notEqual(step.uses === undefined, step.run === undefined, JSON.stringify(step));
          if (step.uses !== undefined) assert.match(step.uses, /^actions\/[\w-]+@v\d+$/);
          for (const [named] of step.run?.matchAll(/\b(?:tools|test|\.ci)\/[\w./-]+/g) ?? []) {
            assert.ok(existsSync(path.join(root, named)), named);
          }
        }
      }
    }
  });

  test("fuzz everything every night", () => {
    const named = workflow(".github/workflows/nightly.yml").jobs.fuzz?.strategy?.matrix?.name;
    assert.deepEqual(
      named,
      GROUPS.fuzz?.programs.map(({ name }) => name),
    );
  });

  test("have templates and updates beside them that parse", () => {
    const forms = globSync(".github/ISSUE_TEMPLATE/*.yml", { cwd: root }).filter(
      (file) => !file.endsWith("config.yml"),
    );
    assert.ok(forms.length >= 3);
    for (const file of forms) {
      const form = load(read(file)) as { name?: string; description?: string; body?: unknown[] };
      assert.ok(form.name && form.description && form.body?.length, file);
    }
    const { updates } = load(read(".github/dependabot.yml")) as { updates: { directories?: string[] }[] };
    for (const folder of updates.flatMap(({ directories = [] }) => directories)) {
      assert.ok(existsSync(path.join(root, folder, "package.json")), folder);
    }
  });
});

suite("editor files", () => {
  test("parse", () => {
    for (const file of [".devcontainer/devcontainer.json", ...globSync(".vscode/*.json", { cwd: root })]) {
      assert.equal(typeof JSON.parse(read(file)), "object", file);
    }
  });

  test("start scripts and programs that exist", () => {
    for (const { script } of JSON.parse(read(".vscode/tasks.json")).tasks)
      assert.ok(script in packageJson.scripts, script);
    for (const { program } of JSON.parse(read(".vscode/launch.json")).configurations) {
      assert.ok(existsSync(program.replace(/^\$\{\w+\}/, root)), program);
    }
  });

  test("name the Node that tools/node fetches", () => {
    const [, pinned] = /^pinned=(.+)$/m.exec(read("tools/node")) ?? [];
    assert.equal(read(".nvmrc"), `${pinned}\n`);
    const [, minimum] = /^minimum=(.+)$/m.exec(read("tools/node")) ?? [];
    assert.equal(`${packageJson.engines.node}.0`, `>=${minimum}`);
  });
});

suite("release notes", () => {
  const changelog = "# Changelog\n\n## 1.10.0\n\nTen.\n\n## 1.1.0 (2026-11-16)\n\n### Added\n\n- One.\n\n## 1.0.0\n";

  test("are the section of the version", () => {
    assert.equal(releaseNotes("v1.1.0", "1.1.0", changelog), "### Added\n\n- One.");
    assert.equal(releaseNotes("v1.10.0", "1.10.0", changelog), "Ten.");
  });

  test("fail if the tag is another version's, or the section is missing or empty", () => {
    assert.throws(() => releaseNotes("v1.1.1", "1.1.0", changelog), /the tag is v1\.1\.1/);
    assert.throws(() => releaseNotes("v1.1", "1.1", changelog), /no section "## 1\.1"/);
    assert.throws(() => releaseNotes("v1.0.0", "1.0.0", changelog), /is empty/);
  });
});

test("CONTRIBUTING.md has at most 120 lines", () => {
  assert.ok(read("CONTRIBUTING.md").trimEnd().split("\n").length <= 120);
});

test("NOTICE names files and folders that exist", () => {
  const inSources = globSync("src/**/*.json", { cwd: root }).map((file) => path.basename(file));
  const named = Array.from(
    read("NOTICE").matchAll(/(?<![\w/.*])(?:[\w-]+\/)*[\w-]+(?:\.json|\.txt|\/(?![\w*]))/g),
    ([name]) => name,
  );
  assert.ok(named.length > 8);
  const isThere = (name: string) => existsSync(path.join(root, name)) || inSources.includes(name);
  assert.deepEqual(
    named.filter((name) => !isThere(name) && !name.startsWith("dist/")),
    [],
  );
});
