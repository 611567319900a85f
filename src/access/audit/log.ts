import type { AuditBackend, ReportLoss } from "./backend.ts";
import type { AuditEvent } from "./event.ts";

/** Writes texts in order. */
export interface LineWriter {
  /** Resolves when the text is written. Rejects if writing fails. */
  write(text: string): Promise<void>;
  close(): Promise<void>;
}

/** `--audit-log-format`. */
export type LogFormat = "json" | "legacy";

/** Writes one line per event. */
export class LogBackend implements AuditBackend {
  readonly #writer: LineWriter;
  readonly #format: LogFormat;
  readonly #report: ReportLoss;

  constructor(writer: LineWriter, format: LogFormat, report: ReportLoss) {
    this.#writer = writer;
    this.#format = format;
    this.#report = report;
  }

  async process(events: readonly AuditEvent[]): Promise<boolean> {
    const written = events.map((event) => this.#writer.write(`${this.#lineOf(event)}\n`));
    const failed = (await Promise.allSettled(written)).filter((result) => result.status === "rejected");
    if (failed[0]) this.#report("log", failed.length, failed[0].reason);
    return failed.length === 0;
  }

  #lineOf(event: AuditEvent): string {
    return this.#format === "json" ? event.json : event.legacyLine;
  }

  close(): Promise<void> {
    return this.#writer.close();
  }
}
