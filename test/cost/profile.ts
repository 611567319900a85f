import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { withDefault } from "../support/binnacle.ts";
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

/** Threads for large requests write no profile. With this flag the server has none. */
export const IN_ONE_THREAD: readonly string[] = withDefault("maxInlineBytes", 0);

/** A request to profile, and what is sent before. */
export interface Profiled {
  /** Returns false if the server did not respond. */
  prepare(server: CostServer): Promise<boolean>;
  readonly costly: CostlyRequest;
}

/** Profiles the last of these requests. */
export function lastOf(requests: readonly CostlyRequest[]): Profiled | undefined {
  const costly = requests.at(-1);
  if (costly === undefined) return undefined;
  const prepare = async (server: CostServer) => {
    for (const one of requests.slice(0, -1)) if ((await server.send(one)).status === 0) return false;
    return true;
  };
  return { prepare, costly };
}

/** How many requests one server profiles: its profile is in memory until it ends. */
const MOST_PROFILED = 25;

/** Names the functions of `src` that took the time of each request. `flags` are those of the profiled server. */
export async function holdersOf(
  requests: readonly (Profiled | undefined)[],
  timeoutMs: number,
  flags: readonly string[],
): Promise<string[]> {
  const holders: string[] = [];
  while (holders.length < requests.length) {
    const next = requests.slice(holders.length, holders.length + MOST_PROFILED);
    holders.push(...(await profiled(next, timeoutMs, flags)));
  }
  return holders;
}

/** The functions for as many requests as one server answered, at least for the first. */
async function profiled(
  requests: readonly (Profiled | undefined)[],
  timeoutMs: number,
  more: readonly string[],
): Promise<string[]> {
  const folder = await mkdtemp(path.join(tmpdir(), "binnacle-cost-"));
  try {
    const flags = ["--cpu-prof", `--cpu-prof-dir=${folder}`, ...more];
    const server = await CostServer.start(timeoutMs, flags);
    const spans: (readonly [from: number, to: number])[] = [];
    let isAnswered = true;
    for (const one of requests) {
      isAnswered = (await one?.prepare(server)) ?? true;
      const begun = process.hrtime.bigint();
      if (one && isAnswered) isAnswered = (await server.send(one.costly)).status !== 0;
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

/** Time by the nearest function of `src`, since the top one is often built in. */
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
