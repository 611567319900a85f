import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { suite, test } from "node:test";

const root = path.join(import.meta.dirname, "..");

/**
 * What may stand before `.test.ts`: a program that the tests of the file start, or what else makes them slow. Tests
 * without such a word are unit tests, which `npm run test:unit` runs in one process.
 */
const PROGRAMS = ["binnacle", "etcd", "git", "go", "helm", "kube-apiserver", "kubectl", "node", "openssl"];
const SLOW: Readonly<Record<string, string>> = {
  hostile: "counts the steps for inputs that are meant to cost much",
  random: "tries many random inputs",
  server: "starts whole servers in its own process",
};
const WORDS = [...PROGRAMS, ...Object.keys(SLOW)];

/**
 * Where tests may let time pass besides `eventually`, how often, and why. A wait for nothing to happen is no reason: let
 * something happen that must come next, drive the clock, or drain the queue.
 */
const TIMERS: Readonly<Record<string, readonly [count: number, reason: string]>> = {
  "src/serving/http/connection-keeper.test.ts": [3, "clients that drip or read slowly, and the bound of a connection"],
  "test/cost/turns.ts": [1, "a timer in the server that measures its event loop"],
  "src/base/log/log-lines.node.test.ts": [1, "a line that comes after the others have been read"],
  "src/programs/testing/settle.server.test.ts": [
    2,
    "a client that pauses before it writes, and a timer that never fires",
  ],
  "src/storage/etcd/transport.test.ts": [3, "a peer that answers late"],
  "src/storage/suite/faulty-store.suite.ts": [1, "a store that answers late"],
  "src/storage/suite/steps.suite.ts": [1, "the bound of a watch that is read"],
  "test/clients/informer.etcd.test.ts": [1, "a client that pauses before it tries again"],
  "test/conformance/container-handlers.ts": [1, "a container that needs a moment to stop"],
  "test/conformance/suite.ts": [1, "the bound of a run"],
  "test/cost/probe.ts": [2, "the pause between two looks whether the server answers"],
  "test/golden/replay.test.ts": [1, "answers late, so that requests overlap"],
  "test/layers.test.ts": [2, "texts in which a rule finds timers"],
  "test/load/attackers.ts": [2, "attackers that hold on, drip and pause, and how long the last may take to leave"],
  "test/load/calm-client.ts": [1, "a client that pauses between requests"],
  "test/load/hostile.ts": [1, "the length of a load"],
  "test/model/actors.ts": [2, "clients that pause between requests"],
  "test/model/compaction.etcd.test.ts": [1, "compactions at random times"],
  "test/model/crashes.etcd.test.ts": [4, "crashes at random times"],
  "test/model/durability.etcd.test.ts": [1, "a crash at a random time"],
  "test/model/model.ts": [1, "the length of a run"],
  "test/model/objects.ts": [1, "the bound of a watch that is read"],
  "test/model/pauses.etcd.test.ts": [4, "pauses and partitions of random length"],
  "test/model/readers.ts": [1, "clients that pause between requests"],
  "test/goworld/informers.ts": [1, "kills at random times"],
  "test/model/storm.ts": [1, "disconnects at random times"],
  "test/model/traffic.ts": [1, "writers that pause between requests"],
  "test/model/watchers.ts": [4, "clients that read slowly, leave at random times and pause before they try again"],
  "test/production/balancer.ts": [1, "the pause between two looks whether a replica is ready"],
  "test/production/healing.ts": [1, "a client that pauses before it tries again"],
  "test/production/load.ts": [1, "the pause between two looks"],
  "test/production/watchers.ts": [1, "a client that pauses before it tries again"],
  "test/production/writers.ts": [3, "clients that pause between requests"],
  "test/restarts/api.ts": [1, "a client that pauses before it tries again"],
  "test/restarts/observer.ts": [1, "a client that pauses before it tries again"],
  "test/restarts/restarts.ts": [1, "kills at random times"],
  "test/restarts/workloads.ts": [1, "a client that pauses between requests"],
  "test/support/process.ts": [1, "the bound of a polite end"],
  "test/support/tcp-proxy.ts": [1, "a relay that passes bytes on late"],
  "test/test-rules.test.ts": [3, "texts in which the rule finds timers"],
  "test/tutorial/record.ts": [1, "how long the output of a real cluster has to stay the same"],
  "test/support/time.ts": [1, "the pause between two looks of eventually"],
};

/** What starts a whole server, and the test files that import it only for its types and names. */
const SERVER = "src/programs/server/server.ts";
const NO_SERVER = ["test/docs-reference.test.ts"];

const sourceFiles = ["src", "test"].flatMap((folder) =>
  readdirSync(path.join(root, folder), { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".ts"))
    .map((file) => path.join(folder, file)),
);
const testFiles = sourceFiles.filter((file) => file.endsWith(".test.ts"));

const wordsOf = (file: string) => path.basename(file, ".test.ts").split(".").slice(1);

/** A file's imports, types aside: modules of Node and packages by name, files by their path. */
const importsOf = (file: string, text: string) =>
  [...text.matchAll(/^(?:import|export) (?!type )(?:[^;]*? from )?"([^"]+)";/gm)]
    .map((match) => match[1] ?? "")
    .map((name) => (name.startsWith(".") ? path.join(path.dirname(file), name) : name));

