import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { test } from "node:test";
import { startBinnacle } from "../../../test/support/binnacle.ts";
import { type Client, clientFor } from "../../../test/support/client.ts";
import { tokens } from "../../../test/support/oracle.ts";
import { eventually } from "../../../test/support/time.ts";
import type { Pod } from "../../kinds/types/workloads.ts";

test("a server that was killed does not restart the containers of its simulated nodes", async (t) => {
  const directory = await mkdtemp(path.join(tmpdir(), "binnacle-nodes-"));
  t.after(() => rm(directory, { recursive: true, force: true }));
  const start = async () => {
    const store = `--store=sqlite:${path.join(directory, "store.db")}`;
    const server = await startBinnacle({ flags: [store, "--simulated-nodes=1", "--controllers=serviceaccount"] });
    t.after(() => server.kill());
    return { server, client: clientFor(server.base, tokens.admin) };
  };
  const pods = "/api/v1/namespaces/default/pods";
  const run = async (client: Client, name: string): Promise<Pod> => {
    const containers = [{ name: "main", image: "nginx" }];
    const spec = { nodeName: "node-1", automountServiceAccountToken: false, containers };
    const body = { apiVersion: "v1", kind: "Pod", metadata: { name }, spec };
    await eventually(async () => (await client.call("POST", pods, body)).status === 201);
    let pod: Pod | undefined;
    await eventually(async () => {
      pod = (await client.call("GET", `${pods}/${name}`)).body as Pod;
      return pod.status?.phase === "Running";
    });
    assert.ok(pod);
    return pod;
  };

  const { server, client } = await start();
  const before = await run(client, "one");
  await server.process.kill({ signal: "SIGKILL" });
  const { client: next } = await start();
  await run(next, "two");
  assert.deepEqual((await next.call("GET", `${pods}/one`)).body, before);
});
