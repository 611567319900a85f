import { existsSync } from "node:fs";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { parseArgs } from "node:util";
import type { StoreName } from "../support/binnacle.ts";
import { kubectlFor } from "../support/kubectl.ts";
import { eventually } from "../support/time.ts";
import { readErrors, repeatedErrors } from "./logs.ts";
import { PROGRAMS, runScenario, startPrograms } from "./programs.ts";
import { type ClusterServer, OWN_NODES, startClusterServer } from "./server.ts";

const usage = `npm run compare cluster -- [OPTION...]

Runs the real controller manager, scheduler and KWOK, each with its own identity, on Binnacle with RBAC, and checks what the
cluster does. Fails if a check fails, if a program gets 401 or 403, or if a program logs an error more than once that
real-errors.txt does not list. With --own, Binnacle is the only program.

   --store NAME       that Binnacle keeps objects in: etcd (default), sqlite or memory
   --oracle           on the real kube-apiserver
   --own-controllers  with all controllers inside of Binnacle and without kube-controller-manager
   --own              with all controllers, the scheduler and simulated nodes inside of Binnacle, without any of the programs
   --write            with --oracle: add the repeated errors that it causes to real-errors.txt
   --logs FOLDER      keep the programs' logs there
`;

const errorsFile = path.join(import.meta.dirname, "real-errors.txt");
const print = (line: string) => process.stdout.write(`${line}\n`);

async function runCluster(server: ClusterServer, folder: string, { own }: RunOptions): Promise<string[]> {
  const admin = await server.kubeconfig("admin", { commonName: "admin", organizations: ["system:masters"] });
  if (own === "cluster") {
    await removeNodes(admin);
    const lines = await runScenario(server, admin, folder, print);
    await writeFile(path.join(folder, "binnacle.log"), server.output());
    return lines;
  }
  const programs = await startPrograms(server, admin, folder, { hasManager: own !== "controllers" });
  try {
    return await runScenario(server, admin, folder, print);
  } finally {
    await programs.stop();
  }
}

/** The scenario creates nodes itself: KWOK's, which the server simulates as well. */
async function removeNodes(admin: string): Promise<void> {
  const names = Array.from({ length: OWN_NODES }, (_, i) => `node-${i + 1}`);
  const isGone = async () => (await kubectlFor(admin)(["delete", "node", ...names])).code === 0;
  await eventually(isGone, { withinMs: 60_000, everyMs: 200, what: "the nodes of the server are deleted" });
}

async function readLogs(folder: string): Promise<Record<string, string>> {
  const files = [...PROGRAMS, "binnacle"].map((name) => [name, path.join(folder, `${name}.log`)] as const);
  const logs = files.filter(([, file]) => existsSync(file));
  return Object.fromEntries(await Promise.all(logs.map(async ([name, file]) => [name, await readFile(file, "utf8")])));
}

interface RunOptions {
  readonly isOracle: boolean;
  readonly writes: boolean;
  readonly store: StoreName;
  /** What runs inside the server instead of in a program of its own. */
  readonly own: "nothing" | "controllers" | "cluster";
}

/** Runs everything, and says whether all is as it must be. */
async function main(folder: string, options: RunOptions): Promise<boolean> {
  const { isOracle, writes, store, own } = options;
  const began = performance.now();
  const server = await startClusterServer(isOracle ? "kube-apiserver" : "binnacle", folder, {
    store,
    ownControllers: own === "controllers",
    ownCluster: own === "cluster",
  });
  const lines = await runCluster(server, folder, options).finally(() => server.kill());
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
  ...{ oracle: flag, write: flag, help: flag, "own-controllers": flag, own: flag },
  ...{ logs: text, store: { ...text, default: "etcd" } },
} as const;
const { values } = parseArgs({ options });
if (values.help) {
  process.stdout.write(usage);
} else {
  const folder = await mkdtemp(path.join(tmpdir(), "binnacle-cluster-"));
  try {
    const { oracle: isOracle = false, write: writes = false } = values;
    const own = values.own ? "cluster" : values["own-controllers"] ? "controllers" : "nothing";
    if (isOracle && own !== "nothing") throw new Error("--own and --own-controllers are for Binnacle, --oracle is not");
    const isFine = await main(folder, { isOracle, writes, own, store: storeNamed(values.store) });
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
