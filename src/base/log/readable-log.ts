import { isObject } from "../api/object.ts";
import type { Log, LogFields } from "../util/environment.ts";
import { REQUEST_LINE } from "./request-line.ts";

/** Options of the human-readable log. */
export interface ReadableOptions {
  readonly hasColors: boolean;
  /** The time of day, such as 14:05:09. */
  time(): string;
}

type Level = "error" | "warn" | "info";

const COLORS: Readonly<Record<Level, number>> = { error: 31, warn: 33, info: 2 };
// C0 and C1 controls and bidirectional marks: data sent by clients must not control the terminal.
const CONTROLS = /[\p{Cc}\p{Cf}]/gu;

/** A human-readable log: time, level, text, and fields as name=value. */
export function readableLog(write: (line: string) => void, { hasColors, time }: ReadableOptions): Log {
  const paint = (code: number, text: string): string => (hasColors ? `\u001b[${code}m${text}\u001b[0m` : text);
  const logAt =
    (level: Level) =>
    (text: string, fields: LogFields = {}): void => {
      const line =
        text === REQUEST_LINE
          ? requestLine(fields, paint)
          : `${paint(COLORS[level], level.padEnd(5))} ${plain(text)}${factsOf(fields)}`;
      write(`${paint(2, time())} ${line}\n`);
    };
  return { error: logAt("error"), warn: logAt("warn"), info: logAt("info") };
}

function factsOf(fields: LogFields): string {
  const known = Object.entries(fields).filter(([, value]) => value !== undefined);
  return known.map(([name, value]) => ` ${name}=${show(value)}`).join("");
}

/** GET 200 3 ms /api/v1/namespaces by kubernetes-admin */
function requestLine(fields: LogFields, paint: (code: number, text: string) => string): string {
  const { method, code, ms, path, user } = fields;
  const status = Number(code);
  const shown = status === 0 ? "---" : String(status);
  const color = status === 0 || status >= 500 ? 31 : status >= 400 ? 33 : 32;
  const head = `${plain(String(method)).padEnd(6)} ${paint(color, shown)} ${String(ms).padStart(5)} ms`;
  return `${head} ${plain(String(path))} ${paint(2, `by ${plain(String(user))}`)}`;
}

function show(value: unknown): string {
  if (isObject(value)) return JSON.stringify(typeof value.message === "string" ? value.message : value.type);
  return typeof value === "string" ? JSON.stringify(plain(value)) : String(value);
}

const plain = (text: string): string =>
  text.replace(CONTROLS, (one) => `\\u{${one.codePointAt(0)?.toString(16) ?? ""}}`);
