import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { test } from "node:test";
import { freePort } from "../../../test/support/ports.ts";
import { drivenEnvironment } from "../../base/util/environment.suite.ts";
import { defaultConfig } from "./config.ts";
import { startServer } from "./server.ts";

/** What a server answers to the same requests, with the same time and chance. */
async function answers(seed: number) {
  const environment = drivenEnvironment(seed);
  const certDir = await mkdtemp(path.join(tmpdir(), "binnacle-environment-"));
  const insecurePort = await freePort();
  const config = { ...defaultConfig, certDir, securePort: 0, insecurePort, controllers: "none", shutdownGraceMs: 0 };
  const server = await startServer(config, environment);
  try {
    const url = `${server.insecureUrl}/api/v1/namespaces`;
    const create = async () => {
      const body = JSON.stringify({ metadata: { generateName: "n-" } });
      const response = await fetch(url, { method: "POST", body, headers: { "content-type": "application/json" } });
      const { metadata } = (await response.json()) as { metadata: Record<string, unknown> };
      const { name, uid, creationTimestamp } = metadata;
      return { name, uid, creationTimestamp, auditId: response.headers.get("audit-id") };
    };
    const first = await create();
    await environment.clock.advance(5000);
    return { created: [first, await create()], lines: environment.lines.map(({ text }) => text) };
  } finally {
    await server.close();
    await rm(certDir, { recursive: true, force: true });
  }
}

test("a server only uses the injected clock and randomness", async () => {
  const [one, same, other] = [await answers(1), await answers(1), await answers(2)];
  assert.deepEqual(one, same);
  assert.deepEqual(
    one.created.map(({ creationTimestamp }) => creationTimestamp),
    ["2026-01-01T00:00:00Z", "2026-01-01T00:00:05Z"],
  );
  assert.notEqual(one.created[0]?.uid, other.created[0]?.uid);
  assert.notEqual(one.created[0]?.auditId, other.created[0]?.auditId);
  const warning = "insecure port: every local process is cluster-admin";
  assert.deepEqual(one.lines, [warning], "nothing else was amiss");
});
