import { type ChildProcess, execFile, spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";
import { type Contestant, token } from "./support.ts";

/** What the watchers have seen since they were last told to expect something. */
export interface Seen {
  readonly event: string;
  readonly watchers: number;
  readonly events: number;
  /** Events of the watcher that got the fewest, and of the one that got the most. */
  readonly fewest: number;
  readonly most: number;
  /** Watchers that missed an event or got one twice. */
  readonly wrong: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
  readonly bytes: number;
}

/** Many watches in a process of their own. */
export interface Watchers {
  readonly pid: number;
  /** Counts from zero; every watcher is to get so many events, numbered from 1. */
  expect(eventsEach: number): Promise<void>;
  /** Resolves when all events that were expected have come. */
  done(withinMs: number): Promise<Seen>;
  report(): Promise<Seen>;
  close(): Promise<void>;
}

/** Which watches to open. */
export interface WatchersOptions {
  readonly connections: number;
  readonly streams: number;
  /** Given to the watches in turn. `{n}` stands for the number of the watch. */
  readonly paths: readonly string[];
}

/** Builds the many-watcher client and returns its path and how to remove it. */
export async function buildWatcher(): Promise<{ program: string; remove(): Promise<void> }> {
  const directory = await mkdtemp(path.join(tmpdir(), "binnacle-watcher-"));
  const program = path.join(directory, "watcher");
  await promisify(execFile)("go", ["build", "-o", program, "."], { cwd: path.join(import.meta.dirname, "watcher") });
  return { program, remove: () => rm(directory, { recursive: true, force: true }) };
}

const running = new Set<ChildProcess>();
process.once("exit", () => {
  for (const child of running) child.kill("SIGKILL");
});

/** Opens watches on a server; resolves when the server has accepted all of them. */
export async function openWatchers(program: string, server: Contestant, options: WatchersOptions): Promise<Watchers> {
  const args = [
    `-address=${new URL(server.base).host}`,
    `-token=${token}`,
    `-connections=${options.connections}`,
    `-streams=${options.streams}`,
    `-paths=${options.paths.join(" ")}`,
  ];
  const child = spawn(program, args, { stdio: ["pipe", "pipe", "inherit"] });
  running.add(child);
  const waiting = new Map<string, PromiseWithResolvers<Seen>>();
  const next = (event: string, withinMs: number): Promise<Seen> => {
    const deferred = Promise.withResolvers<Seen>();
    waiting.set(event, deferred);
    const timer = setTimeout(() => deferred.reject(new Error(`no "${event}" within ${withinMs} ms`)), withinMs);
    const answer = deferred.promise.finally(() => clearTimeout(timer));
    // Whoever asked may have failed in the meantime, and then does not wait for it.
    answer.catch(() => {});
    return answer;
  };
  const gone = new Promise<void>((resolve) => {
    child.once("exit", () => {
      running.delete(child);
      for (const deferred of waiting.values()) deferred.reject(new Error("the watchers ended"));
      resolve();
    });
  });
  createInterface(child.stdout).on("line", (line) => {
    const seen = JSON.parse(line) as Seen;
    waiting.get(seen.event)?.resolve(seen);
    waiting.delete(seen.event);
  });
  const ask = (command: string, event: string): Promise<Seen> => {
    const answer = next(event, 60_000);
    child.stdin.write(`${command}\n`);
    return answer;
  };
  await next("ready", 120_000);
  return {
    pid: child.pid ?? 0,
    async expect(eventsEach) {
      await ask(`expect ${eventsEach}`, "armed");
    },
    done: (withinMs) => next("done", withinMs),
    report: () => ask("report", "report"),
    async close() {
      child.kill();
      await gone;
    },
  };
}
