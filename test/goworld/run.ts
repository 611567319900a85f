import { execFile, spawn } from "node:child_process";
import { createWriteStream } from "node:fs";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { parseArgs, promisify } from "node:util";
import { cacheFolder, requireTool } from "../support/tools.ts";
import { buildPrograms, type TestProgram } from "./programs.ts";
import { count, differences, type Results, readSpecs, readTests } from "./results.ts";
import { SUITES } from "./suites.ts";

const usage = `npm run compare goworld -- [OPTION...]

Runs test suites of Go projects that use envtest, unchanged, with the real kube-apiserver and etcd and with Binnacle in their place, and
compares them test by test. Fails when a test passes with the real ones, and twice not with Binnacle.

   --only PATTERN     some packages, such as controller-runtime/pkg/c
   --shared           Binnacle as one process for all packages
   --ours             without the real ones: every test must pass
   --keep FOLDER      keep what the tests print there
`;

type Assets = Readonly<Record<"kube-apiserver" | "etcd" | "kubectl", string>>;

interface Outcome {
  readonly results: Results;
  readonly seconds: number;
}

const print = (line: string) => process.stdout.write(`${line}\n`);

/** Runs all tests of a program with these in the place of a control plane. */
async function runTests(program: TestProgram, assets: Assets, folder: string, label: string): Promise<Outcome> {
  const name = path.join(folder, `${program.suite}_${program.package.replaceAll("/", "_")}.${label}`);
  const report = `${name}.json`;
  const specs = program.hasSpecs ? [`--ginkgo.json-report=${report}`, "--ginkgo.no-color"] : [];
  const env = {
    ...process.env,
    KUBEBUILDER_ASSETS: path.dirname(assets["kube-apiserver"]),
    TEST_ASSET_KUBE_APISERVER: assets["kube-apiserver"],
    TEST_ASSET_ETCD: assets.etcd,
    TEST_ASSET_KUBECTL: assets.kubectl,
    // envtest gives a control plane 20 s, which the real one does not meet on a busy machine.
    KUBEBUILDER_CONTROLPLANE_START_TIMEOUT: "2m",
    KUBEBUILDER_CONTROLPLANE_STOP_TIMEOUT: "2m",
  };
  const log = createWriteStream(`${name}.txt`);
  const began = performance.now();
  const child = spawn(program.file, ["-test.v", "-test.timeout=20m", ...specs], { cwd: program.folder, env });
  for (const stream of [child.stdout, child.stderr]) stream.pipe(log, { end: false });
  await new Promise((resolve, reject) => child.once("error", reject).once("close", resolve));
  const seconds = (performance.now() - began) / 1000;
  await new Promise((resolve) => log.end(resolve));
  const text = await readFile(report, "utf8").catch(() => "[]");
  return { results: new Map([...readTests(await readFile(`${name}.txt`, "utf8")), ...readSpecs(text)]), seconds };
}

async function ourAssets(isShared: boolean): Promise<Assets> {
  const cli = path.join(import.meta.dirname, "..", "..", "dist", "cli.js");
  const { stdout } = await promisify(execFile)(process.execPath, [cli, "envtest", ...(isShared ? ["--shared"] : [])]);
  return assetsOf(stdout.trim());
}

const assetsOf = (folder: string): Assets => ({
  "kube-apiserver": path.join(folder, "kube-apiserver"),
  etcd: path.join(folder, "etcd"),
  kubectl: requireTool("kubectl"),
});

/** Prints a line of the table, and answers whether Binnacle passes what the real ones pass. */
async function compare(program: TestProgram, folder: string, real: Assets | undefined, ours: Assets): Promise<boolean> {
  const mine = await runTests(program, ours, folder, "binnacle");
  const theirs = real && (await runTests(program, real, folder, "kube-apiserver"));
  const wanted = theirs?.results ?? new Map([...mine.results.keys()].map((name) => [name, "passed"]));
  let missing = differences(wanted, mine.results);
  if (missing.length > 0) {
    const again = await runTests(program, ours, folder, "binnacle-again");
    missing = missing.filter((line) => differences(wanted, again.results).includes(line));
  }
  const columns = [mine, theirs].map((outcome) =>
    outcome ? `${count(outcome.results, "passed")} | ${outcome.seconds.toFixed(1)}` : "– | –",
  );
  print(`| ${program.suite}/${program.package} | ${columns.join(" | ")} | ${missing.length} |`);
  for (const line of missing) print(`  ${line}`);
  return missing.length === 0 && mine.results.size > 0;
}

async function main(options: { only?: string; shared?: boolean; ours?: boolean; keep?: string }): Promise<void> {
  const only = options.only === undefined ? undefined : new RegExp(options.only);
  const programs = (await Promise.all(SUITES.map((suite) => buildPrograms(suite, print, only)))).flat();
  const real = options.ours ? undefined : assetsOf(path.join(cacheFolder(), "bin"));
  const ours = await ourAssets(options.shared ?? false);
  const folder = options.keep ?? (await mkdtemp(path.join(tmpdir(), "binnacle-goworld-")));
  try {
    print("| package | Binnacle passed | s | kube-apiserver passed | s | differences |");
    print("|---|---|---|---|---|---|");
    for (const program of programs) if (!(await compare(program, folder, real, ours))) process.exitCode = 1;
  } finally {
    if (options.keep === undefined) await rm(folder, { recursive: true, force: true });
  }
}

const flag = { type: "boolean" } as const;
const text = { type: "string" } as const;
const { values } = parseArgs({ options: { only: text, shared: flag, ours: flag, keep: text, help: flag } });
if (values.help) print(usage);
else await main(values);
