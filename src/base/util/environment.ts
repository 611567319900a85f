import type { Clock } from "./clock.ts";
import type { Random } from "./random.ts";

/**
 * Structured fields of a log line. An error goes into `err`, which a Log receives as type, message, stack and cause.
 */
export type LogFields = Readonly<Record<string, unknown>>;

/** The log of a server, for its operator. */
export interface Log {
  error(text: string, fields?: LogFields): void;
  warn(text: string, fields?: LogFields): void;
  info(text: string, fields?: LogFields): void;
}

/**
 * Injected clock, randomness and logger. Everything that waits, repeats or times out uses the clock. Exceptions use
 * real time: the idle, lingering and shutdown timers of the HTTP listener; the deadlines, keep-alive and reconnection
 * of the etcd connection; and code that measures its own computing time to yield to others. Secrets (keys,
 * certificates, the administrator's token) come from node:crypto, not from `random`.
 */
export interface Environment {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
}
