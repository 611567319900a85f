import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { chmod, cp, mkdir, readdir, readFile, rename, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { cacheFolder, requireTool } from "../support/tools.ts";
import type { GoSuite } from "./suites.ts";

const run = promisify(execFile);
const env = { ...process.env, GOTOOLCHAIN: "local", GOFLAGS: "-mod=mod -p=2" };

/** A package's tests, built. */
export interface TestProgram {
  readonly suite: string;
  readonly package: string;
  readonly file: string;
  /** Where `go test` would run it. */
  readonly folder: string;
  /** Whether its tests are specs of Ginkgo. */
  readonly hasSpecs: boolean;
}

/** Builds the tests of all packages of a suite, unless they are there. Sources and programs are kept in the cache. */
export async function buildPrograms(
  suite: GoSuite,
  tell: (line: string) => void,
  only?: RegExp,
): Promise<TestProgram[]> {
  const home = path.join(cacheFolder(), "goworld", suite.source.replaceAll("/", "_"));
  const sources = suite.source.includes("@") ? await fetchModule(suite, path.join(home, "src")) : undefined;
  const root = sources ?? path.join(import.meta.dirname, suite.source);
  const programs: TestProgram[] = [];
  for (const name of suite.packages.filter((one) => only?.test(`${suite.name}/${one}`) ?? true)) {
    const folder = path.join(root, name);
    const file = path.join(home, "bin", `${name.replaceAll("/", "_")}.test`);
    // Ours may have changed; Go finds out.
    if (sources === undefined || !existsSync(file)) {
      tell(`building ${suite.name}/${name}`);
      await run(requireTool("go"), ["test", "-vet=off", "-c", "-o", file, "."], { cwd: folder, env });
    }
    programs.push({ suite: suite.name, package: name, file, folder, hasSpecs: await importsGinkgo(folder) });
  }
  return programs;
}

/** A copy of a module that tests may write into. */
async function fetchModule({ source, replaced = {} }: GoSuite, folder: string): Promise<string> {
  if (existsSync(folder)) return folder;
  const { stdout } = await run(requireTool("go"), ["mod", "download", "-json", source], { cwd: tmpdir(), env });
  const { Dir: found } = JSON.parse(stdout) as { Dir?: string };
  if (found === undefined) throw new Error(`${source}: ${stdout}`);
  const unfinished = `${folder}.new`;
  await rm(unfinished, { recursive: true, force: true });
  await mkdir(path.dirname(folder), { recursive: true });
  await cp(found, unfinished, { recursive: true });
  for (const name of ["", ...(await readdir(unfinished, { recursive: true }))]) {
    await chmod(path.join(unfinished, name), 0o755);
  }
  for (const [name, instead] of Object.entries(replaced)) {
    await run(requireTool("go"), ["mod", "edit", `-replace=${name}=${instead}`], { cwd: unfinished, env });
  }
  await rename(unfinished, folder);
  return folder;
}

async function importsGinkgo(folder: string): Promise<boolean> {
  const tests = (await readdir(folder)).filter((name) => name.endsWith("_test.go"));
  const texts = await Promise.all(tests.map((name) => readFile(path.join(folder, name), "utf8")));
  return texts.some((text) => text.includes("github.com/onsi/ginkgo"));
}
