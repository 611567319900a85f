import { readDuration } from "../../../base/go/duration.ts";
import { quote } from "../../../base/go/quote.ts";
import { timeZoneProblem } from "./time-zone.ts";

interface Bounds {
  readonly min: number;
  readonly max: number;
  readonly names?: readonly string[];
}

const MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const DAYS = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];
/** The fields of a cron expression: minute, hour, day of the month, month, day of the week. */
const FIELDS: readonly Bounds[] = [
  { min: 0, max: 59 },
  { min: 0, max: 23 },
  { min: 1, max: 31 },
  { min: 1, max: 12, names: MONTHS },
  { min: 0, max: 6, names: DAYS },
];
const NICKNAMES = ["@yearly", "@annually", "@monthly", "@weekly", "@daily", "@midnight", "@hourly"];

/** Why `spec.schedule` is not a cron expression; the message is the wire text. */
class ScheduleError extends Error {}

/** Why `spec.schedule` is invalid, with the message of robfig/cron's parser; undefined if it is valid. */
export function scheduleProblem(schedule: string): string | undefined {
  try {
    check(schedule);
    return undefined;
  } catch (error) {
    if (error instanceof ScheduleError) return error.message;
    throw error;
  }
}

function check(schedule: string): void {
  const text = /^(CRON_)?TZ=/.test(schedule) ? withoutZone(schedule) : schedule;
  if (text.startsWith("@")) checkNickname(text);
  else checkFields(text.split(/\s+/).filter((field) => field !== ""));
}

function withoutZone(schedule: string): string {
  const blank = schedule.indexOf(" ");
  const start = schedule.indexOf("=") + 1;
  // Compat: robfig/cron panics on `TZ=` without a space after it, and kube-apiserver's message shows Go's "slice bounds
  // out of range".
  if (blank < 0) throw new ScheduleError(`invalid schedule format: runtime error: slice bounds out of range [:-1]`);
  const zone = schedule.slice(start, blank);
  const problem = zone === "" ? undefined : timeZoneProblem(zone);
  if (problem !== undefined) throw new ScheduleError(`provided bad location ${zone}: ${problem}`);
  return schedule.slice(blank).trim();
}

function checkNickname(text: string): void {
  if (NICKNAMES.includes(text)) return;
  const every = "@every ";
  if (!text.startsWith(every)) throw new ScheduleError(`unrecognized descriptor: ${text}`);
  const read = readDuration(text.slice(every.length));
  if (typeof read === "string") throw new ScheduleError(`failed to parse duration ${text}: ${read}`);
}

function checkFields(fields: readonly string[]): void {
  if (fields.length !== FIELDS.length) {
    const found = `found ${fields.length}: [${fields.join(" ")}]`;
    throw new ScheduleError(`expected exactly ${FIELDS.length} fields, ${found}`);
  }
  for (const [index, bounds] of FIELDS.entries()) {
    const ranges = (fields[index] ?? "").split(",").filter((range) => range !== "");
    for (const range of ranges) checkRange(range, bounds);
  }
}

/** `first[-last][/step]`, where `*` and `?` mean the whole range. */
function checkRange(range: string, bounds: Bounds): void {
  const [limits = "", stepText, ...slashes] = range.split("/");
  const [first = "", last, ...hyphens] = limits.split("-");
  const isWhole = first === "*" || first === "?";
  const start = isWhole ? bounds.min : parseMember(first, bounds);
  let end = isWhole ? bounds.max : start;
  if (!isWhole) {
    if (hyphens.length > 0) throw new ScheduleError(`too many hyphens: ${range}`);
    if (last !== undefined) end = parseMember(last, bounds);
  }
  if (slashes.length > 0) throw new ScheduleError(`too many slashes: ${range}`);
  const step = stepText === undefined ? 1 : parseNumber(stepText);
  if (stepText !== undefined && last === undefined) end = bounds.max;
  checkLimits({ start, end, step }, bounds, range);
}

function checkLimits(
  { start, end, step }: { readonly start: number; readonly end: number; readonly step: number },
  { min, max }: Bounds,
  range: string,
): void {
  if (start < min) throw new ScheduleError(`beginning of range (${start}) below minimum (${min}): ${range}`);
  if (end > max) throw new ScheduleError(`end of range (${end}) above maximum (${max}): ${range}`);
  if (start > end) throw new ScheduleError(`beginning of range (${start}) beyond end of range (${end}): ${range}`);
  if (step === 0) throw new ScheduleError(`step of range should be a positive number: ${range}`);
}

function parseMember(text: string, { names = [], min }: Bounds): number {
  const index = names.indexOf(text.toLowerCase());
  return index < 0 ? parseNumber(text) : index + min;
}

function parseNumber(text: string): number {
  if (!/^[+-]?\d+$/.test(text)) {
    throw new ScheduleError(`failed to parse int from ${text}: strconv.Atoi: parsing ${quote(text)}: invalid syntax`);
  }
  const number = Number(text);
  if (number < 0) throw new ScheduleError(`negative number (${number}) not allowed: ${text}`);
  return number;
}
