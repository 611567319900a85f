import type { Command } from "commander";

/** What a command may use of the process that runs it. */
export interface Io {
  /** To standard output, as it is. */
  print(text: string): void;
  /** To standard error, as it is. */
  complain(text: string): void;
  /** Whether a person reads standard output. */
  readonly isTerminal: boolean;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Where relative paths begin. */
  readonly cwd: string;
  /** What the process ends with: 0 unless told. */
  exitCode: number;
}

/** A way to use a command, and what for. */
export type Example = readonly [purpose: string, line: string];

/** A file of this folder that is a command. */
export interface CommandModule {
  /** What `--help` begins with. */
  readonly examples: readonly Example[];
  /** Adds arguments, flags and what is to be done; `rows` are all commands. */
  configure(command: Command, io: Io, rows: readonly CommandRow[]): void;
}

/** A command as `binnacle --help` lists it. Its file is loaded when it is used. */
export interface CommandRow {
  readonly name: string;
  readonly summary: string;
  readonly group: string;
  /** What the process ends with when the command fails: 1 unless told. */
  readonly failureCode?: number;
  load(): Promise<CommandModule>;
}

/** Why a command ends without having done what it was asked for: the cause, and what may be done about it. */
export class Failure extends Error {
  /** One line: what to try next. */
  readonly next: string | undefined;

  constructor(message: string, next?: string) {
    super(message);
    this.name = "Failure";
    this.next = next;
  }
}
