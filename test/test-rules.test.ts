import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { suite, test } from "node:test";

const root = path.join(import.meta.dirname, "..");

/** What may stand before `.test.ts`: the program that the tests of the file start. */
const PROGRAMS = ["binnacle", "etcd", "go", "kube-apiserver", "kubectl", "node", "openssl"];

const testFiles = ["src", "test"].flatMap((folder) =>
  readdirSync(path.join(root, folder), { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".test.ts"))
    .map((file) => path.join(folder, file)),
);

const wordsOf = (file: string) => path.basename(file, ".test.ts").split(".").slice(1);

/** Names of a file's imports, types aside. */
const importsOf = (text: string) =>
  [...text.matchAll(/^(?:import|export) (?!type )(?:[^;]*? from )?"([^"]+)";/gm)].map((match) => match[1] ?? "");

/** The imports that lead from a file to `node:child_process`; undefined if none do. */
function wayToProcesses(file: string, read: (file: string) => string): string[] | undefined {
  const seen = new Set<string>();
  const follow = (here: string): string[] | undefined => {
    if (seen.has(here)) return undefined;
    seen.add(here);
    for (const name of importsOf(read(here))) {
      if (name === "node:child_process") return [here];
      if (!name.startsWith(".") || !name.endsWith(".ts")) continue;
      const way = follow(path.join(path.dirname(here), name));
      if (way !== undefined) return [here, ...way];
    }
    return undefined;
  };
  return follow(file);
}

suite("test files", () => {
  const read = (file: string) => readFileSync(path.join(root, file), "utf8");

  test("are named after the program that they start", () => {
    const isWrong = (words: string[]) => words.length > 1 || words.some((word) => !PROGRAMS.includes(word));
    assert.deepEqual(
      testFiles.filter((file) => isWrong(wordsOf(file))),
      [],
    );
  });

  test("without such a word start no process", () => {
    const ways = testFiles
      .filter((file) => wordsOf(file).length === 0)
      .flatMap((file) => wayToProcesses(file, read)?.join(" imports ") ?? []);
    assert.deepEqual(ways, []);
  });
});

suite("the rules for test files find", () => {
  test("a process that a helper's helper starts, not one whose type is named", () => {
    const files: Record<string, string> = {
      "a.test.ts": 'import { test } from "node:test";\nimport { help } from "./b.ts";\n',
      "b.ts": 'import type { ChildProcess } from "node:child_process";\nimport {\n  start,\n} from "./c/d.ts";\n',
      "c/d.ts": 'import "../b.ts";\nimport { spawn } from "node:child_process";\n',
      "e.ts": 'import type { ChildProcess } from "node:child_process";\n',
    };
    const read = (file: string) => files[file] ?? assert.fail(file);
    assert.deepEqual(wayToProcesses("a.test.ts", read), ["a.test.ts", "b.ts", "c/d.ts"]);
    assert.equal(wayToProcesses("e.ts", read), undefined);
  });
});
