import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { type CostlyRequest, CostServer } from "./cost-server.ts";

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

/** Sends requests to a server that writes a profile, and names the functions of `src` that held the loop during the last. */
export async function holdersOf(requests: readonly CostlyRequest[], timeoutMs: number): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), "binnacle-cost-"));
  try {
    const server = await CostServer.start(timeoutMs, ["--cpu-prof", `--cpu-prof-dir=${folder}`]);
    let begun = 0n;
    let isAnswered = true;
    for (const costly of requests) {
      begun = process.hrtime.bigint();
      isAnswered = (await server.send(costly)).status !== 0;
    }
    const ended = process.hrtime.bigint();
    await server.stop(!isAnswered);
    const [file] = await readdir(folder);
    if (file === undefined) return "no profile";
    const profile = JSON.parse(await readFile(path.join(folder, file), "utf8")) as Profile;
    return summary(profile, Number(begun / 1000n), Number(ended / 1000n));
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
