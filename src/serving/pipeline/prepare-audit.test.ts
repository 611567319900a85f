import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { suite, type TestContext, test } from "node:test";
import { MetricRegistry } from "../../base/metrics/metrics.ts";
import { drivenEnvironment } from "../../base/util/environment.suite.ts";
import { defaultConfig } from "../../programs/server/config.ts";
import { callInProcess } from "./in-process.ts";
import { compose } from "./pipeline.ts";
import { prepareAudit } from "./prepare-audit.ts";

const defaultAuditConfig = defaultConfig.audit;
const POLICY = "apiVersion: audit.k8s.io/v1\nkind: Policy\nrules: [{level: Metadata}]";
const facts = {
  ...{
    isLongRunning: () => false,
    isPassedOn: () => false,
    isSecret: () => false,
    hasTable: () => false,
    isUnstructured: () => false,
  },
  ...{ findServed: () => undefined, kindOf: () => undefined },
};

async function folderOf(t: TestContext): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), "binnacle-audit-"));
  t.after(() => rm(folder, { recursive: true }));
  return folder;
}

suite("audit configuration", () => {
  test("adds no stages without a policy", async () => {
    const log = { ...defaultAuditConfig.log, path: "/nowhere/audit.log" };
    const audit = await prepareAudit({ ...defaultAuditConfig, log }, drivenEnvironment(), new MetricRegistry());
    assert.equal(audit.stages(facts, { now: () => 0, schemaOf: () => undefined, kindOf: () => undefined }), undefined);
    await audit.close();
  });

  test("rejects a missing or invalid policy at startup", async (t) => {
    const policyFile = path.join(await folderOf(t), "policy");
    const start = () => prepareAudit({ ...defaultAuditConfig, policyFile }, drivenEnvironment(), new MetricRegistry());
    await assert.rejects(start(), /loading audit policy file: failed to read file path/);
    await writeFile(policyFile, "kind: Policy");
    await assert.rejects(
      start(),
      /loading audit policy file: unknown group version field audit.k8s.io\/__internal, Kind=Policy/,
    );
    await writeFile(policyFile, "kind: Policy\napiVersion: audit.k8s.io/v9");
    await assert.rejects(start(), /loading audit policy file: failed decoding/);
  });

  test("sends EventLists to the webhook and flushes pending events on close", async (t) => {
    const bodies: string[] = [];
    const receiver = createServer(async (request, response) => {
      bodies.push(Buffer.concat(await request.toArray()).toString());
      response.end("{}");
    });
    await new Promise<void>((resolve) => void receiver.listen(0, "127.0.0.1", resolve));
    t.after(() => receiver.close());
    const folder = await folderOf(t);
    const [policyFile, configFile] = [path.join(folder, "policy"), path.join(folder, "kubeconfig")];
    const { port } = receiver.address() as AddressInfo;
    const cluster = `clusters: [{name: c, cluster: {server: "http://127.0.0.1:${port}"}}]`;
    await writeFile(configFile, `${cluster}\ncontexts: [{name: c, context: {cluster: c}}]`);
    await writeFile(policyFile, POLICY);
    const environment = drivenEnvironment();
    const webhook = { ...defaultAuditConfig.webhook, configFile };
    const audit = await prepareAudit({ ...defaultAuditConfig, policyFile, webhook }, environment, new MetricRegistry());
    const stages = audit.stages(facts, { now: () => 0, schemaOf: () => undefined, kindOf: () => undefined });
    const handler = compose([stages?.requests ?? assert.fail()], async () => ({
      ...({ type: "raw", code: 200, headers: {}, body: "" } as const),
    }));
    const user = { name: "alice", groups: [] };
    await callInProcess(handler, { method: "GET", path: "/version", user }, environment.random);
    assert.deepEqual(bodies, [], "a batch is not full yet");
    await audit.close();
    const events = bodies.flatMap((body) => JSON.parse(body).items as { stage: string; user: object }[]);
    assert.deepEqual(
      events.map(({ stage }) => stage),
      ["RequestReceived", "ResponseComplete"],
    );
    assert.deepEqual(events[0]?.user, { username: "alice" });
  });
});
