import type { LogFormat } from "./log.ts";

/** `--audit-log-mode` and `--audit-webhook-mode`. */
export const MODES = ["batch", "blocking", "blocking-strict"] as const;
/** One of `MODES`. */
export type AuditMode = (typeof MODES)[number];

/** What both backends can be told. */
export interface BackendConfig {
  readonly mode: AuditMode;
  readonly batch: {
    readonly bufferSize: number;
    readonly maxSize: number;
    readonly maxWaitMs: number;
    readonly throttleEnable: boolean;
    readonly throttleQps: number;
    readonly throttleBurst: number;
  };
  readonly truncate: {
    readonly enabled: boolean;
    readonly maxBatchBytes: number;
    readonly maxEventBytes: number;
  };
}

/** `--audit-log-…`. */
export interface AuditLogConfig extends BackendConfig {
  /** `-`: standard output. Absent: no log. */
  readonly path?: string;
  readonly format: LogFormat;
  readonly maxAgeDays: number;
  readonly maxBackups: number;
  readonly maxSizeMb: number;
  readonly compress: boolean;
}

/** `--audit-webhook-…`. */
export interface AuditWebhookConfig extends BackendConfig {
  /** A kubeconfig. Absent: no webhook. */
  readonly configFile?: string;
  readonly initialBackoffMs: number;
}

/** What is written down about requests, and where. Without a policy file: nothing. */
export interface AuditConfig {
  readonly policyFile?: string;
  readonly log: AuditLogConfig;
  readonly webhook: AuditWebhookConfig;
}

const BUFFER_SIZE = 10_000;
const truncate = { enabled: false, maxBatchBytes: 10 * 1024 * 1024, maxEventBytes: 100 * 1024 };

/** kube-apiserver's defaults. */
export const defaultAuditConfig: AuditConfig = {
  log: {
    ...{ mode: "blocking", truncate, format: "json" },
    ...{ maxAgeDays: 366, maxBackups: 100, maxSizeMb: 100, compress: false },
    batch: {
      ...{ bufferSize: BUFFER_SIZE, maxSize: 1, maxWaitMs: 0 },
      ...{ throttleEnable: false, throttleQps: 0, throttleBurst: 0 },
    },
  },
  webhook: {
    ...{ mode: "batch", truncate, initialBackoffMs: 10_000 },
    batch: {
      ...{ bufferSize: BUFFER_SIZE, maxSize: 400, maxWaitMs: 30_000 },
      ...{ throttleEnable: true, throttleQps: 10, throttleBurst: 15 },
    },
  },
};

/** Compat: the texts of AuditOptions.Validate. Throws an Error with all of them. */
export function requireValidAudit({ log, webhook }: AuditConfig): void {
  const errors: string[] = [];
  if (log.path !== undefined) {
    errors.push(...backendErrors("log", log));
    if (!["legacy", "json"].includes(log.format)) {
      errors.push(`invalid audit log format ${log.format}, allowed formats are "legacy,json"`);
    }
    const counts = [
      ["maxage", log.maxAgeDays],
      ["maxbackup", log.maxBackups],
      ["maxsize", log.maxSizeMb],
    ] as const;
    for (const [flag, value] of counts) {
      if (value < 0) errors.push(`--audit-log-${flag} ${value} can't be a negative number`);
    }
  }
  if (webhook.configFile !== undefined) errors.push(...backendErrors("webhook", webhook));
  if (errors.length > 0) throw new Error(errors.length === 1 ? errors[0] : `[${errors.join(", ")}]`);
}

function backendErrors(plugin: string, { mode, batch, truncate: limits }: BackendConfig): string[] {
  const errors: string[] = [];
  if (!MODES.includes(mode))
    errors.push(`invalid audit ${plugin} mode ${mode}, allowed modes are "${MODES.join(",")}"`);
  else if (mode === "batch") errors.push(...batchErrors(plugin, batch));
  const { maxEventBytes, maxBatchBytes } = limits;
  if (maxEventBytes <= 0) {
    errors.push(`invalid audit truncate ${plugin} max event size ${maxEventBytes}, must be a positive number`);
  } else if (maxBatchBytes < maxEventBytes) {
    const why = `must be greater than max event size (${maxEventBytes})`;
    errors.push(`invalid audit truncate ${plugin} max batch size ${maxBatchBytes}, ${why}`);
  }
  return errors;
}

function batchErrors(plugin: string, batch: BackendConfig["batch"]): string[] {
  const counts: [string, number][] = [
    ["buffer size", batch.bufferSize],
    ["max batch size", batch.maxSize],
  ];
  if (batch.throttleEnable) counts.push(["throttle QPS", batch.throttleQps], ["throttle burst", batch.throttleBurst]);
  const wrong = counts.find(([, value]) => value <= 0);
  return wrong ? [`invalid audit batch ${plugin} ${wrong[0]} ${wrong[1]}, must be a positive number`] : [];
}
