import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { suite, test } from "node:test";

const root = path.join(import.meta.dirname, "..");

/** What may stand before `.test.ts`: the program that the tests of the file start. */
const PROGRAMS = ["binnacle", "etcd", "go", "helm", "kube-apiserver", "kubectl", "node", "openssl"];

/**
 * Where tests may let time pass besides `eventually`, how often, and why. A wait for nothing to happen is no reason: let
 * something happen that must come next, drive the clock, or drain the queue.
 */
const TIMERS: Readonly<Record<string, readonly [count: number, reason: string]>> = {
  "src/http/connection-keeper.test.ts": [4, "clients that drip or read slowly, and the bound of a connection"],
  "src/server/log-lines.node.test.ts": [1, "a line that comes after the others have been read"],
  "src/storage/etcd/transport.test.ts": [3, "a peer that answers late"],
  "src/storage/suite/steps.suite.ts": [1, "the bound of a watch that is read"],
  "test/api/hostile-streams.binnacle.test.ts": [1, "a client that goes on sending for a while"],
  "test/clients/informer.etcd.test.ts": [1, "a client that pauses before it tries again"],
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
  "test/support/process.ts": [1, "the bound of a polite end"],
  "test/support/tcp-proxy.ts": [1, "a relay that passes bytes on late"],
  "test/test-rules.test.ts": [3, "texts in which the rule finds timers"],
  "test/support/time.ts": [1, "the pause between two looks of eventually"],
};

const sourceFiles = ["src", "test"].flatMap((folder) =>
  readdirSync(path.join(root, folder), { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".ts"))
    .map((file) => path.join(folder, file)),
);
const testFiles = sourceFiles.filter((file) => file.endsWith(".test.ts"));

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

/** How many timers a text starts by itself: calls of setTimeout and setInterval, under whatever name. */
function countTimers(text: string): number {
  const [, names = ""] = /import \{([^}]*)\} from "node:timers\/promises"/.exec(text) ?? [];
  const aliases = [...names.matchAll(/\b(?:setTimeout|setInterval|scheduler) as (\w+)/g)].map((match) => match[1]);
  const calls = new RegExp(`(?<![.\\w])(?:${["setTimeout", "setInterval", ...aliases].join("|")})\\((?!\\w+: )`, "g");
  return (text.match(calls)?.length ?? 0) + (text.match(/\bscheduler\.wait\(/g)?.length ?? 0);
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

suite("code of tests", () => {
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
    const read = (file: string) => files[file] ?? assert.fail(file);
    assert.deepEqual(wayToProcesses("a.test.ts", read), ["a.test.ts", "b.ts", "c/d.ts"]);
    assert.equal(wayToProcesses("e.ts", read), undefined);
  });
});
