import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import path from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";

const run = promisify(execFile);
const SOURCES = path.join(import.meta.dirname, "..", "..");

/** Prints the output of a program that never closes its control plane. Rejects if it ends with an error. */
async function outputOf(program: string): Promise<string> {
  const imports = `
    import { CoreV1Api, KubeConfig } from "@kubernetes/client-node";
    import { startControlPlane } from "./testing.ts";
    const cp = await startControlPlane({ manifests: { apiVersion: "v1", kind: "Namespace", metadata: { name: "n" } } });
  `;
  const args = ["--input-type=module", "-e", imports + program];
  return (await run(process.execPath, args, { cwd: SOURCES })).stdout;
}

test("a control plane that is never closed does not keep the process alive", async () => {
  const overTls = `
    const fork = await cp.fork();
    const config = new KubeConfig();
    config.loadFromString(fork.kubeconfig);
    console.log((await config.makeApiClient(CoreV1Api).readNamespace({ name: "n" })).metadata.name);
    await cp.settled();
  `;
  assert.equal(await outputOf(overTls), "n\n");
});

test("an open request in process keeps the process alive, as a connection would", async () => {
  const delayed = `
    cp.faults.latency({ verb: "get", resource: "namespaces", by: { ms: 50 } });
    console.log((await cp.kubeConfig().makeApiClient(CoreV1Api).readNamespace({ name: "n" })).metadata.name);
    const watch = await cp.fetch("/api/v1/namespaces?watch=1&timeoutSeconds=1&resourceVersion=0&allowWatchBookmarks=true");
    console.log((await watch.text()).length > 0);
  `;
  assert.equal(await outputOf(delayed), "n\ntrue\n");
});
