import { type DestinationStream, pino } from "pino";
import { systemClock } from "../lib/clock.ts";
import type { Environment, Log } from "../lib/environment.ts";
import { systemRandom } from "../lib/random.ts";

/** The machine's time and chance; what the server says goes to standard error as lines of JSON. */
export function systemEnvironment(): Environment {
  return { clock: systemClock, random: systemRandom, log: jsonLog(pino.destination({ dest: 2, sync: true })) };
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
