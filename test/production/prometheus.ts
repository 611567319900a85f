import { readFile } from "node:fs/promises";
import path from "node:path";
import { freePort } from "../support/ports.ts";
import { type RunningProcess, startProcess } from "../support/process.ts";
import { eventually } from "../support/time.ts";
import { requireTool } from "../support/tools.ts";
import type { Site } from "./site.ts";

const root = path.join(import.meta.dirname, "..", "..");

/** Series that Prometheus has, as its API tells them. */
interface Series {
  readonly metric: Readonly<Record<string, string>>;
  readonly value: readonly [time: number, value: string];
}

/** A Prometheus that scrapes the replicas as deploy/prometheus.yml says, only more often. */
export class Prometheus {
  readonly #process: RunningProcess;
  readonly #base: string;

  private constructor(process: RunningProcess, base: string) {
    this.#process = process;
    this.#base = base;
  }

  static async start(site: Site): Promise<Prometheus> {
    const config = (await site.read("node_modules", "binnacle", "deploy", "prometheus.yml"))
      .replace("scrape_interval: 15s", "scrape_interval: 1s")
      .replaceAll("/etc/binnacle", site.file("cluster"));
    await site.write("prometheus.yml", config);
    const port = await freePort();
    const running = await startProcess(requireTool("prometheus"), [
      `--config.file=${site.file("prometheus.yml")}`,
      `--storage.tsdb.path=${site.file("prometheus")}`,
      `--web.listen-address=127.0.0.1:${port}`,
      "--log.level=warn",
    ]);
    const prometheus = new Prometheus(running, `http://127.0.0.1:${port}`);
    const isUp = async () => {
      if (running.hasExited) throw new Error(`Prometheus has ended: ${running.output()}`);
      return (await prometheus.query("sum(up)").catch(() => [])).length > 0;
    };
    await eventually(isUp, { withinMs: 30_000, everyMs: 100, what: "Prometheus scrapes" });
    return prometheus;
  }

  /** Evaluates an expression now. Rejects when Prometheus does not understand it. */
  async query(expression: string): Promise<Series[]> {
    const answer = await fetch(`${this.#base}/api/v1/query?query=${encodeURIComponent(expression)}`);
    const body = (await answer.json()) as { status: string; error?: string; data: { result: Series[] } };
    if (body.status !== "success") throw new Error(`${expression}: ${body.error}`);
    return body.data.result;
  }

  /** The number that an expression has, or undefined. */
  async number(expression: string): Promise<number | undefined> {
    const [first] = await this.query(expression);
    return first && Number(first.value[1]);
  }

  async stop(): Promise<void> {
    await this.#process.kill();
  }
}

/** The expressions of docs/dashboard.json, with its variables set. */
export async function dashboardExpressions(): Promise<string[]> {
  const dashboard = JSON.parse(await readFile(path.join(root, "docs", "dashboard.json"), "utf8"));
  const panels: { targets?: { expr: string }[] }[] = dashboard.panels;
  return panels
    .flatMap(({ targets = [] }) => targets.map(({ expr }) => expr))
    .map((expr) => expr.replaceAll("$job", ".*").replaceAll("$__rate_interval", "30s"));
}
