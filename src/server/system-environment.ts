import { hostname } from "node:os";
import { systemClock } from "../lib/clock.ts";
import type { Environment, Log, LogFields } from "../lib/environment.ts";
import { systemRandom } from "../lib/random.ts";
import { type LogLines, standardErrorLines } from "./log-lines.ts";

/** The machine's time and chance; what the server says goes to standard error as lines of JSON. */
export function systemEnvironment(): Environment {
  const reportDropped = (count: number): void => log.warn("log lines were dropped because nobody read them", { count });
  const log = jsonLog(standardErrorLines(reportDropped));
  return { clock: systemClock, random: systemRandom, log };
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
