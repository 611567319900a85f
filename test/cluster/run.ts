import { existsSync } from "node:fs";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { parseArgs } from "node:util";
import type { StoreName } from "../support/binnacle.ts";
import { readErrors, repeatedErrors } from "./logs.ts";
import { PROGRAMS, runScenario, startPrograms } from "./programs.ts";
import { type ClusterServer, startClusterServer } from "./server.ts";

const usage = `npm run compare cluster -- [OPTION...]

Runs the real controller manager, scheduler and KWOK, each with its own identity, on Binnacle with RBAC, and looks what the
cluster does. Fails when a check does, when a program is refused with 401 or 403, and when one logs an error more than once that
real-errors.txt does not list.

   --store NAME       that Binnacle keeps objects in: etcd (default), sqlite or memory
   --oracle           on the real kube-apiserver
   --own-controllers  with all controllers inside of Binnacle and without kube-controller-manager
   --write            with --oracle: add the repeated errors that it causes to real-errors.txt
   --logs FOLDER      keep the programs' logs there
`;

const errorsFile = path.join(import.meta.dirname, "real-errors.txt");
const print = (line: string) => process.stdout.write(`${line}\n`);

async function runCluster(server: ClusterServer, folder: string, hasManager: boolean): Promise<string[]> {
  const admin = await server.kubeconfig("admin", { commonName: "admin", organizations: ["system:masters"] });
  const programs = await startPrograms(server, admin, folder, { hasManager });
  try {
    return await runScenario(server, admin, folder, print);
  } finally {
    await programs.stop();
  }
}

async function readLogs(folder: string): Promise<Record<string, string>> {
  const files = PROGRAMS.map((name) => [name, path.join(folder, `${name}.log`)] as const);
  const logs = files.filter(([, file]) => existsSync(file));
  return Object.fromEntries(await Promise.all(logs.map(async ([name, file]) => [name, await readFile(file, "utf8")])));
}

interface RunOptions {
  readonly isOracle: boolean;
  readonly writes: boolean;
  readonly store: StoreName;
  readonly ownControllers: boolean;
}

/** Runs everything, and says whether all is as it must be. */
async function main(folder: string, { isOracle, writes, store, ownControllers }: RunOptions): Promise<boolean> {
  const began = performance.now();
  const server = await startClusterServer(isOracle ? "kube-apiserver" : "binnacle", folder, { store, ownControllers });
  const lines = await runCluster(server, folder, !ownControllers).finally(() => server.kill());
  const passed = lines.filter((line) => line.startsWith("PASS ")).length;
  const failed = lines.filter((line) => line.startsWith("FAIL ")).length;
  const errors = readErrors(await readLogs(folder));
  const known = (await readFile(errorsFile, "utf8")).trimEnd().split("\n");
  const unknown = repeatedErrors(errors, known);
  for (const line of errors.refusals) print(`refused: ${line}`);
  for (const [form, count] of unknown) print(`logged ${count} times: ${form}`);
  const seconds = Math.round((performance.now() - began) / 1000);
  print(
    `${passed} passed, ${failed} failed, ${errors.refusals.length} refusals of access, ${unknown.length} unknown repeated errors, ${seconds} s`,
  );
  if (isOracle && writes) {
    await writeFile(errorsFile, `${[...known, ...unknown.map(([form]) => form)].filter(Boolean).sort().join("\n")}\n`);
  }
  return passed > 0 && failed === 0 && errors.refusals.length === 0 && (unknown.length === 0 || isOracle);
}

function storeNamed(name: string): StoreName {
  if (name === "etcd" || name === "sqlite" || name === "memory") return name;
  throw new Error(`--store=${name}: expected etcd, sqlite or memory`);
}

const flag = { type: "boolean" } as const;
const text = { type: "string" } as const;
const options = {
  ...{ oracle: flag, write: flag, help: flag, "own-controllers": flag },
  ...{ logs: text, store: { ...text, default: "etcd" } },
} as const;
const { values } = parseArgs({ options });
if (values.help) {
  process.stdout.write(usage);
} else {
  const folder = await mkdtemp(path.join(tmpdir(), "binnacle-cluster-"));
  try {
    const { oracle: isOracle = false, write: writes = false, "own-controllers": ownControllers = false } = values;
    if (isOracle && ownControllers) throw new Error("--own-controllers is for Binnacle, --oracle for kube-apiserver");
    const isFine = await main(folder, { isOracle, writes, ownControllers, store: storeNamed(values.store) });
    if (!isFine) process.exitCode = 1;
  } finally {
    if (values.logs !== undefined) {
      for (const [name, text] of Object.entries(await readLogs(folder))) {
        await writeFile(path.join(values.logs, `${name}.log`), text);
      }
    }
    await rm(folder, { recursive: true, force: true });
  }
}
