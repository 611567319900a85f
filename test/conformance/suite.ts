import { readFile, rm } from "node:fs/promises";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { RunningBinnacle } from "../support/binnacle.ts";
import { requireTool, startProcess } from "../support/process.ts";
import { focusOn, type Outcome, type Share } from "./names.ts";

/** Where and how the official tests run. */
export interface SuiteOptions {
  readonly server: RunningBinnacle;
  /** File that the suite's report is written to. */
  readonly report: string;
  readonly withinMs: number;
  /** Of the order of the tests. */
  readonly seed: number;
  readonly signal: AbortSignal;
}

/** The part of a record of Ginkgo's report that is read here. */
interface SpecReport {
  readonly ContainerHierarchyTexts: readonly string[] | null;
  readonly LeafNodeText: string;
  readonly State: string;
  readonly RunTime: number;
  readonly Failure?: { readonly Message: string; readonly Location?: { FileName: string; LineNumber: number } };
}

/**
 * Runs these tests one after the other in one process and resolves to one outcome for each. A process that does not end
 * in time, or that writes no report, gives outcomes that say so.
 */
export async function runShare({ names }: Share, options: SuiteOptions): Promise<Outcome[]> {
  if (names.length === 0) return [];
  const { server, report, withinMs, seed, signal } = options;
  const bin = path.dirname(requireTool("kubectl"));
  // One of an earlier run would speak for this one.
  await rm(report, { force: true });
  const suite = await startProcess(
    requireTool("e2e.test"),
    [
      ...[`--kubeconfig=${server.kubeconfig}`, "--provider=skeleton"],
      ...["--allowed-not-ready-nodes=-1", "--node-schedulable-timeout=1s", "--dump-logs-on-failure=false"],
      ...["--ginkgo.no-color", "--ginkgo.succinct", `--ginkgo.seed=${seed}`],
      ...[`--ginkgo.timeout=${Math.ceil(withinMs / 1000)}s`],
      ...[`--ginkgo.json-report=${report}`, `--ginkgo.focus=${focusOn(names)}`],
    ],
    { cwd: server.directory, env: { ...process.env, PATH: `${bin}:${process.env.PATH}` } },
  );
  const timer = new AbortController();
  try {
    await Promise.race([suite.exited, sleep(withinMs + 30_000, undefined, { signal: timer.signal }), aborted(signal)]);
    timer.abort();
  } finally {
    await suite.kill();
  }
  signal.throwIfAborted();
  return outcomesOf(names, await readReport(report), lastLines(suite.output(), 5));
}

const aborted = (signal: AbortSignal) =>
  new Promise<void>((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });

async function readReport(file: string): Promise<SpecReport[]> {
  try {
    const suites = JSON.parse(await readFile(file, "utf8")) as { SpecReports: SpecReport[] | null }[];
    return suites.flatMap((suite) => suite.SpecReports ?? []);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw error;
  }
}

/** One outcome per name: what the report says of it, or that it says nothing. */
export function outcomesOf(names: readonly string[], records: readonly SpecReport[], output: string): Outcome[] {
  const byName = new Map(
    records.map((record) => [[...(record.ContainerHierarchyTexts ?? []), record.LeafNodeText].join(" "), record]),
  );
  return names.map((name) => {
    const record = byName.get(name);
    const ran = record !== undefined && !["skipped", "pending", ""].includes(record.State);
    if (!ran) return { name, state: "missing", seconds: 0, message: record?.Failure?.Message ?? output };
    const { Failure: failure, State: state, RunTime: nanoseconds } = record;
    const { FileName: file = "", LineNumber: line = 0 } = failure?.Location ?? {};
    const message = failure === undefined ? "" : `${failure.Message}\n(${path.basename(file)}:${line})`;
    return { name, state: state === "passed" ? "passed" : "failed", seconds: nanoseconds / 1e9, message };
  });
}

const lastLines = (text: string, count: number) => text.trimEnd().split("\n").slice(-count).join("\n");
