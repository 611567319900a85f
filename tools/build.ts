import { execFile } from "node:child_process";
import { chmod, mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";
import { build } from "esbuild";
import { besideServer, builtIns, commanderStubs, withoutComments } from "./bundle-plugins.ts";
import { writeEntryFiles } from "./entry-files.ts";
import { firstObjects } from "./first-objects.ts";

const root = path.join(import.meta.dirname, "..");
const source = (file: string) => path.join(root, "src", file);

/** Packages that become a part of ours, as nearly every start needs them: finding and reading their files would take longer than running them. */
const BUNDLED = ["commander", "js-yaml", "re2js"];

/**
 * Writes the program of the package into a folder, dist/ unless told otherwise: one file per entry and per thread, and the chunks that they share, so that
 * `binnacle`, `binnacle/testing` and `serve` have the same modules. Starting means reading a few files instead of some 900; what
 * most servers never need is imported when it is, and has a chunk of its own. All files lie in one folder: a thread's program is
 * found beside whatever starts it. `tsc` writes the declarations.
 */
export async function bundle(outdir: string = path.join(root, "dist")): Promise<void> {
  await rm(outdir, { recursive: true, force: true });
  const { outputFiles, metafile } = await build({
    absWorkingDir: root,
    entryPoints: {
      cli: source("cli.ts"),
      index: source("index.ts"),
      "testing-modules": source("testing.ts"),
      light: source("programs/envtest/light.ts"),
      thread: source("programs/server/threads/thread.ts"),
      "function-thread": source("access/admission/configuration/functions/function-thread.ts"),
      worker: source("storage/sqlite/worker.ts"),
    },
    outdir,
    bundle: true,
    splitting: true,
    format: "esm",
    platform: "node",
    target: "node24",
    supported: { using: true },
    external: await ownDependencies(),
    plugins: [besideServer, commanderStubs, builtIns, withoutComments],
    sourcemap: true,
    sourcesContent: false,
    logLevel: "warning",
    write: false,
    metafile: true,
  });
  await mkdir(outdir, { recursive: true });
  for (const { path: file, text } of outputFiles) await writeFile(file, file.endsWith(".js") ? inAscii(text) : text);
  const exportsOf = (entry: string) =>
    Object.values(metafile.outputs).find(({ entryPoint }) => entryPoint === entry)?.exports;
  await writeEntryFiles(outdir, exportsOf("src/testing.ts"));
  await writeFile(path.join(outdir, "first-objects.json"), JSON.stringify(await firstObjects()));
  await writeFile(path.join(outdir, "THIRD-PARTY-LICENSES.txt"), await licenses());
  await chmod(path.join(outdir, "cli.js"), 0o755);
}

/** With escapes for what esbuild leaves as it is: one such character, be it in a comment, and V8 keeps the whole text in twice the memory. */
function inAscii(text: string): string {
  return text.replace(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

async function ownDependencies(): Promise<string[]> {
  const { dependencies } = JSON.parse(await readFile(path.join(root, "package.json"), "utf8"));
  return Object.keys(dependencies);
}

/** The terms of the packages that became a part of ours. */
async function licenses(): Promise<string> {
  const texts = BUNDLED.map(async (name) => {
    const text = await readFile(path.join(root, "node_modules", name, "LICENSE"), "utf8");
    return `${name}\n\n${text.trim()}\n`;
  });
  return (await Promise.all(texts)).join("\n\n");
}

/** Writes the declarations that the entries lead to. tsc writes those of every source; the others are taken away again. */
export async function declare(outdir: string = path.join(root, "dist")): Promise<void> {
  const tsc = path.join(root, "node_modules", "typescript", "bin", "tsc");
  const project = path.join(root, "tsconfig.build.json");
  await promisify(execFile)(process.execPath, [tsc, "-p", project, "--outDir", outdir]).catch((error) => {
    throw new Error(error.stdout || error.message);
  });
  const needed = new Set<string>();
  const follow = async (file: string): Promise<void> => {
    if (needed.has(file)) return;
    needed.add(file);
    for (const [, name = ""] of (await readFile(file, "utf8")).matchAll(/"(\.\.?\/[^"]+)\.ts"/g)) {
      await follow(path.resolve(path.dirname(file), `${name}.d.ts`));
    }
  };
  for (const entry of ["index.d.ts", "testing.d.ts"]) await follow(path.join(outdir, entry));
  for (const name of await readdir(outdir, { recursive: true })) {
    const file = path.join(outdir, name);
    if (name.endsWith(".d.ts") && !needed.has(file)) await rm(file);
  }
}

if (import.meta.main) {
  await bundle();
  await declare();
}
