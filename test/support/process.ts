import { type ChildProcess, spawn } from "node:child_process";
import { request } from "node:https";
import { constants } from "node:os";
import path from "node:path";
import { eventually } from "./time.ts";

/** A program started by a test, which never outlives this process. */
export interface RunningProcess {
  readonly pid: number;
  /** Whether it has ended, by itself or by `kill`. */
  readonly hasExited: boolean;
  /** Resolves to a sentence about how it ended. */
  readonly exited: Promise<string>;
  /** The end of its output to stdout and stderr. */
  output(): string;
  /** Stops it with a signal, kills it after `graceMs` (default 5000), and resolves when it is gone. */
  kill(options?: { graceMs?: number; signal?: NodeJS.Signals }): Promise<void>;
}

const keptOutputChars = 20_000;
const running = new Set<ChildProcess>();

process.on("exit", () => {
  for (const child of running) child.kill("SIGKILL");
});

/** Without a listener, a signal ends this process without the event `exit`. */
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
  process.on(signal, () => {
    const isHandledByOthers = process.listenerCount(signal) > 1;
    if (!isHandledByOthers) process.exit(128 + constants.signals[signal]);
  });
}

/**
 * Starts a program and keeps the end of its output in memory; `onOutput` gets all of it. Throws if it cannot be
 * started.
 */
export async function startProcess(
  command: string,
  args: readonly string[],
  { onOutput, ...options }: { cwd?: string; env?: NodeJS.ProcessEnv; onOutput?: (chunk: string) => void } = {},
): Promise<RunningProcess> {
  const child = spawn(command, args, { ...options, stdio: ["ignore", "pipe", "pipe"] });
  let text = "";
  const keep = (chunk: string) => {
    text = (text + chunk).slice(-keptOutputChars);
    onOutput?.(chunk);
  };
  child.stdout.setEncoding("utf8").on("data", keep);
  child.stderr.setEncoding("utf8").on("data", keep);

  const started = Promise.withResolvers<void>();
  const exited = Promise.withResolvers<string>();
  let hasExited = false;
  child.once("spawn", () => {
    running.add(child);
    started.resolve();
  });
  child.once("error", (error) => started.reject(error));
  child.once("exit", (code, signal) => {
    hasExited = true;
    running.delete(child);
    exited.resolve(`${path.basename(command)} ended with ${signal ?? `code ${code}`}`);
  });
  await started.promise;

  return {
    pid: child.pid ?? 0,
    get hasExited() {
      return hasExited;
    },
    exited: exited.promise,
    output: () => text,
    async kill({ graceMs = 5000, signal = "SIGTERM" } = {}) {
      if (hasExited) return;
      child.kill(signal);
      const timer = setTimeout(() => child.kill("SIGKILL"), graceMs);
      await exited.promise;
      clearTimeout(timer);
    },
  };
}

/** Resolves once GET /readyz returns 200. Throws with the end of the output if the server ends or takes too long. */
export async function waitUntilReady(
  server: RunningProcess,
  base: string,
  options: { token: string; withinMs?: number; pauseMs?: number },
): Promise<void> {
  const isReady = async () => {
    if ((await statusOf(`${base}/readyz`, options.token)) === 200) return true;
    if (server.hasExited) throw new Error(`${await server.exited} before it was ready:\n${server.output()}`);
    return false;
  };
  const what = () => `the server is ready:\n${server.output()}`;
  await eventually(isReady, { withinMs: options.withinMs, everyMs: options.pauseMs ?? 50, what });
}

function statusOf(url: string, token: string): Promise<number> {
  return new Promise((resolve) => {
    const call = request(
      url,
      {
        headers: token === "" ? {} : { authorization: `Bearer ${token}` },
        rejectUnauthorized: false,
        timeout: 2000,
        agent: false,
      },
      (response) => {
        response.resume();
        resolve(response.statusCode ?? 0);
      },
    );
    call.on("timeout", () => call.destroy());
    call.on("error", () => resolve(0));
    call.end();
  });
}
