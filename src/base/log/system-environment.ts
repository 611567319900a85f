import { hostname } from "node:os";
import { systemClock } from "../util/clock.ts";
import type { Environment, Log, LogFields } from "../util/environment.ts";
import { systemRandom } from "../util/random.ts";
import { carefulLog } from "./careful-log.ts";
import { type LogLines, standardErrorLines } from "./log-lines.ts";
import { type ReadableOptions, readableLog } from "./readable-log.ts";

/** Level and format of the log. */
export interface LogOptions {
  /** Minimum level of logged lines. Default: "info". */
  readonly level?: keyof Log;
  /** Human-readable lines instead of JSON. Default: false. */
  readonly isReadable?: boolean;
}

/** The system clock, system randomness, and a log to stderr, by default as JSON lines. */
export function systemEnvironment({ level = "info", isReadable = false }: LogOptions = {}): Environment {
  const reportDropped = (count: number): void => log.warn("log lines dropped because stderr was not read", { count });
  const lines = standardErrorLines(reportDropped);
  const time = () => new Date().toTimeString().slice(0, 8);
  const hasColors = process.stderr.isTTY === true && process.env.NO_COLOR === undefined;
  const all = isReadable ? readableLogTo(lines, { hasColors, time }) : jsonLog(lines);
  const log = atLeast(level, all);
  return { clock: systemClock, random: systemRandom, log };
}

const nothing = (): void => {};

function atLeast(level: keyof Log, { error, warn, info }: Log): Log {
  return { error, warn: level === "error" ? nothing : warn, info: level === "info" ? info : nothing };
}

/** Logs why the process ends. Node would print the error with all its properties, which may contain client data. */
export function logFatalError(log: Log, error: unknown): void {
  carefulLog(log).error("fatal: unhandled error", { err: error });
}

/** The level numbers of pino and bunyan, whose tools can read these lines. */
const LEVELS = { error: 50, warn: 40, info: 30 } as const;

/** A human-readable log. */
export function readableLogTo(destination: LogLines, options: ReadableOptions): Log {
  return readableLog((line) => destination.write(line), options);
}

/** A log with one JSON line per message. */
export function jsonLog(destination: LogLines): Log {
  const origin = { pid: process.pid, hostname: hostname(), name: "binnacle" };
  const write = (level: number, msg: string, fields: LogFields = {}): void => {
    const head = { level, time: systemClock.now(), ...origin };
    destination.write(`${print({ ...head, ...fields, msg }) ?? print({ ...head, msg })}\n`);
  };
  return {
    error: (text, fields) => write(LEVELS.error, text, fields),
    warn: (text, fields) => write(LEVELS.warn, text, fields),
    info: (text, fields) => write(LEVELS.info, text, fields),
  };
}

/** Undefined if the line cannot be JSON, for example because of a cycle. It is then logged without its fields. */
function print(line: object): string | undefined {
  try {
    return JSON.stringify(line);
  } catch {
    return undefined;
  }
}
