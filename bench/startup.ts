import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { freePort } from "../test/support/ports.ts";
import { startProcess, waitUntilReady } from "../test/support/process.ts";
import { median, residentMegabytes } from "./support.ts";

/** How long a new process takes until it answers, and what it holds when idle. Needs `npm run build`. */
export interface StartupFigures {
  /** Milliseconds from the start of the process to the first 200 of /readyz. */
  readonly readyMs: readonly number[];
  /** Resident memory after two idle seconds, in megabytes. */
  readonly idleMegabytes: number;
}

const ownCli = path.join(import.meta.dirname, "..", "dist", "cli.js");

/**
 * Starts a built server `runs` times on the memory store. The first start, which makes certificates, is not counted.
 */
export async function measureStartup(runs: number, cli: string = ownCli): Promise<StartupFigures> {
  const directory = await mkdtemp(path.join(tmpdir(), "binnacle-startup-"));
  const readyMs: number[] = [];
  let idleMegabytes = 0;
  try {
    for (let run = 0; run <= runs; run += 1) {
      const port = await freePort();
      const began = performance.now();
      const flags = ["serve", "--store=memory", `--secure-port=${port}`, `--cert-dir=${directory}`];
      const server = await startProcess(cli, flags);
      await waitUntilReady(server, `https://127.0.0.1:${port}`, { token: "", withinMs: 10_000, pauseMs: 5 });
      if (run > 0) readyMs.push(performance.now() - began);
      if (run === runs) {
        await sleep(2000);
        idleMegabytes = await residentMegabytes(server.pid);
      }
      await server.kill();
    }
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
  return { readyMs: readyMs.sort((a, b) => a - b), idleMegabytes };
}

if (import.meta.main) {
  const { readyMs, idleMegabytes } = await measureStartup(10);
  process.stdout.write(
    `ready after ${median(readyMs).toFixed(0)} ms (median of ${readyMs.length}; ${readyMs[0]?.toFixed(0)}–${readyMs.at(-1)?.toFixed(0)}), ` +
      `idle ${idleMegabytes.toFixed(0)} MB\n`,
  );
}
