import { ApiError } from "../api/api-error.ts";
import type { Log, LogFields } from "../lib/environment.ts";

/** What a log line says about an error. */
export interface LoggedError {
  readonly type: string;
  readonly message?: string;
  readonly stack?: string;
  readonly cause?: LoggedError;
}

const MOST_CAUSES = 5;
const LONGEST_TEXT = 1000;
const LONGEST_STACK = 4000;

/**
 * A log into which nothing gets that a client sent, apart from the paths of requests: an error is written as type,
 * message, stack and cause, never with its other properties, and texts are cut.
 */
export function carefulLog(log: Log): Log {
  return {
    error: (text, fields) => log.error(text, careful(fields)),
    warn: (text, fields) => log.warn(text, careful(fields)),
    info: (text, fields) => log.info(text, careful(fields)),
  };
}

function careful(fields: LogFields = {}): LogFields {
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [name, name === "err" ? logged(value) : cut(value)]),
  );
}

function cut(value: unknown): unknown {
  if (typeof value === "string") return value.length <= LONGEST_TEXT ? value : `${value.slice(0, LONGEST_TEXT)}…`;
  return typeof value === "number" || typeof value === "boolean" ? value : undefined;
}

function logged(error: unknown, causes = MOST_CAUSES): LoggedError {
  if (!(error instanceof Error)) return { type: typeof error };
  const message = messageOf(error);
  return {
    type: error.constructor.name,
    ...(message === undefined ? {} : { message: message.slice(0, LONGEST_TEXT) }),
    stack: framesOf(error).slice(0, LONGEST_STACK),
    ...(error.cause === undefined || causes === 0 ? {} : { cause: logged(error.cause, causes - 1) }),
  };
}

/** How ERR_INVALID_ARG_TYPE and its like end: with the value. */
const RECEIVED = /\bReceived .*/s;

/**
 * The message of an error that is known to quote nobody: the engine's, what this project throws as a plain Error, and
 * those of Node, StoreError and GrpcError, which have a `code`. All other classes are about what somebody sent, as is
 * SyntaxError with what `JSON.parse`, `BigInt` and `RegExp` were given.
 */
function messageOf(error: Error): string | undefined {
  if (error instanceof ApiError) return `${error.code} ${error.status.reason ?? ""}`;
  const isPlain = [Error, TypeError, RangeError, ReferenceError].some((type) => error.constructor === type);
  return isPlain || "code" in error ? error.message.replace(RECEIVED, "Received …") : undefined;
}

/** The lines of a stack below its first, which repeats the message. */
function framesOf({ message, stack = "" }: Error): string {
  const at = stack.indexOf(message);
  const frames = at === -1 ? stack : stack.slice(at + message.length);
  const first = frames.search(/^ {4}at /m);
  return first === -1 ? "" : frames.slice(first);
}
