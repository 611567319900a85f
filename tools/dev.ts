import path from "node:path";
import { cacheFolder } from "../test/support/tools.ts";
import { runNode } from "./run.ts";

/**
 * node tools/dev.ts [FLAG...]
 * Serves from the sources on the memory store and restarts when a loaded file changes. Keys and the kubeconfig stay the
 * same over restarts, in the cache folder; objects do not. FLAG is any flag of `binnacle serve`.
 */
const server = ["src/cli.ts", "serve", "--store", "memory", "--cert-dir", path.join(cacheFolder(), "dev")];
process.exitCode = await runNode([
  "--watch",
  "--watch-preserve-output",
  // As the first line of cli.ts has it
  "--max-semi-space-size=8",
  ...server,
  ...process.argv.slice(2),
]);
