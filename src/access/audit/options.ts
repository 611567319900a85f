import { type ConfigOf, group, option } from "../../base/options/option.ts";
import { boolean, decimal, duration, file, integer, lateChoice, outputFile } from "../../base/options/value-types.ts";

const MODES = ["batch", "blocking", "blocking-strict"] as const;
const BUFFER_SIZE = 10_000;

interface BackendDefaults {
  readonly mode: (typeof MODES)[number];
  readonly maxSize: number;
  readonly maxWaitMs: number;
  readonly throttle: readonly [enable: boolean, qps: number, burst: number];
}

/** The options that both backends have. Compat: names and defaults of `NewAuditOptions`. */
function backendOptions(prefix: string, { mode, maxSize, maxWaitMs, throttle: [enable, qps, burst] }: BackendDefaults) {
  return {
    mode: option(
      `${prefix}-mode`,
      lateChoice(MODES),
      "batch sends events later; blocking delays responses until they are written; blocking-strict also fails the request if that fails",
      { default: mode },
    ),
    batch: group({
      bufferSize: option(`${prefix}-batch-buffer-size`, integer(), "maximum number of events that wait for a batch", {
        default: BUFFER_SIZE,
      }),
      maxSize: option(`${prefix}-batch-max-size`, integer(), "maximum number of events in a batch", {
        default: maxSize,
      }),
      maxWaitMs: option(`${prefix}-batch-max-wait`, duration, "maximum time until an incomplete batch is sent", {
        default: maxWaitMs,
      }),
      throttleEnable: option(`${prefix}-batch-throttle-enable`, boolean, "limit the rate of batches", {
        default: enable,
      }),
      throttleQps: option(`${prefix}-batch-throttle-qps`, decimal, "average number of batches per second", {
        default: qps,
      }),
      throttleBurst: option(`${prefix}-batch-throttle-burst`, integer(), "maximum number of batches at once", {
        default: burst,
      }),
    }),
    truncate: group({
      enabled: option(
        `${prefix}-truncate-enabled`,
        boolean,
        "remove the objects from events that are too large, and split batches that are too large",
        {
          default: false,
        },
      ),
      maxBatchBytes: option(`${prefix}-truncate-max-batch-size`, integer("bytes"), "maximum batch size in bytes", {
        default: 10 * 1024 * 1024,
      }),
      maxEventBytes: option(
        `${prefix}-truncate-max-event-size`,
        integer("bytes"),
        "maximum event size in bytes; requestObject and responseObject are removed from larger events, and events that are still larger are dropped",
        { default: 100 * 1024 },
      ),
    }),
  };
}

/** Options about the audit log. */
export const auditOptions = {
  audit: group({
    policyFile: option(
      "audit-policy-file",
      file(),
      "audit.k8s.io/v1 Policy; required for auditing, with --audit-log-path or --audit-webhook-config-file",
    ),
    log: group({
      path: option("audit-log-path", outputFile, "file for audit events; - for standard output"),
      format: option("audit-log-format", lateChoice(["json", "legacy"]), "format of the audit log's lines", {
        default: "json",
      }),
      maxAgeDays: option(
        "audit-log-maxage",
        integer("days"),
        "how many days rotated audit logs are kept; 0 for no limit",
        { default: 366 },
      ),
      maxBackups: option("audit-log-maxbackup", integer(), "how many rotated audit logs are kept; 0 for no limit", {
        default: 100,
      }),
      maxSizeMb: option("audit-log-maxsize", integer("MB"), "size at which the audit log is rotated; 0 for never", {
        default: 100,
      }),
      compress: option("audit-log-compress", boolean, "compress rotated audit logs with gzip", { default: false }),
      ...backendOptions("audit-log", { mode: "blocking", maxSize: 1, maxWaitMs: 0, throttle: [false, 0, 0] }),
    }),
    webhook: group({
      configFile: option("audit-webhook-config-file", file(), "kubeconfig of a webhook that receives audit events"),
      initialBackoffMs: option("audit-webhook-initial-backoff", duration, "delay before the first retry", {
        default: 10_000,
      }),
      ...backendOptions("audit-webhook", { mode: "batch", maxSize: 400, maxWaitMs: 30_000, throttle: [true, 10, 15] }),
    }),
  }),
};

/** What is written to the audit log. */
export type AuditConfig = ConfigOf<typeof auditOptions>["audit"];
/** `--audit-log-*`. */
export type AuditLogConfig = AuditConfig["log"];
/** `--audit-webhook-*`. */
export type AuditWebhookConfig = AuditConfig["webhook"];
/** Options that both backends have. */
export type BackendConfig = Pick<AuditLogConfig, "mode" | "batch" | "truncate">;

/** Throws an Error with all problems. Compat: the messages of AuditOptions.Validate. */
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
