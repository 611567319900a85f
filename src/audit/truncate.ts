import type { AuditBackend, ReportLoss } from "./backend.ts";
import type { AuditEvent } from "./event.ts";

/** How large events, and what is passed on at once, may be. */
export interface TruncateOptions {
  readonly maxEventBytes: number;
  readonly maxBatchBytes: number;
}

/**
 * `--audit-log-truncate-enabled`: events that are too large go without the objects that were sent and answered, or not at
 * all.
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
