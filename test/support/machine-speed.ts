import assert from "node:assert/strict";

/** Processor time of `work` on the machine for which limits in milliseconds were set, without other work. */
const REFERENCE_MS = 24;
const SAMPLES = 15;
/**
 * Limits are kept on a machine without other work: BINNACLE_QUIET=1 checks that. Elsewhere tests fail at five times the limit:
 * processor time doubles while processors share a core, and what these tests are for is cost without bounds.
 */
const TOLERANCE = process.env.BINNACLE_QUIET === "1" ? 1 : 5;

/** Plain work as servers do it: makes objects, prints and parses them, and searches in texts. */
function work(): number {
  let found = 0;
  for (let round = 0; round < 100; round++) {
    const items = Array.from({ length: 500 }, (_, at) => ({ name: `item-${at}`, at, labels: { app: `a${at % 7}` } }));
    const parsed = JSON.parse(JSON.stringify(items)) as typeof items;
    for (const { name, labels } of parsed) if (/^item-\d*[13579]$/.test(name) && labels.app !== "a3") found += 1;
  }
  return found;
}

/** Processor time of this thread for a function. */
export function processorMs(run: () => unknown): number {
  const before = process.threadCpuUsage();
  run();
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1000;
}

/**
 * How many times longer than the machine for which limits were set this one takes at the moment. At least 1.
 * Processor time grows, too, where processors share a core or belong to a virtual machine.
 */
function slowness(): number {
  return Math.max(1, ...Array.from({ length: SAMPLES }, () => processorMs(work) / REFERENCE_MS));
}

/** Fails if processor time reaches a limit that a machine of the speed of this one should keep. */
export function assertBelow(ms: number, limitMs: number, what: string): void {
  if (ms < limitMs * TOLERANCE) return;
  const times = TOLERANCE * slowness();
  assert.ok(
    ms < limitMs * times,
    `${what}: ${ms} ms of ${limitMs} ms, on a machine that is ${times.toFixed(1)} times slower`,
  );
}
