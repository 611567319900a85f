#!/usr/bin/env -S node --max-semi-space-size=8
import { nodeProblem } from "./programs/cli/node-version.ts";

// Loads nothing else before this check: older versions of Node cannot parse it.
const problem = nodeProblem(process.versions.node);
if (problem !== undefined) {
  process.stderr.write(`binnacle: ${problem}\n`);
  process.exit(1);
}
// Without a listener, SIGUSR1 opens a debugger that gives every process of this user control over the server.
process.on("SIGUSR1", () => {});
// Compilation is a third of the start time without a cache.
const { enableCompileCache } = await import("node:module");
enableCompileCache();
const { runCommandLine } = await import("./programs/cli/command-line.ts");
const code = await runCommandLine();
if (code !== 0) {
  // Handles opened before the failure must not keep the process alive. Output to a pipe is flushed first.
  for (const stream of [process.stdout, process.stderr]) {
    await new Promise<void>((resolve) => void stream.once("error", () => resolve()).write("", () => resolve()));
  }
  process.exit(code);
}
