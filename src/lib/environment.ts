import type { Clock } from "./clock.ts";
import type { Random } from "./random.ts";

/** What a log line says besides its text. An error goes into `err`, which a Log gets as type, message, stack and cause. */
export type LogFields = Readonly<Record<string, unknown>>;

/** Where a server tells its operator what happens. */
export interface Log {
  error(text: string, fields?: LogFields): void;
  warn(text: string, fields?: LogFields): void;
  info(text: string, fields?: LogFields): void;
}

/**
 * Time, chance and voice: what a server needs from the machine besides sockets and files, given to it at its start.
 * Everything that waits, repeats or gives up asks the clock. What times bytes on a real socket or a disk uses real time
 * instead: the HTTP listener's idle, lingering and shutdown timers, and deadlines, keep-alive and reconnection of the
 * connection to etcd. So does what measures its own computing to give others a turn. Secrets (keys, certificates, the
 * administrator's token) come from node:crypto, not from `random`.
 */
export interface Environment {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
}
