import { ApiError } from "../api/api-error.ts";
import type { Log, LogFields } from "../util/environment.ts";

/** An error as it appears in the log. */
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
 * A log without data sent by clients, apart from request paths. An error is logged as type, message, stack and cause,
 * never with its other properties. Long texts are cut.
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

/** Messages such as those of ERR_INVALID_ARG_TYPE end with the received value. */
const RECEIVED = /\bReceived .*/s;

/**
 * The message of an error if it cannot contain client data: errors of the engine, plain Errors of this project, and
 * those of Node, StoreError and GrpcError, which have a `code`. Other classes may quote client data, including
 * SyntaxError, which quotes the input of `JSON.parse`, `BigInt` and `RegExp`.
 */
function messageOf(error: Error): string | undefined {
  if (error instanceof ApiError) return `${error.code} ${error.status.reason ?? ""}`;
  const isPlain = [Error, TypeError, RangeError, ReferenceError].some((type) => error.constructor === type);
  return isPlain || "code" in error ? error.message.replace(RECEIVED, "Received …") : undefined;
}

/** The frames of a stack, without the first lines that repeat the message. */
function framesOf({ message, stack = "" }: Error): string {
  const at = stack.indexOf(message);
  const frames = at === -1 ? stack : stack.slice(at + message.length);
  const first = frames.search(/^ {4}at /m);
  return first === -1 ? "" : frames.slice(first);
}
