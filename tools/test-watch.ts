import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, globSync, readFileSync, watch } from "node:fs";
import path from "node:path";
import { testsOf } from "./changed-tests.ts";

/**
 * node tools/test-watch.ts PATTERN...
 * Waits for changes and runs the tests among PATTERN that import a changed file. `node --test --watch` does the same, but runs
 * all of PATTERN first: minutes, for the unit tests.
 */
const root = path.join(import.meta.dirname, "..");
const FOLDERS = ["src", "test"];
/** Editors write a file in several steps. */
const PAUSE_MS = 100;

const patterns = process.argv.slice(2);
const changed = new Set<string>();
let timer: NodeJS.Timeout | undefined;
let running: ChildProcess | undefined;

for (const folder of FOLDERS) {
  watch(path.join(root, folder), { recursive: true }, (_, name) => {
    if (name === null || !/\.(ts|json)$/.test(name)) return;
    changed.add(path.join(folder, name));
    clearTimeout(timer);
    timer = setTimeout(runChanged, PAUSE_MS);
  });
}
process.once("SIGTERM", () => {
  running?.kill("SIGKILL");
  process.exit(143);
});
print(`Waiting for changes in ${FOLDERS.join(" and ")}. Ctrl-C ends it.`);

function runChanged(): void {
  // What changed stays in the set until its tests have run to the end.
  if (running !== undefined) {
    // At once, or each of its tests would be reported as failed. Unit tests start no processes.
    running.kill("SIGKILL");
    return;
  }
  const files = [...changed];
  const tests = testsOf(files, globSync(patterns, { cwd: root }), read);
  print(`\n${files.join(", ")}: ${tests.length === 0 ? "no unit test imports it" : `${tests.length} test files`}`);
  if (tests.length === 0) {
    changed.clear();
    return;
  }
  const args = ["--test", "--test-isolation=none", ...tests];
  running = spawn(process.execPath, args, { cwd: root, stdio: ["ignore", "inherit", "inherit"] });
  running.on("exit", (_, signal) => {
    running = undefined;
    if (signal !== null) return runChanged();
    for (const file of files) changed.delete(file);
  });
}

/** Empty if there is no such file: it has just been deleted, or only a text in a test looks like an import of it. */
function read(file: string): string {
  const whole = path.join(root, file);
  return existsSync(whole) ? readFileSync(whole, "utf8") : "";
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}
