import { type DestinationStream, pino } from "pino";
import { systemClock } from "../lib/clock.ts";
import type { Environment, Log } from "../lib/environment.ts";
import { systemRandom } from "../lib/random.ts";
import { standardErrorLines } from "./log-lines.ts";

/** The machine's time and chance; what the server says goes to standard error as lines of JSON. */
export function systemEnvironment(): Environment {
  const reportDropped = (count: number): void => log.warn("log lines were dropped because nobody read them", { count });
  const log = jsonLog(standardErrorLines(reportDropped));
  return { clock: systemClock, random: systemRandom, log };
}

/** A log of one line of JSON for each message. */
export function jsonLog(destination: DestinationStream): Log {
  // Errors come as plain objects; pino's own serializer would take them for errors and overwrite their types.
  const lines = pino({ name: "binnacle", serializers: { err: (error) => error } }, destination);
  return {
    error: (text, fields = {}) => lines.error(fields, text),
    warn: (text, fields = {}) => lines.warn(fields, text),
    info: (text, fields = {}) => lines.info(fields, text),
  };
}
