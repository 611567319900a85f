import assert from "node:assert/strict";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { test } from "node:test";
import type { KubeObject } from "../../src/base/api/object.ts";
import { systemEnvironment } from "../../src/base/log/system-environment.ts";
import { decodeYaml } from "../../src/data/encoding/yaml/yaml.ts";
import { defaultConfig } from "../../src/programs/server/config.ts";
import { startServer } from "../../src/programs/server/server.ts";
import { clientFor } from "../support/client.ts";
import { eventually } from "../support/time.ts";

const PAGE = path.join(import.meta.dirname, "..", "..", "docs", "admission.md");
const DEPLOYMENTS = "/apis/apps/v1/namespaces/default/deployments?dryRun=All";

test("the policies that docs/admission.md shows do what it says", async (t) => {
  const folder = await mkdtemp(path.join(tmpdir(), "binnacle-documented-"));
  t.after(() => rm(folder, { recursive: true }));
  const own = { certDir: folder, securePort: 0, shutdownGraceMs: 100 } as const;
  const server = await startServer({ ...defaultConfig, ...own }, systemEnvironment());
  t.after(() => server.close());
  const client = clientFor(server.url, server.token);
  const page = await readFile(PAGE, "utf8");
  const section = page.slice(page.indexOf("## Policies"), page.indexOf("## Webhooks"));
  const documents = [...section.matchAll(/```yaml\n(.*?)```/gs)].flatMap(([, text = ""]) => text.split("---\n"));
  assert.equal(documents.length, 4);
  for (const text of documents) {
    const object = decodeYaml(Buffer.from(text)).value as KubeObject;
    const plural = `${object.kind.toLowerCase()}s`.replace(/ys$/, "ies");
    const { status, body } = await client.call("POST", `/apis/${object.apiVersion}/${plural}`, object);
    assert.equal(status, 201, JSON.stringify(body));
  }
  const deployment = (replicas: number) => ({
    metadata: { name: "web" },
    spec: {
      replicas,
      selector: { matchLabels: { app: "a" } },
      template: { metadata: { labels: { app: "a" } }, spec: { containers: [{ name: "a", image: "a" }] } },
    },
  });
  await eventually(async () => (await client.call("POST", DEPLOYMENTS, deployment(9))).status === 422);
  const { body } = await client.call("POST", DEPLOYMENTS, deployment(9));
  assert.ok(page.includes(`    ${body.message}\n`), body.message);
  const created = await client.call("POST", DEPLOYMENTS, deployment(5));
  assert.deepEqual(created.body.metadata.labels, { "created-by": "kubernetes-admin" });
});