/** The imports that lead from a file to a module; undefined if none do. */
function wayTo(module: string, file: string, importsOf: (file: string) => readonly string[]): string[] | undefined {
  const seen = new Set<string>();
  const follow = (here: string): string[] | undefined => {
    if (here === module) return [];
    if (seen.has(here)) return undefined;
    seen.add(here);
    for (const name of importsOf(here)) {
      if (name === module) return [here];
      if (!name.endsWith(".ts")) continue;
      const way = follow(name);
      if (way !== undefined) return [here, ...way];
    }
    return undefined;
  };
  return follow(file);
}

/** How many timers a text starts by itself: calls of setTimeout and setInterval, under whatever name. */
function countTimers(text: string): number {
  const [, names = ""] = /import \{([^}]*)\} from "node:timers\/promises"/.exec(text) ?? [];
  const aliases = [...names.matchAll(/\b(?:setTimeout|setInterval|scheduler) as (\w+)/g)].map((match) => match[1]);
  const calls = new RegExp(`(?<![.\\w])(?:${["setTimeout", "setInterval", ...aliases].join("|")})\\((?!\\w+: )`, "g");
  return (text.match(calls)?.length ?? 0) + (text.match(/\bscheduler\.wait\(/g)?.length ?? 0);
}

suite("test files", () => {
  const imports = new Map<string, readonly string[]>();
  const cachedImports = (file: string) => {
    const known = imports.get(file) ?? importsOf(file, readFileSync(path.join(root, file), "utf8"));
    imports.set(file, known);
    return known;
  };
  const waysOf = (module: string, files: readonly string[]) =>
    files.flatMap((file) => wayTo(module, file, cachedImports)?.join(" imports ") ?? []);

  test("are named after the program that they start, or why they are slow", () => {
    const isWrong = (words: string[]) => words.length > 1 || words.some((word) => !WORDS.includes(word));
    assert.deepEqual(
      testFiles.filter((file) => isWrong(wordsOf(file))),
      [],
    );
  });

  test("without the name of a program start no process", () => {
    const files = testFiles.filter((file) => !PROGRAMS.includes(wordsOf(file)[0] ?? ""));
    assert.deepEqual(waysOf("node:child_process", files), []);
  });

  test("without a word start no server", () => {
    const files = testFiles.filter((file) => wordsOf(file).length === 0 && !NO_SERVER.includes(file));
    assert.deepEqual(waysOf(SERVER, files), []);
  });
});

suite("code of tests", () => {
  test("gets fast-check with the seed of this run", () => {
    const random = "test/support/random.ts";
    const importers = sourceFiles.filter((file) =>
      readFileSync(path.join(root, file), "utf8").includes('from "fast-check"'),
    );
    assert.deepEqual(
      importers.filter((file) => file !== "test/test-rules.test.ts"),
      [random],
    );
  });

  test("waits for what it can see, and lets time pass only where the list says why", () => {
    const isTestCode = (file: string) => /\.(test|suite)\.ts$/.test(file) || file.startsWith("test");
    const found = sourceFiles.filter(isTestCode).flatMap((file) => {
      const count = countTimers(readFileSync(path.join(root, file), "utf8"));
      return count === (TIMERS[file]?.[0] ?? 0) ? [] : [`${file}: ${count}, listed: ${TIMERS[file]?.[0] ?? "none"}`];
    });
    assert.deepEqual(found, []);
    assert.deepEqual(
      Object.keys(TIMERS).filter((file) => !sourceFiles.includes(file)),
      [],
    );
  });
});

suite("the rules for test files find", () => {
  test("timers under any name, not those that belong to something else or are driven by the test", () => {
    const named = 'import { setImmediate as turn, setTimeout as rest } from "node:timers/promises";\n';
    assert.equal(countTimers(`${named}await rest(5);\nsetTimeout(run, 5);\n`), 2);
    assert.equal(countTimers("const stop = setInterval(look, 20);\nawait scheduler.wait(20);\n"), 2);
    assert.equal(countTimers(`${named}socket.setTimeout(5);\nawait turn();\nt.mock.timers.tick(5);\nrested(5);\n`), 0);
    assert.equal(countTimers("class Clock {\n  setInterval(periodMs: number): Timer {}\n}\n"), 0);
  });

  test("a process that a helper's helper starts, not one whose type is named", () => {
    const files: Record<string, string> = {
      "a.test.ts": 'import { test } from "node:test";\nimport { help } from "./b.ts";\n',
      "b.ts": 'import type { ChildProcess } from "node:child_process";\nimport {\n  start,\n} from "./c/d.ts";\n',
      "c/d.ts": 'import "../b.ts";\nimport { spawn } from "node:child_process";\n',
      "e.ts": 'import type { ChildProcess } from "node:child_process";\n',
    };
    const way = (file: string) =>
      wayTo("node:child_process", file, (one) => importsOf(one, files[one] ?? assert.fail(one)));
    assert.deepEqual(way("a.test.ts"), ["a.test.ts", "b.ts", "c/d.ts"]);
    assert.equal(way("e.ts"), undefined);
  });
});
