import { type ChildProcess, spawn } from "node:child_process";
import type { CommandResult } from "../../support/kubectl.ts";
import { requireTool } from "../../support/tools.ts";

/** Where a command runs. */
export interface Place {
  readonly directory: string;
  readonly env: Readonly<Record<string, string>>;
}

/** A kubectl command under way. */
export interface RunningCommand {
  /** Resolves when this stands in what it wrote, with the first group of a pattern, or when it has ended. */
  wrote(pattern: string | RegExp): Promise<string>;
  /** Resolves with all that it wrote. */
  readonly ended: Promise<CommandResult>;
  stop(): void;
}

const TIME_LIMIT_MS = 120_000;
const running = new Set<ChildProcess>();

process.on("exit", () => {
  for (const child of running) child.kill("SIGKILL");
});

/** Starts kubectl with nothing in its environment but what the place has. */
export function startCommand(place: Place, args: readonly string[], input: string): RunningCommand {
  const child = spawn(requireTool("kubectl"), args, {
    cwd: place.directory,
    env: place.env,
    timeout: TIME_LIMIT_MS,
    killSignal: "SIGKILL",
  });
  running.add(child);
  const written = { stdout: "", stderr: "" };
  const { promise: ended, resolve, reject } = Promise.withResolvers<CommandResult>();
  for (const name of ["stdout", "stderr"] as const)
    child[name].setEncoding("utf8").on("data", (chunk: string) => {
      written[name] += chunk;
    });
  child.once("error", reject);
  child.once("close", (code, signal) => {
    running.delete(child);
    if (signal === "SIGKILL") reject(new Error(`kubectl ${args.join(" ")} did not end within ${TIME_LIMIT_MS} ms`));
    else resolve({ code: code ?? -1, ...written });
  });
  // A command that reads no input may be gone before it is given some.
  child.stdin.on("error", () => undefined).end(input);
  return {
    ended,
    stop: () => child.kill(),
    wrote: (pattern) => {
      const { promise, resolve: found } = Promise.withResolvers<string>();
      const look = () => {
        const text = written.stdout + written.stderr;
        const match = typeof pattern === "string" ? text.includes(pattern) && [pattern] : text.match(pattern);
        if (match) found(match[1] ?? "");
      };
      for (const name of ["stdout", "stderr"] as const) child[name].on("data", look);
      look();
      return Promise.race([promise, ended.then(() => "")]);
    },
  };
}
