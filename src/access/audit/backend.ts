import type { Eventually } from "../../base/util/eventually.ts";
import type { AuditEvent } from "./event.ts";

/** Destination of audit events. */
export interface AuditBackend {
  /** Returns false if events were lost. The loss has been reported already. Never rejects. */
  process(events: readonly AuditEvent[]): Eventually<boolean>;
  /** Stops retrying, because the server is shutting down. */
  hurry?(): void;
  /** Flushes the remaining events, if that is possible soon. */
  close(): Promise<void>;
}

/** Called with the number of events that a backend lost. The contents of the events are never reported. */
export type ReportLoss = (plugin: string, events: number, error: unknown) => void;

/** `--audit-log-mode=blocking`: requests continue even if their event is lost. */
export function ignoringErrors(backend: AuditBackend): AuditBackend {
  return {
    async process(events) {
      await backend.process(events);
      return true;
    },
    close: () => backend.close(),
  };
}

/** Passes every event to all backends. */
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
