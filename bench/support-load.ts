import { execFile } from "node:child_process";
import { rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { type Contestant, cpuMs, token } from "./support.ts";

const run = promisify(execFile);

/** What a load generator saw. */
export interface LoadResult {
  readonly perSecond: number;
  readonly megabytesPerSecond: number;
  /** Processor time of the server per request. */
  readonly cpuMsPerRequest: number;
  readonly meanMs: number;
}

/** How hard to load. The paths are asked for in turn. */
export interface LoadOptions {
  readonly paths: readonly string[];
  readonly connections: number;
  readonly seconds: number;
}

/** Loads a server over HTTP/1.1 with `wrk`. */
export function loadHttp1(server: Contestant, { paths, ...load }: LoadOptions): Promise<LoadResult> {
  const list = paths.map((one) => JSON.stringify(one)).join(",");
  const request = `local paths = {${list}}\nrequest = function() at = at % #paths + 1; return wrk.format("GET", paths[at]) end`;
  return runWrk(server, request, load);
}

/** Creates objects over HTTP/1.1 with `wrk`: the body, in which a number takes the place of every `@`, to the path. */
export function loadCreates(
  server: Contestant,
  { path: target, body, ...load }: Omit<LoadOptions, "paths"> & { readonly path: string; readonly body: string },
): Promise<LoadResult> {
  const request =
    `local parts = {${body.split("@").map(luaText).join(",")}}\nwrk.headers["Content-Type"] = "application/json"\n` +
    `request = function() at = at + 1; return wrk.format("POST", ${luaText(target)}, nil, table.concat(parts, string.format("${Date.now()}-%06d", at))) end`;
  return runWrk(server, request, load);
}

const luaText = (text: string): string => `[==[${text}]==]`;

async function runWrk(
  server: Contestant,
  request: string,
  { connections, seconds }: Omit<LoadOptions, "paths">,
): Promise<LoadResult> {
  const script = path.join(tmpdir(), `binnacle-bench-${process.pid}.lua`);
  await writeFile(
    script,
    `local at = 0\nwrk.headers["Authorization"] = "Bearer ${token}"\n${request}\n` +
      `done = function(summary, latency) io.write(string.format("RESULT %d %d %d %f %d\\n", summary.requests, ` +
      `summary.bytes, summary.duration, latency.mean, summary.errors.status + summary.errors.read)) end\n`,
  );
  try {
    const before = await cpuMs(server.pid);
    const args = ["-t1", `-c${connections}`, `-d${seconds}s`, "--timeout", "60s", "-s", script, server.base];
    const { stdout } = await run("wrk", args);
    const used = (await cpuMs(server.pid)) - before;
    const found = /RESULT (\d+) (\d+) (\d+) ([\d.]+) (\d+)/.exec(stdout);
    if (!found || Number(found[5]) > 0) throw new Error(`wrk on ${server.name}: ${stdout}`);
    const [requests = 0, bytes = 0, microseconds = 0, meanMicroseconds = 0] = found.slice(1).map(Number);
    return {
      perSecond: (requests * 1e6) / microseconds,
      megabytesPerSecond: bytes / microseconds,
      cpuMsPerRequest: used / requests,
      meanMs: meanMicroseconds / 1000,
    };
  } finally {
    await rm(script, { force: true });
  }
}

/** Loads a server over HTTP/2 with `h2load`, one stream at a time on each connection. */
export async function loadHttp2(server: Contestant, options: LoadOptions): Promise<LoadResult> {
  const { connections, seconds, paths } = options;
  const file = path.join(tmpdir(), `binnacle-bench-${process.pid}.txt`);
  await writeFile(file, `${paths.map((one) => `${server.base}${one}`).join("\n")}\n`);
  try {
    const before = await cpuMs(server.pid);
    const flags = ["-t1", `-c${connections}`, "-m1", "-D", String(seconds), "-w", "24", "-W", "26"];
    const { stdout } = await run("h2load", [...flags, "-H", `authorization: Bearer ${token}`, "-i", file]);
    const used = (await cpuMs(server.pid)) - before;
    const rate = /finished in [^,]+, ([\d.]+) req\/s, ([\d.]+)([KMG]?)B\/s/.exec(stdout);
    const requests = Number(/requests: (\d+) total/.exec(stdout)?.[1] ?? 0);
    const failed = Number(/(\d+) failed/.exec(stdout)?.[1] ?? 0) + Number(/(\d+) 4xx, /.exec(stdout)?.[1] ?? 0);
    if (!rate || failed > 0) throw new Error(`h2load on ${server.name}: ${stdout}`);
    const unit = { "": 1, K: 2 ** 10, M: 2 ** 20, G: 2 ** 30 }[rate[3] ?? ""] ?? 1;
    const perSecond = Number(rate[1]);
    return {
      perSecond,
      megabytesPerSecond: (Number(rate[2]) * unit) / 1e6,
      cpuMsPerRequest: used / requests,
      meanMs: (connections * 1000) / perSecond,
    };
  } finally {
    await rm(file, { force: true });
  }
}
