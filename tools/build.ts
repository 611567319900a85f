import { chmod, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { build } from "esbuild";
import { firstObjects } from "./first-objects.ts";

const root = path.join(import.meta.dirname, "..");
const source = (file: string) => path.join(root, "src", file);

/**
 * Writes the program of the package into a folder, dist/ unless told otherwise: one file per entry and per thread, and the chunks that they share, so that
 * `binnacle`, `binnacle/testing` and `serve` have the same modules. Starting means reading a few files instead of some 700; what
 * most servers never need is imported when it is, and has a chunk of its own. All files lie in one folder: a thread's program is
 * found beside whatever starts it. `tsc` writes the declarations.
 */
export async function bundle(outdir: string = path.join(root, "dist")): Promise<void> {
  await rm(outdir, { recursive: true, force: true });
  await build({
    absWorkingDir: root,
    entryPoints: {
      cli: source("cli.ts"),
      index: source("index.ts"),
      testing: source("testing.ts"),
      light: source("envtest/light.ts"),
      thread: source("server/threads/thread.ts"),
      "function-thread": source("server/admission/functions/function-thread.ts"),
      worker: source("storage/sqlite/worker.ts"),
    },
    outdir,
    bundle: true,
    splitting: true,
    format: "esm",
    platform: "node",
    target: "node24",
    packages: "external",
    sourcemap: true,
    sourcesContent: false,
    logLevel: "warning",
  });
  await writeFile(path.join(outdir, "first-objects.json"), JSON.stringify(await firstObjects()));
  await chmod(path.join(outdir, "cli.js"), 0o755);
}

if (import.meta.main) await bundle();
