import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { startLivingCluster } from "./living.ts";
import type { Outcome } from "./names.ts";
import { runShare } from "./suite.ts";
import { WebhookPrograms } from "./webhook-programs.ts";

/**
 * npm run compare conformance-webhooks [PATTERN]
 * Runs the official AdmissionWebhook tests against Binnacle: with the real controller manager, scheduler and KWOK, so that
 * the Deployment of the webhook becomes ready, and with the webhook of the tests' own image as a local program behind its
 * Service. `tools/provide conformance conformance-webhook kube-controller-manager kube-scheduler kwok` builds them.
 */
const PREFIX = "[sig-api-machinery] AdmissionWebhook [Privileged:ClusterAdmin]";
const TESTS = [
  "should include webhook resources in discovery documents",
  "should be able to deny pod and configmap creation",
  "should be able to deny attaching pod",
  "should be able to deny custom resource creation, update and deletion",
  "should unconditionally reject operations on fail closed webhook",
  "should mutate configmap",
  "should mutate pod and apply defaults after mutation",
  "should not be able to mutate or prevent deletion of webhook configuration objects",
  "should mutate custom resource",
  "should deny crd creation",
  "should mutate custom resource with different stored version",
  "should mutate custom resource with pruning",
  "should honor timeout",
  "patching/updating a validating webhook should work",
  "patching/updating a mutating webhook should work",
  "listing validating webhooks should work",
  "listing mutating webhooks should work",
  "should be able to create and update validating webhook configurations with match conditions",
  "should be able to create and update mutating webhook configurations with match conditions",
  "should reject validating webhook configurations with invalid match conditions",
  "should reject mutating webhook configurations with invalid match conditions",
  "should mutate everything except 'skip-me' configmaps",
].map((name) => `${PREFIX} ${name} [Conformance]`);

const WITHIN_MS = 30 * 60_000;
const print = (line: string) => process.stdout.write(`${line}\n`);

async function run(folder: string, names: readonly string[]): Promise<Outcome[]> {
  const ports = path.join(folder, "ports.json");
  process.env.WEBHOOK_PORTS = ports;
  const handlers = path.join(import.meta.dirname, "webhook-handlers.ts");
  const cluster = path.join(folder, "cluster");
  const certificates = path.join(folder, "webhooks");
  for (const one of [cluster, certificates]) await mkdir(one);
  const server = await startLivingCluster("binnacle", cluster, { flags: [`--handlers=${handlers}`] });
  try {
    const webhooks = new WebhookPrograms(server.base, certificates, ports);
    try {
      const interrupted = new AbortController();
      for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => interrupted.abort());
      const suite = { server, seed: 1, signal: interrupted.signal };
      const report = path.join(folder, "report.json");
      const outcomes = await runShare({ names }, { ...suite, report, withinMs: WITHIN_MS });
      print(`${webhooks.started} webhooks were started`);
      return outcomes;
    } finally {
      await webhooks.stop();
    }
  } finally {
    await server.kill();
  }
}

const pattern = new RegExp(process.argv[2] ?? "");
const folder = await mkdtemp(path.join(tmpdir(), "binnacle-webhook-conformance-"));
try {
  const began = performance.now();
  const outcomes = await run(
    folder,
    TESTS.filter((name) => pattern.test(name)),
  );
  for (const { name, state, seconds, message } of outcomes) {
    print(`${state.padEnd(7)} ${seconds.toFixed(1).padStart(6)} s  ${name.slice(PREFIX.length + 1)}`);
    if (state !== "passed") print(`                  ${message.split("\n").slice(0, 6).join("\n                  ")}`);
  }
  const passed = outcomes.filter(({ state }) => state === "passed").length;
  print(`${passed} passed of ${outcomes.length} in ${((performance.now() - began) / 1000).toFixed(0)} s`);
  if (passed < outcomes.length) process.exitCode = 1;
} finally {
  await rm(folder, { recursive: true, force: true });
}
