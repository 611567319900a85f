import { isObject, type JsonObject } from "../../base/api/object.ts";
import type { LogFields } from "../../base/util/environment.ts";

/** How log lines are shown: for people, as JSON, or unchanged. */
export type LogForm = "text" | "json" | "raw";

/** A line of the log. */
export interface LogLine {
  readonly text: string;
  /** The JSON of the line. Omitted for other lines, such as the output of `up` or a stack trace. */
  readonly record?: JsonObject;
}

/** Parses a line. */
export function logLine(text: string): LogLine {
  if (!text.startsWith("{")) return { text };
  try {
    const record: unknown = JSON.parse(text);
    return isObject(record) && typeof record.time === "number" ? { text, record: record as JsonObject } : { text };
  } catch {
    return { text };
  }
}

/** The level numbers of `jsonLog`. */
const LEVELS = [
  [50, "error"],
  [40, "warn"],
  [Number.NEGATIVE_INFINITY, "info"],
] as const;

/**
 * Returns a function that prints a line with its line break. `text`: time, level, message and fields; `json`: other lines
 * become records, too.
 */
export async function logPrinter(form: LogForm, hasColors: boolean): Promise<(line: LogLine) => string> {
  if (form === "raw") return ({ text }) => `${text}\n`;
  if (form === "json") return ({ text, record }) => `${record ? text : JSON.stringify({ msg: text })}\n`;
  // From the file that every server loads: an import of its own would give servers one more file to read.
  const { readableLogTo } = await import("../../base/log/system-environment.ts");
  return ({ text, record }) => {
    if (!record) return `${text}\n`;
    const { level, time, pid: _, hostname: __, name: ___, msg, ...fields } = record;
    let printed = "";
    const write = (line: string): void => {
      printed = line;
    };
    const log = readableLogTo({ write }, { hasColors, time: () => localTime(Number(time)) });
    const [, method] = LEVELS.find(([least]) => Number(level) >= least) ?? LEVELS[2];
    log[method](String(msg ?? ""), fields as LogFields);
    return printed;
  };
}

/** Such as 2026-01-31 14:05:09. */
function localTime(ms: number): string {
  const date = new Date(ms);
  if (Number.isNaN(date.getTime())) return String(ms);
  const two = (value: number) => String(value).padStart(2, "0");
  const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
  return `${day} ${date.toTimeString().slice(0, 8)}`;
}

/** Which lines are shown. */
export interface LogSelection {
  /** The number of lines at the end. */
  readonly tail?: number | undefined;
  /** The time of the first record, in milliseconds. */
  readonly sinceMs?: number | undefined;
}

/**
 * Selects lines by time, then the last ones. A line that is no record belongs to the record before it; before the first
 * record, to that one.
 */
export function selectLines(lines: Iterable<LogLine>, { tail, sinceMs }: LogSelection): LogLine[] {
  const recent = sinceMs === undefined ? [...lines] : linesSince(lines, sinceMs);
  return tail === undefined ? recent : recent.slice(Math.max(0, recent.length - tail));
}

function linesSince(lines: Iterable<LogLine>, sinceMs: number): LogLine[] {
  const kept: LogLine[] = [];
  let isRecent: boolean | undefined;
  for (const line of lines) {
    if (line.record) {
      const wasUnknown = isRecent === undefined;
      isRecent = Number(line.record.time) >= sinceMs;
      if (wasUnknown && !isRecent) kept.length = 0;
    }
    if (isRecent !== false) kept.push(line);
  }
  return kept;
}
