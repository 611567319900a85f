import { pino } from "pino";
import { systemClock } from "../lib/clock.ts";
import type { Environment, LogFields } from "../lib/environment.ts";
import { systemRandom } from "../lib/random.ts";

/** The machine's time and chance; what the server says goes to standard error as lines of JSON. */
export function systemEnvironment(): Environment {
  const lines = pino({ name: "binnacle" }, pino.destination({ dest: 2, sync: true }));
  const log = {
    error: (text: string, fields: LogFields = {}) => lines.error(fields, text),
    warn: (text: string, fields: LogFields = {}) => lines.warn(fields, text),
    info: (text: string, fields: LogFields = {}) => lines.info(fields, text),
  };
  return { clock: systemClock, random: systemRandom, log };
}
