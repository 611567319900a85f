import type { AuditBackend, ReportLoss } from "./backend.ts";
import type { AuditEvent } from "./event.ts";

/** Maximum sizes of an event and of a batch. */
export interface TruncateOptions {
  readonly maxEventBytes: number;
  readonly maxBatchBytes: number;
}

/**
 * `--audit-log-truncate-enabled`: removes the request and response objects from events that are too large. Drops events
 * that are still too large.
 */
export function truncating(backend: AuditBackend, options: TruncateOptions, report: ReportLoss): AuditBackend {
  const { maxEventBytes, maxBatchBytes } = options;
  return {
    async process(events) {
      let isKept = true;
      let batch: AuditEvent[] = [];
      let size = 0;
      const pass = async (): Promise<void> => {
        if (batch.length > 0) isKept = (await backend.process(batch)) && isKept;
        batch = [];
        size = 0;
      };
      for (const event of events) {
        const { level } = event.fields;
        const hasObjects = level === "Request" || level === "RequestResponse";
        const fitting = event.bytes > maxEventBytes && hasObjects ? event.withoutObjects() : event;
        if (fitting.bytes > maxEventBytes) {
          report("truncate", 1, new Error("event is too large even after truncating"));
          continue;
        }
        if (size + fitting.bytes > maxBatchBytes) await pass();
        batch.push(fitting);
        size += fitting.bytes;
      }
      await pass();
      return isKept;
    },
    close: () => backend.close(),
  };
}
