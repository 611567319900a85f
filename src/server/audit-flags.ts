import { type Command, InvalidArgumentError, Option } from "commander";
import type { AuditConfig, AuditMode, BackendConfig } from "../audit/options.ts";

/** What the flags of audit were set to, by their names in camel case. */
export type AuditFlags = Readonly<Record<`audit${string}`, unknown>>;

type Read<T> = (text: string) => T;

function integer(text: string): number {
  if (!/^-?\d{1,15}$/.test(text)) throw new InvalidArgumentError("expected a whole number");
  return Number(text);
}

function decimal(text: string): number {
  if (!/^-?\d{1,9}(\.\d{1,9})?$/.test(text)) throw new InvalidArgumentError("expected a number");
  return Number(text);
}

function isOn(text: string): boolean {
  if (text !== "true" && text !== "false") throw new InvalidArgumentError("expected true or false");
  return text === "true";
}

/** Adds the flags, under kube-apiserver's names. `duration` reads a span of time in milliseconds. */
export function addAuditFlags(command: Command, { log, webhook }: AuditConfig, duration: Read<number>): Command {
  const add = <T>(flag: string, text: string, read: Read<T>, value: T, shown?: string): void => {
    const option = new Option(flag, text).argParser(read).default(value, shown);
    command.addOption(read === (isOn as unknown) ? option.preset("true") : option);
  };
  command.option("--audit-policy-file <file>", "which requests are written down, an audit.k8s.io/v1 Policy");
  command.option("--audit-log-path <file>", "where requests are written down, - for standard output");
  const format = (text: string) => text as AuditConfig["log"]["format"];
  add("--audit-log-format <json|legacy>", "form of the lines", format, log.format);
  add("--audit-log-maxage <days>", "how long old audit logs are kept, 0 for ever", integer, log.maxAgeDays);
  add("--audit-log-maxbackup <count>", "how many old audit logs are kept, 0 for all", integer, log.maxBackups);
  add("--audit-log-maxsize <MB>", "size at which an audit log is set aside, 0 for never", integer, log.maxSizeMb);
  add("--audit-log-compress [on]", "old audit logs are compressed", isOn, log.compress);
  command.option("--audit-webhook-config-file <file>", "kubeconfig of a server that audit events are sent to");
  const backoff = "--audit-webhook-initial-backoff <time>";
  add(backoff, "wait before the second attempt", duration, webhook.initialBackoffMs, "10s");
  for (const [plugin, { mode, batch, truncate }] of Object.entries({ log, webhook })) {
    const flag = `--audit-${plugin}`;
    add(`${flag}-mode <batch|blocking|blocking-strict>`, "who waits for events", (text) => text as AuditMode, mode);
    add(`${flag}-batch-buffer-size <count>`, "events that may wait", integer, batch.bufferSize);
    add(`${flag}-batch-max-size <count>`, "events of a batch", integer, batch.maxSize);
    add(
      `${flag}-batch-max-wait <time>`,
      "how long a batch is collected",
      duration,
      batch.maxWaitMs,
      `${batch.maxWaitMs / 1000}s`,
    );
    add(`${flag}-batch-throttle-enable [on]`, "batches per second are limited", isOn, batch.throttleEnable);
    add(`${flag}-batch-throttle-qps <number>`, "batches per second", decimal, batch.throttleQps);
    add(`${flag}-batch-throttle-burst <count>`, "batches at once after a pause", integer, batch.throttleBurst);
    add(`${flag}-truncate-enabled [on]`, "events that are too large lose their objects", isOn, truncate.enabled);
    const sizes = [truncate.maxBatchBytes, truncate.maxEventBytes] as const;
    add(`${flag}-truncate-max-batch-size <bytes>`, "what is passed on at once", integer, sizes[0]);
    add(`${flag}-truncate-max-event-size <bytes>`, "size of an event", integer, sizes[1]);
  }
  return command;
}

/** The configuration that the flags describe. */
export function auditOf(flags: AuditFlags): AuditConfig {
  const get = <T>(name: `audit${string}`): T => flags[name] as T;
  const backend = (plugin: "Log" | "Webhook"): BackendConfig => ({
    mode: get(`audit${plugin}Mode`),
    batch: {
      bufferSize: get(`audit${plugin}BatchBufferSize`),
      maxSize: get(`audit${plugin}BatchMaxSize`),
      maxWaitMs: get(`audit${plugin}BatchMaxWait`),
      throttleEnable: get(`audit${plugin}BatchThrottleEnable`),
      throttleQps: get(`audit${plugin}BatchThrottleQps`),
      throttleBurst: get(`audit${plugin}BatchThrottleBurst`),
    },
    truncate: {
      enabled: get(`audit${plugin}TruncateEnabled`),
      maxBatchBytes: get(`audit${plugin}TruncateMaxBatchSize`),
      maxEventBytes: get(`audit${plugin}TruncateMaxEventSize`),
    },
  });
  return {
    policyFile: get("auditPolicyFile"),
    log: {
      ...backend("Log"),
      path: get("auditLogPath"),
      format: get("auditLogFormat"),
      maxAgeDays: get("auditLogMaxage"),
      maxBackups: get("auditLogMaxbackup"),
      maxSizeMb: get("auditLogMaxsize"),
      compress: get("auditLogCompress"),
    },
    webhook: {
      ...backend("Webhook"),
      configFile: get("auditWebhookConfigFile"),
      initialBackoffMs: get("auditWebhookInitialBackoff"),
    },
  };
}
