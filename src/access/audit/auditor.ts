import type { Attributes } from "../../base/api/attributes.ts";
import type { Call } from "../../base/api/call.ts";
import type { UserInfo } from "../../base/api/user-info.ts";
import type { MetricRegistry } from "../../base/metrics/metrics.ts";
import type { Clock } from "../../base/util/clock.ts";
import type { AuditBackend, ReportLoss } from "./backend.ts";
import { LEVELS } from "./policy.ts";
import type { RequestAudit } from "./policy-match.ts";
import { AuditRecord } from "./record.ts";

/** Metrics of audit events, with kube-apiserver's names. */
export class AuditMetrics {
  readonly event: () => void;
  readonly level: (level: string) => void;
  readonly lost: (plugin: string, events: number) => void;
  readonly rejected: () => void;

  constructor(registry: MetricRegistry) {
    const events = registry.counter({
      name: "apiserver_audit_event_total",
      help: "[ALPHA] Counter of audit events generated and sent to the audit backend.",
      labels: [],
    });
    const levels = registry.counter({
      name: "apiserver_audit_level_total",
      help: "[ALPHA] Counter of policy levels for audit events (1 per request).",
      labels: ["level"],
      limit: LEVELS.length,
    });
    const errors = registry.counter({
      name: "apiserver_audit_error_total",
      help: "[ALPHA] Counter of audit events that failed to be audited properly. Plugin identifies the plugin affected by the error.",
      labels: ["plugin"],
    });
    const rejected = registry.counter({
      name: "apiserver_audit_requests_rejected_total",
      help: "[ALPHA] Counter of apiserver requests rejected due to an error in audit logging backend.",
      labels: [],
    });
    this.event = () => events.of({}).add();
    this.level = (level) => levels.of({ level }).add();
    this.lost = (plugin, count) => errors.of({ plugin }).add(count);
    this.rejected = () => rejected.of({}).add();
  }
}

/** Options of an Auditor. */
export interface AuditorOptions {
  readonly evaluate: (attributes: Attributes, user: UserInfo | undefined) => RequestAudit;
  readonly backend: AuditBackend;
  readonly clock: Clock;
  readonly metrics: AuditMetrics;
}

/** Records requests as the audit policy demands. */
export class Auditor {
  readonly #options: AuditorOptions;

  constructor(options: AuditorOptions) {
    this.#options = options;
  }

  /**
   * Opens the audit record of a request. Undefined if the policy's level for it is None. `user`: see `RecordOptions`.
   */
  open(call: Call, user: UserInfo | undefined, isSecret: boolean): AuditRecord | undefined {
    const { evaluate, backend, clock, metrics } = this.#options;
    const audit = evaluate(call.attributes, user);
    metrics.level(audit.level);
    if (audit.level === "None") return undefined;
    return new AuditRecord({
      ...{ call, user, audit, isSecret },
      receivedMs: clock.now(),
      sink: (event) => {
        metrics.event();
        return backend.process([event]);
      },
    });
  }

  now(): number {
    return this.#options.clock.now();
  }

  /** Counts a request that was rejected because its audit event could not be written. */
  rejected(): void {
    this.#options.metrics.rejected();
  }

  close(): Promise<void> {
    return this.#options.backend.close();
  }
}

/** Counts and logs lost events, without their contents. */
export function lossReporter(metrics: AuditMetrics, log: (text: string, error: unknown) => void): ReportLoss {
  return (plugin, events, error) => {
    metrics.lost(plugin, events);
    log(`${events} audit events lost (${plugin})`, error);
  };
}
