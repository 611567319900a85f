const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const YEAR = 365 * DAY;

function pair(total: number, large: readonly [number, string], small: readonly [number, string]): string {
  const [largeSize, largeUnit] = large;
  const [smallSize, smallUnit] = small;
  const rest = Math.floor((total % largeSize) / smallSize);
  return `${Math.floor(total / largeSize)}${largeUnit}${rest === 0 ? "" : `${rest}${smallUnit}`}`;
}

/**
 * A duration in at most three figures, as tables show ages:
 *   119 s → "119s", 125 s → "2m5s", 179 min → "179m", 7 h 59 min → "7h59m", 3 d 4 h → "3d4h", 800 d → "2y70d".
 */
export function humanDuration(milliseconds: number): string {
  const seconds = Math.trunc(milliseconds / 1000);
  if (seconds < -1) return "<invalid>";
  if (seconds < 0) return "0s";
  if (seconds < 2 * MINUTE) return `${seconds}s`;
  if (seconds < 10 * MINUTE) return pair(seconds, [MINUTE, "m"], [1, "s"]);
  if (seconds < 3 * HOUR) return `${Math.floor(seconds / MINUTE)}m`;
  if (seconds < 8 * HOUR) return pair(seconds, [HOUR, "h"], [MINUTE, "m"]);
  if (seconds < 2 * DAY) return `${Math.floor(seconds / HOUR)}h`;
  if (seconds < 8 * DAY) return pair(seconds, [DAY, "d"], [HOUR, "h"]);
  if (seconds < 2 * YEAR) return `${Math.floor(seconds / DAY)}d`;
  if (seconds < 8 * YEAR) return pair(seconds, [YEAR, "y"], [DAY, "d"]);
  return `${Math.floor(seconds / YEAR)}y`;
}

/** The age of a timestamp: "<unknown>" if it is missing, "<invalid>" if it is malformed. */
export function ageOf(timestamp: unknown, now: number): string {
  if (timestamp === undefined || timestamp === null || timestamp === "") return "<unknown>";
  const time = typeof timestamp === "string" ? Date.parse(timestamp) : Number.NaN;
  return Number.isNaN(time) ? "<invalid>" : humanDuration(now - time);
}
