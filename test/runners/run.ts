import { execFile } from "node:child_process";
import { cp, mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";
import { cacheFolder, requireTool } from "../support/tools.ts";

/**
 * `npm run compare runners`: what users write for vitest and Jest, run by the real ones (`tools/provide vitest jest`) with the package as npm packs it. Needs `npm run build`.
 */
const run = promisify(execFile);
const root = path.join(import.meta.dirname, "..", "..");
const TIME_LIMIT_MS = 120_000;

interface Runner {
  readonly name: string;
  readonly program: "vitest" | "jest";
  /** Below programs/. */
  readonly folder: string;
  readonly args: readonly string[];
  readonly nodeOptions?: string;
  /** What its report says when every test has been run and has passed. */
  readonly passed: RegExp;
}

/** A hook may take longer than they allow by themselves where much else is going on. */
const PATIENCE_MS = 60_000;
const JEST_ARGS = [`--testTimeout=${PATIENCE_MS}`];
const VITEST_ARGS = ["run", `--hookTimeout=${PATIENCE_MS}`, `--testTimeout=${PATIENCE_MS}`];
const vitest = (pool: string): Runner => ({
  ...{ name: `vitest, ${pool}`, program: "vitest", folder: "vitest" },
  ...{ args: [...VITEST_ARGS, `--pool=${pool}`], passed: /Tests {2}6 passed \(6\)/ },
});
const RUNNERS: readonly Runner[] = [
  vitest("forks"),
  vitest("threads"),
  vitest("vmThreads"),
  { name: "Jest, CommonJS", program: "jest", folder: "jest", args: JEST_ARGS, passed: /Tests: {7}5 passed, 5 total/ },
  {
    ...{ name: "Jest, ES modules", program: "jest", folder: "jest-modules", args: JEST_ARGS },
    ...{ nodeOptions: "--experimental-vm-modules", passed: /Tests: {7}3 passed, 3 total/ },
  },
];

/** Unpacks the package where the programs find it; its dependencies, and Kubernetes' client, are found in the project's own folder above. */
async function install(folder: string): Promise<void> {
  const modules = path.join(folder, "node_modules");
  await mkdir(path.join(modules, "binnacle"), { recursive: true });
  const { stdout } = await run("npm", ["pack", "--json", "--pack-destination", folder], { cwd: root });
  const [{ filename }] = JSON.parse(stdout) as [{ filename: string }];
  await run("tar", ["-xzf", path.join(folder, filename), "--strip-components=1", "-C", path.join(modules, "binnacle")]);
  await mkdir(path.join(modules, "@jest"));
  for (const [name, program] of [
    ["vitest", "vitest"],
    ["@jest/globals", "jest"],
  ] as const) {
    await symlink(path.join(cacheFolder(), program, "node_modules", name), path.join(modules, name));
  }
  await cp(path.join(import.meta.dirname, "programs"), path.join(folder, "programs"), { recursive: true });
  for (const [name, type] of [
    ["vitest", "module"],
    ["jest", "commonjs"],
    ["jest-modules", "module"],
  ] as const) {
    await writeFile(path.join(folder, "programs", name, "package.json"), JSON.stringify({ private: true, type }));
  }
}

/** Whether the programs compile under `strict`, those in JavaScript with what is known of their imports. */
async function checkTypes(folder: string): Promise<void> {
  const compilerOptions = {
    ...{ target: "es2024", lib: ["es2024", "esnext.disposable", "dom"], module: "nodenext", types: ["node"] },
    ...{ strict: true, noEmit: true, skipLibCheck: true, allowJs: true, checkJs: true },
  };
  const include = ["programs/*/forks.spec.*"];
  await writeFile(path.join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions, include }));
  await run(process.execPath, [path.join(root, "node_modules", "typescript", "bin", "tsc"), "-p", folder]);
}

async function tryRunner(folder: string, runner: Runner): Promise<void> {
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  const { stdout, stderr } = await run(requireTool(runner.program), runner.args, {
    cwd: path.join(folder, "programs", runner.folder),
    env: { ...env, NO_COLOR: "1", FORCE_COLOR: "0", CI: "1", NODE_OPTIONS: runner.nodeOptions ?? "" },
    timeout: TIME_LIMIT_MS,
  });
  // Jest reports on its standard error.
  if (!runner.passed.test(stdout + stderr)) throw new Error(`no ${runner.passed.source} in\n${stdout}${stderr}`);
}

async function report(what: string, work: Promise<void>): Promise<void> {
  const began = performance.now();
  try {
    await work;
    process.stdout.write(`${what}: passed in ${Math.round(performance.now() - began)} ms\n`);
  } catch (error) {
    process.exitCode = 1;
    const { message, stdout = "", stderr = "" } = error as Error & { stdout?: string; stderr?: string };
    process.stdout.write(`${what}: FAILED: ${message}\n${stdout}${stderr}\n`);
  }
}

await mkdir(path.join(root, ".cache"), { recursive: true });
const folder = await mkdtemp(path.join(root, ".cache", "runners-"));
try {
  await install(folder);
  await report("types", checkTypes(folder));
  for (const runner of RUNNERS) await report(runner.name, tryRunner(folder, runner));
} finally {
  await rm(folder, { recursive: true, force: true });
}
