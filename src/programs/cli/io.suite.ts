import type { Io } from "./command.ts";

/** What a command printed and complained about, kept instead of shown. */
export interface SilentIo extends Io {
  out(): string;
  err(): string;
}

/** An Io for tests. */
export function silentIo(env: Io["env"] = {}, cwd: string = process.cwd()): SilentIo {
  const out: string[] = [];
  const err: string[] = [];
  return {
    print: (text) => void out.push(text),
    complain: (text) => void err.push(text),
    isTerminal: false,
    env,
    cwd,
    program: "binnacle",
    exitCode: 0,
    out: () => out.join(""),
    err: () => err.join(""),
  };
}
