import type { Command } from "commander";

/** The parts of the process that a command uses. */
export interface Io {
  /** Writes to standard output. */
  print(text: string): void;
  /** Writes to standard error. */
  complain(text: string): void;
  /** Whether standard output is a terminal. */
  readonly isTerminal: boolean;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The working directory. */
  readonly cwd: string;
  /** The program as the user typed it, such as "npx binnacle". Commands in hints begin with it. */
  readonly program: string;
  /** The exit code. Default: 0. */
  exitCode: number;
}

/** An example of a command line, with its purpose. */
export type Example = readonly [purpose: string, line: string];

/** A file that implements a command. */
export interface CommandModule {
  /** Examples at the top of `--help`. */
  readonly examples: readonly Example[];
  /** Adds arguments, flags and the action. `rows` are all commands. */
  configure(command: Command, io: Io, rows: readonly CommandRow[]): void;
}

/** A command in `binnacle --help`. Its file is loaded on use. */
export interface CommandRow {
  readonly name: string;
  readonly summary: string;
  readonly group: string;
  /** The exit code if the command fails. Default: 1. */
  readonly failureCode?: number;
  load(): Promise<CommandModule>;
}

/** A command failed. Contains the cause and what to do about it. */
export class Failure extends Error {
  /** One line: what to try next. */
  readonly next: string | undefined;

  constructor(message: string, next?: string) {
    super(message);
    this.name = "Failure";
    this.next = next;
  }
}

/** Prints why a command failed, and in a second line what to do about it. */
export function printFailure(failure: unknown, io: Pick<Io, "complain" | "program">): void {
  io.complain(`binnacle: ${failure instanceof Error ? failure.message : String(failure)}\n`);
  if (failure instanceof Failure && failure.next !== undefined) io.complain(`  ${hint(failure.next, io)}\n`);
}

/** Writes the commands in a text of ours, such as "Start one: binnacle up", as the user would type them. */
export function hint(text: string, { program }: Pick<Io, "program">): string {
  return text.replace(/(?<![\w/\\.-])binnacle (?=[a-z-])/g, `${program} `);
}
