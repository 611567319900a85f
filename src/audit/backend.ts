import type { Eventually } from "../lib/eventually.ts";
import type { AuditEvent } from "./event.ts";

/** Where audit events go. */
export interface AuditBackend {
  /** False: some of them could not be kept, which has been told already. Never rejects. */
  process(events: readonly AuditEvent[]): Eventually<boolean>;
  /** What fails from now on is not tried again: the server stops. */
  hurry?(): void;
  /** Keeps what it still has, if that can be done soon. */
  close(): Promise<void>;
}

/** Hears of events that a backend could not keep; what they say is told to nobody. */
export type ReportLoss = (plugin: string, events: number, error: unknown) => void;

/** `--audit-log-mode=blocking`: a request goes on even if its event could not be kept. */
export function ignoringErrors(backend: AuditBackend): AuditBackend {
  return {
    async process(events) {
      await backend.process(events);
      return true;
    },
    close: () => backend.close(),
  };
}

/** Gives every event to all backends. */
export function joined(backends: readonly AuditBackend[]): AuditBackend {
  const [only, ...more] = backends;
  if (only && more.length === 0) return only;
  return {
    process(events) {
      const results = backends.map((backend) => backend.process(events));
      if (!results.some((result) => result instanceof Promise)) return results.every((result) => result === true);
      return Promise.all(results).then((kept) => kept.every(Boolean));
    },
    async close() {
      await Promise.all(backends.map((backend) => backend.close()));
    },
  };
}
