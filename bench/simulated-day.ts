import { createHash } from "node:crypto";
import { parseArgs } from "node:util";
import { simulateDay } from "../src/programs/testing/simulated-day.suite.ts";

/**
 * A day of a simulated cluster on a driven clock, twice with one seed: rollouts, CronJobs, containers that fail, evictions, and nodes
 * that are cut off, removed and added. Both runs must give the same bytes: all objects, and all that watches send.
 */
const text = { type: "string" } as const;
const { values } = parseArgs({ options: { nodes: text, hours: text, seed: text, runs: text, lease: text } });
const size = {
  nodes: Number(values.nodes ?? 50),
  hours: Number(values.hours ?? 24),
  seed: Number(values.seed ?? 1),
  leaseSeconds: Number(values.lease ?? 40),
};

const say = (line: string) => void process.stdout.write(`${line}\n`);

let first: readonly string[] | undefined;
for (let run = 1; run <= Number(values.runs ?? 2); run += 1) {
  const before = process.cpuUsage();
  const { objects, watched, revision } = await simulateDay(size);
  const { user, system } = process.cpuUsage(before);
  const lines = [
    ...objects,
    ...[...watched].map(([path, { hash, bytes }]) => `watch ${path}: ${bytes} bytes, ${hash}`),
  ];
  const hash = createHash("sha256").update(lines.join("\n")).digest("hex").slice(0, 16);
  const watchedBytes = [...watched.values()].reduce((sum, { bytes }) => sum + bytes, 0);
  say(
    `run ${run}: ${((user + system) / 1e6).toFixed(1)} s of processor time, ${revision} writes, ${objects.length} objects, ` +
      `${(watchedBytes / 2 ** 20).toFixed(0)} MB of watch events, ${hash}`,
  );
  first ??= lines;
  const differences = lines.filter((line, index) => line !== first?.[index]);
  if (differences.length > 0 || lines.length !== first.length) {
    for (const line of differences.slice(0, 10)) say(`differs: ${line.slice(0, 300)}`);
    process.exitCode = 1;
  }
}
