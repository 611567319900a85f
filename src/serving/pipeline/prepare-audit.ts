import { readFile } from "node:fs/promises";
import type { Writable } from "node:stream";
import { AuditMetrics, Auditor, lossReporter } from "../../access/audit/auditor.ts";
import { type AuditBackend, ignoringErrors, joined, type ReportLoss } from "../../access/audit/backend.ts";
import { BatchBackend } from "../../access/audit/batch.ts";
import { type LineWriter, LogBackend } from "../../access/audit/log.ts";
import {
  type AuditConfig,
  type AuditLogConfig,
  type AuditWebhookConfig,
  type BackendConfig,
  requireValidAudit,
} from "../../access/audit/options.ts";
import { parsePolicy } from "../../access/audit/policy.ts";
import { policyEvaluator } from "../../access/audit/policy-match.ts";
import { RotatingFile } from "../../access/audit/rotating-file.ts";
import { truncating } from "../../access/audit/truncate.ts";
import { WebhookBackend } from "../../access/audit/webhook.ts";
import type { Call } from "../../base/api/call.ts";
import type { RequestInfo } from "../../base/api/request-info.ts";
import type { MetricRegistry } from "../../base/metrics/metrics.ts";
import { JsonClient } from "../../base/net/json-client.ts";
import type { Environment } from "../../base/util/environment.ts";
import { jsonBody } from "../../data/encoding/reply/reply.ts";
import { readKubeconfig } from "../../data/kubeconfig/kubeconfig-read.ts";
import type { AnswerContext } from "./answer.ts";
import { type AuditStages, auditStages } from "./audit.ts";
import type { PathFacts } from "./path-facts.ts";

/** The configured audit backends and policy. */
export interface Audit {
  /** Returns undefined if auditing is disabled. */
  stages(facts: PathFacts, forms: Pick<AnswerContext, "now" | "schemaOf" | "kindOf">): AuditStages | undefined;
  /** Flushes pending events and closes the backends. */
  close(): Promise<void>;
}

const NO_AUDIT: Audit = { stages: () => undefined, close: async () => {} };

/** Reads the policy and opens the backends. Rejects if a file cannot be read or is invalid. */
export async function prepareAudit(
  config: AuditConfig,
  environment: Environment,
  registry: MetricRegistry,
): Promise<Audit> {
  requireValidAudit(config);
  const { policyFile } = config;
  // Compat: without `--audit-policy-file` no events are recorded, whatever backends are configured.
  if (policyFile === undefined) return NO_AUDIT;
  const { clock, log } = environment;
  const bytes = await readFile(policyFile).catch((error: Error) => {
    throw new Error(
      `loading audit policy file: failed to read file path ${JSON.stringify(policyFile)}: ${error.message}`,
    );
  });
  const policy = parsePolicy(bytes, policyFile, (text) => log.warn(text));
  const metrics = new AuditMetrics(registry);
  const report = lossReporter(metrics, (text, err) => log.error(text, { err }));
  const backends = [
    ...(config.log.path === undefined ? [] : [await logBackend(config.log, environment, report)]),
    ...(config.webhook.configFile === undefined ? [] : [await webhookBackend(config.webhook, environment, report)]),
  ];
  if (backends.length === 0) return NO_AUDIT;
  const auditor = new Auditor({ evaluate: policyEvaluator(policy), backend: joined(backends), clock, metrics });
  return {
    stages: (facts, { now, schemaOf, kindOf }) =>
      auditStages({
        auditor,
        isLongRunning: facts.isLongRunning,
        isSecret: (info: RequestInfo) => facts.isSecret(info),
        jsonOf: ({ request, info }: Call, reply) => {
          const isCustom = info.isResource && kindOf(info)?.isUnstructured === true;
          return jsonBody(request, reply, { warnings: [], auditId: "", now, schemaOf, isCustom });
        },
      }),
    close: () => auditor.close(),
  };
}

async function logBackend(config: AuditLogConfig, environment: Environment, report: ReportLoss): Promise<AuditBackend> {
  const { path: file = "", format, maxAgeDays, maxBackups, maxSizeMb, compress } = config;
  const { clock, log } = environment;
  const writer =
    file === "-"
      ? streamWriter(process.stdout)
      : await RotatingFile.open({
          ...{ file, maxAgeDays, maxBackups, compress, clock },
          maxBytes: maxSizeMb * 1024 * 1024,
          report: (error) => log.error("cleaning up old audit log files failed", { err: error, file }),
        });
  return wrapped(new LogBackend(writer, format, report), config, { environment, report, concurrency: 1 });
}

const WEBHOOK_TIMEOUT_MS = 30_000;
const WEBHOOK_CONCURRENCY = 32;
const MAX_ANSWER_BYTES = 1024 * 1024;

async function webhookBackend(
  config: AuditWebhookConfig,
  environment: Environment,
  report: ReportLoss,
): Promise<AuditBackend> {
  const { clock, random } = environment;
  const client = new JsonClient(await readKubeconfig(config.configFile ?? ""), clock);
  const webhook = new WebhookBackend({
    ...{ clock, random, report, initialBackoffMs: config.initialBackoffMs },
    async send(json, signal) {
      const limits = { timeoutMs: WEBHOOK_TIMEOUT_MS, maxBytes: MAX_ANSWER_BYTES, signal };
      const { status } = await client.post(json, limits);
      if (status < 200 || status > 299) throw new Error(`audit webhook responded with status ${status}`);
    },
  });
  const closing: AuditBackend = {
    process: (events) => webhook.process(events),
    hurry: () => webhook.hurry(),
    async close() {
      await webhook.close();
      client.close();
    },
  };
  return wrapped(closing, config, { environment, report, concurrency: WEBHOOK_CONCURRENCY });
}

interface Wrapping {
  readonly environment: Environment;
  readonly report: ReportLoss;
  readonly concurrency: number;
}

/** Adds the configured mode, batching, throttling and truncation to a backend. */
function wrapped(
  backend: AuditBackend,
  config: BackendConfig,
  { environment, report, concurrency }: Wrapping,
): AuditBackend {
  const { mode, batch, truncate } = config;
  const { throttleEnable, throttleQps, throttleBurst, ...sizes } = batch;
  const options = {
    ...sizes,
    ...(throttleEnable && { throttle: { qps: throttleQps, burst: throttleBurst } }),
    concurrency,
  };
  const modes = {
    batch: () => new BatchBackend(backend, options, environment.clock, report),
    blocking: () => ignoringErrors(backend),
    "blocking-strict": () => backend,
  };
  const chosen = modes[mode]();
  return truncate.enabled ? truncating(chosen, truncate, report) : chosen;
}

/** Writes to a stream without closing it: the stream is shared. */
function streamWriter(stream: Writable): LineWriter {
  return {
    write: (text) =>
      new Promise((resolve, reject) => {
        stream.write(text, (error) => (error ? reject(error) : resolve()));
      }),
    close: async () => {},
  };
}
