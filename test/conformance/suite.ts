import { readFile, rm } from "node:fs/promises";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { startProcess } from "../support/process.ts";
import { requireTool } from "../support/tools.ts";
import type { ConformanceServer } from "./cluster.ts";
import { focusOn, type Outcome, type Share } from "./names.ts";
import { outcomesOf, type SpecReport } from "./report.ts";

/** Where and how the official tests run. */
export interface SuiteOptions {
  readonly server: Pick<ConformanceServer, "kubeconfig" | "directory">;
  /** File that the suite's report is written to. */
  readonly report: string;
  readonly withinMs: number;
  /** Of the order of the tests. */
  readonly seed: number;
  readonly signal: AbortSignal;
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

const lastLines = (text: string, count: number) => text.trimEnd().split("\n").slice(-count).join("\n");
