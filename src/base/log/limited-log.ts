import type { Clock } from "../util/clock.ts";
import type { Log, LogFields } from "../util/environment.ts";
import type { LoggedError } from "./careful-log.ts";

const WINDOW_MS = 60_000;
const MOST_CAUSES = 200;

/** A cause that was logged less than a minute ago. */
interface RecentCause {
  suppressed: number;
  /** The fields of the latest suppressed line. */
  fields: LogFields;
}

/**
 * A log that reports the same cause once per minute, however often requests or controllers fail because of it. A minute
 * later, one more line reports the number of suppressed lines as `suppressed`. Expects the fields that `carefulLog`
 * writes.
 */
export function limitedLog(log: Log, clock: Pick<Clock, "setTimer">): Log {
  const recent = new Map<string, RecentCause>();
  const limited =
    (write: (text: string, fields: LogFields) => void) =>
    (text: string, fields: LogFields = {}): void => {
      const cause = causeOf(text, fields);
      // Causes beyond the limit share one entry.
      const key = recent.has(cause) || recent.size < MOST_CAUSES ? cause : "";
      const known = recent.get(key);
      if (known !== undefined) {
        known.suppressed++;
        known.fields = fields;
        return;
      }
      const openWindow = (one: RecentCause): void => {
        recent.set(key, one);
        clock.setTimer(WINDOW_MS, () => closeWindow(one)).unref();
      };
      const closeWindow = ({ suppressed, fields: latest }: RecentCause): void => {
        recent.delete(key);
        if (suppressed === 0) return;
        write(text, { ...latest, suppressed });
        openWindow({ suppressed: 0, fields: latest });
      };
      write(text, fields);
      openWindow({ suppressed: 0, fields });
    };
  return {
    error: limited((text, fields) => log.error(text, fields)),
    warn: limited((text, fields) => log.warn(text, fields)),
    info: (text, fields) => log.info(text, fields),
  };
}

/** Identifies the cause of a line: the root cause of its error, or its text and fields. */
function causeOf(text: string, { err, ...fields }: LogFields): string {
  if (err === undefined) return `${text} ${JSON.stringify(fields)}`;
  let root = err as LoggedError;
  while (root.cause !== undefined) root = root.cause;
  const [place = ""] = (root.stack ?? "").split("\n", 1);
  return `${text} ${root.type} ${root.message ?? ""} ${place}`;
}
