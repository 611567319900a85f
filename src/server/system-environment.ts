import { hostname } from "node:os";
import { systemClock } from "../lib/clock.ts";
import type { Environment, Log, LogFields } from "../lib/environment.ts";
import { systemRandom } from "../lib/random.ts";
import { carefulLog } from "./careful-log.ts";
import { readableLog } from "./log/readable-log.ts";
import { type LogLines, standardErrorLines } from "./log-lines.ts";

/** What is said, and in which form. */
export interface LogOptions {
  /** The least that is worth a line: "info" unless told. */
  readonly level?: keyof Log;
  /** Lines for people instead of JSON. */
  readonly isReadable?: boolean;
}

/** The machine's time and chance; what the server says goes to standard error as lines of JSON unless told otherwise. */
export function systemEnvironment({ level = "info", isReadable = false }: LogOptions = {}): Environment {
  const reportDropped = (count: number): void => log.warn("log lines were dropped because nobody read them", { count });
  const lines = standardErrorLines(reportDropped);
  const time = () => new Date().toTimeString().slice(0, 8);
  const hasColors = process.stderr.isTTY === true && process.env.NO_COLOR === undefined;
  const all = isReadable ? readableLog((line) => lines.write(line), { hasColors, time }) : jsonLog(lines);
  const log = atLeast(level, all);
  return { clock: systemClock, random: systemRandom, log };
}

const nothing = (): void => {};

function atLeast(level: keyof Log, { error, warn, info }: Log): Log {
  return { error, warn: level === "error" ? nothing : warn, info: level === "info" ? info : nothing };
}

/** Tells why the process ends. Node would print the error with all of its properties. */
export function tellLastError(log: Log, error: unknown): void {
  carefulLog(log).error("the process ends by an error that nobody expected", { err: error });
}

/** The numbers that pino and bunyan have for levels, whose readers understand these lines. */
const LEVELS = { error: 50, warn: 40, info: 30 } as const;

/** A log of one line of JSON for each message. */
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

/** Undefined for what has no JSON, such as a circle: the message is told without it. */
function print(line: object): string | undefined {
  try {
    return JSON.stringify(line);
  } catch {
    return undefined;
  }
}
