import type { Stage } from "./phases.ts";

const print = (line: string) => process.stdout.write(`${line}\n`);

/** Prints a row for every phase, and at the end what the clients say. */
export class Report {
  readonly #stage: Stage;
  readonly #beganMs = performance.now();
  /** What was counted while writers wrote. */
  #counted: readonly string[] = [];

  constructor(stage: Stage) {
    this.#stage = stage;
    const columns = "writes acknowledged | requests | healed by a retry | longest time without an acknowledged write";
    print(`\n| phase | time | ${columns} | |\n|---|---|---|---|---|---|---|`);
  }

  /** Runs a phase, and prints what it tells and how long it took. */
  async phase(name: string, work: (stage: Stage) => Promise<string>): Promise<void> {
    const { load, services } = this.#stage;
    const { ledger, record } = load;
    const began = performance.now();
    const before = [ledger.acknowledged, record.requests, record.healed];
    ledger.longestGapMs = 0;
    const told = await work(this.#stage);
    load.check();
    if (services.ended.length > 0) throw new Error(`ended by itself: ${services.ended.join(", ")}`);
    const counts = [ledger.acknowledged, record.requests, record.healed].map((count, at) => count - (before[at] ?? 0));
    const gap = counts[0] ? `${(ledger.longestGapMs / 1000).toFixed(2)} s` : "";
    print(`| ${name} | ${secondsSince(began)} s | ${counts.join(" | ")} | ${gap} | ${told} |`);
  }

  skip(name: string, reason: string): void {
    print(`| ${name} | | | | | | SKIPPED: ${reason} |`);
  }

  /** Writers have ended: what comes after is not counted. */
  count(): void {
    const { ledger, record, watchers } = this.#stage.load;
    const { creates, updates, deletes, acknowledged } = ledger;
    const sum = (name: "events" | "resumed" | "relisted") =>
      watchers.reduce((total, watcher) => total + watcher[name], 0);
    const failures = [...record.failures].toSorted(([, a], [, b]) => b - a);
    this.#counted = [
      `${acknowledged} writes acknowledged (${creates} creates, ${updates} updates, ${deletes} deletes) in ${secondsSince(this.#beganMs)} s: none lost.`,
      `${record.requests} requests, ${record.healed} healed by a retry, the slowest after ${Math.round(record.longestHealMs)} ms: none failed for good.`,
      ...failures.map(([reason, count]) => `  ${count} × ${reason}`),
      `${watchers.length} watchers: ${sum("events")} events in order, resumed ${sum("resumed")} times, listed ${sum("relisted")} times: equal to LIST.`,
    ];
  }

  /** Prints it. */
  conclude(): void {
    print(["", ...this.#counted].join("\n"));
  }
}

/** Seconds with one digit. */
export const secondsSince = (beganMs: number): string => ((performance.now() - beganMs) / 1000).toFixed(1);
