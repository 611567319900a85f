#!/usr/bin/env -S node --max-semi-space-size=8
import { nodeProblem } from "./node-version.ts";

// Nothing else is loaded before: older versions of Node could not even read it.
const problem = nodeProblem(process.versions.node);
if (problem !== undefined) {
  process.stderr.write(`binnacle: ${problem}\n`);
  process.exit(1);
}
// Without a listener Node opens a debugger, by which every program of this user would be the server.
process.on("SIGUSR1", () => {});
// A third of the time until the server is ready would go into compiling it again.
const { enableCompileCache } = await import("node:module");
enableCompileCache();
const { runCommandLine } = await import("./command-line.ts");
const code = await runCommandLine();
if (code !== 0) {
  // What was opened before a failure must not keep the process alive; a reader of a pipe may not have taken all yet.
  for (const stream of [process.stdout, process.stderr]) {
    await new Promise<void>((resolve) => void stream.once("error", () => resolve()).write("", () => resolve()));
  }
  process.exit(code);
}
