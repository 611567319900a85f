import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { type CostlyRequest, CostServer } from "./server.ts";

interface Profile {
  readonly startTime: number;
  readonly samples: readonly number[];
  readonly timeDeltas: readonly number[];
  readonly nodes: readonly { id: number; callFrame: Frame; children?: readonly number[] }[];
}

interface Frame {
  readonly functionName: string;
  readonly url: string;
  readonly lineNumber: number;
}

/** Threads for large requests write no profile, so that there are none in the server that is profiled. */
const CONFIG = pathToFileURL(path.join(import.meta.dirname, "..", "..", "src", "server", "config.ts"));
const IN_ONE_THREAD = `data:text/javascript,import { defaultConfig } from "${CONFIG}"; defaultConfig.maxInlineBytes = 0`;

/** How many requests one server is asked to profile: its profile is held in memory until it ends. */
const MOST_PROFILED = 25;

/** Names for each sequence of requests the functions of `src` that took the time of its last. */
export async function holdersOf(
  sequences: readonly (readonly CostlyRequest[])[],
  timeoutMs: number,
): Promise<string[]> {
  const holders: string[] = [];
  while (holders.length < sequences.length) {
    const next = sequences.slice(holders.length, holders.length + MOST_PROFILED);
    holders.push(...(await profiled(next, timeoutMs)));
  }
  return holders;
}

/** The holders of as many sequences as one server answered, at least of the first. */
async function profiled(sequences: readonly (readonly CostlyRequest[])[], timeoutMs: number): Promise<string[]> {
  const folder = await mkdtemp(path.join(tmpdir(), "binnacle-cost-"));
  try {
    const flags = ["--cpu-prof", `--cpu-prof-dir=${folder}`, "--import", IN_ONE_THREAD];
    const server = await CostServer.start(timeoutMs, flags);
    const spans: (readonly [from: number, to: number])[] = [];
    let isAnswered = true;
    for (const requests of sequences) {
      let begun = 0n;
      for (const costly of requests) {
        begun = process.hrtime.bigint();
        isAnswered = (await server.send(costly)).status !== 0;
      }
      if (!isAnswered) break;
      spans.push([Number(begun / 1000n), Number(process.hrtime.bigint() / 1000n)]);
    }
    await server.stop(!isAnswered);
    const files = await readdir(folder);
    if (spans.length === 0 || files.length === 0) return ["no profile"];
    const texts = await Promise.all(files.map((file) => readFile(path.join(folder, file), "utf8")));
    const profiles = texts.map((text) => JSON.parse(text) as Profile);
    return spans.map(([from, to]) =>
      profiles
        .map((one) => summary(one, from, to))
        .filter(Boolean)
        .join("; "),
    );
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Time by the nearest function of `src`, since the one on top is often a built-in one. */
function summary({ startTime, samples, timeDeltas, nodes }: Profile, from: number, to: number): string {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const parents = new Map(nodes.flatMap(({ id, children }) => (children ?? []).map((child) => [child, id] as const)));
  const spent = new Map<string, number>();
  let now = startTime;
  for (const [index, sample] of samples.entries()) {
    const delta = timeDeltas[index] ?? 0;
    now += delta;
    if (now < from || now > to) continue;
    let at: number | undefined = sample;
    while (at !== undefined && !byId.get(at)?.callFrame.url.includes("/src/")) at = parents.get(at);
    const frame = at === undefined ? undefined : byId.get(at)?.callFrame;
    if (!frame) continue;
    const name = `${frame.functionName || "(anonymous)"} ${frame.url.replace(/.*\/src\//, "src/")}:${frame.lineNumber + 1}`;
    spent.set(name, (spent.get(name) ?? 0) + delta);
  }
  const worst = [...spent].sort(([, one], [, other]) => other - one).slice(0, 3);
  return worst.map(([name, micros]) => `${name} ${Math.round(micros / 1000)} ms`).join("; ");
}
