import assert from "node:assert/strict";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, suite, test } from "node:test";
import { type RunningBinnacle, startBinnacle } from "./support/binnacle.ts";
import { clientFor } from "./support/client.ts";
import { type Kubectl, kubectlFor } from "./support/kubectl.ts";
import { tokens } from "./support/oracle.ts";
import { needs } from "./support/tools.ts";

suite("the handlers of docs/connect.md", { ...needs("kubectl") }, () => {
  let folder: string;
  let server: RunningBinnacle;
  let kubectl: Kubectl;

  before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), "binnacle-docs-"));
    const page = await readFile(path.join(import.meta.dirname, "..", "docs", "connect.md"), "utf8");
    const [, example = ""] = /```ts\n([^`]*(?:`[^`][^`]*)*)```/.exec(page) ?? [];
    const file = path.join(folder, "handlers.ts");
    await writeFile(file, example);
    server = await startBinnacle({ flags: [`--handlers=${file}`] });
    kubectl = kubectlFor(server.kubeconfig);
    const client = clientFor(server.base, tokens.admin);
    await client.call("POST", "/api/v1/namespaces/default/serviceaccounts", { metadata: { name: "default" } });
    const spec = { automountServiceAccountToken: false, containers: [{ name: "main", image: "x" }] };
    const { status } = await client.call("POST", "/api/v1/namespaces/default/pods", {
      metadata: { name: "web" },
      spec,
    });
    assert.equal(status, 201);
  });
  after(async () => {
    await server?.kill();
    await rm(folder, { recursive: true, force: true });
  });

  test("run commands", async () => {
    assert.equal((await kubectl(["exec", "web", "--", "hostname"])).stdout, "web\n");
    assert.equal((await kubectl(["exec", "-i", "web", "--", "cat"], { input: "hello" })).stdout, "hello");
    const { code, stderr } = await kubectl(["exec", "web", "--", "nothing"]);
    assert.deepEqual([code, stderr.split("\n")[0]], [127, "nothing: not found"]);
  });

  test("run commands by SPDY", async () => {
    const env = { KUBECTL_REMOTE_COMMAND_WEBSOCKETS: "false" };
    assert.equal((await kubectl(["exec", "-i", "web", "--", "cat"], { input: "hello", env })).stdout, "hello");
  });

  test("have logs", async () => {
    assert.equal((await kubectl(["logs", "web", "--tail=1"])).stdout, "main: line 1\n");
  });
});
