import type { Clock } from "../lib/clock.ts";
import type { Log, LogFields } from "../lib/environment.ts";
import type { LoggedError } from "./careful-log.ts";

const WINDOW_MS = 60_000;
const MOST_CAUSES = 200;

/** A cause that was told of less than a minute ago. */
interface Told {
  leftOut: number;
  /** What the latest line that was left out said. */
  fields: LogFields;
}

/**
 * A log that tells of the same cause once per minute, however often it makes requests or controllers fail. A minute later one
 * more line says how many were left out, as `leftOut`. Gets the fields that `carefulLog` writes.
 */
export function limitedLog(log: Log, clock: Pick<Clock, "setTimer">): Log {
  const told = new Map<string, Told>();
  const limited =
    (write: (text: string, fields: LogFields) => void) =>
    (text: string, fields: LogFields = {}): void => {
      const cause = causeOf(text, fields);
      // Those for which there is no room share one place.
      const key = told.has(cause) || told.size < MOST_CAUSES ? cause : "";
      const known = told.get(key);
      if (known !== undefined) {
        known.leftOut++;
        known.fields = fields;
        return;
      }
      const openWindow = (one: Told): void => {
        told.set(key, one);
        clock.setTimer(WINDOW_MS, () => closeWindow(one)).unref();
      };
      const closeWindow = ({ leftOut, fields: latest }: Told): void => {
        told.delete(key);
        if (leftOut === 0) return;
        write(text, { ...latest, leftOut });
        openWindow({ leftOut: 0, fields: latest });
      };
      write(text, fields);
      openWindow({ leftOut: 0, fields });
    };
  return {
    error: limited((text, fields) => log.error(text, fields)),
    warn: limited((text, fields) => log.warn(text, fields)),
    info: (text, fields) => log.info(text, fields),
  };
}

/** By what two lines are about the same: what their errors come from, or all that they say. */
function causeOf(text: string, { err, ...fields }: LogFields): string {
  if (err === undefined) return `${text} ${JSON.stringify(fields)}`;
  let root = err as LoggedError;
  while (root.cause !== undefined) root = root.cause;
  const [place = ""] = (root.stack ?? "").split("\n", 1);
  return `${text} ${root.type} ${root.message ?? ""} ${place}`;
}
