import assert from "node:assert/strict";
import { copyFile, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { test } from "node:test";
import { makeCa, makeIdentity } from "../../src/base/pki/make-certificate.ts";
import { startServer } from "../../src/programs/library/start-server.ts";
import { placePod } from "../clients/connect-steps.ts";
import { clientFor } from "../support/client.ts";
import { startKubeletNode } from "../support/kubelet-node.ts";
import { eventually } from "../support/time.ts";

const LOG = "/api/v1/namespaces/default/pods/web/log?tailLines=1";

test("uses the current client certificate and CA files for kubelets", async (t) => {
  const folder = await mkdtemp(path.join(tmpdir(), "binnacle-kubelet-"));
  t.after(() => rm(folder, { recursive: true, force: true }));
  const [cert, key, ca] = ["client.crt", "client.key", "ca.crt"].map((name) => path.join(folder, name)) as [
    string,
    string,
    string,
  ];
  const authority = makeCa("strangers", Date.now());
  const stranger = makeIdentity(authority, { commonName: "nobody" }, "client", Date.now());
  await Promise.all([
    writeFile(cert, stranger.certificate),
    writeFile(key, stranger.key),
    writeFile(ca, authority.certificate),
  ]);
  const node = await startKubeletNode();
  t.after(() => node.stop());
  const connect = { kubeletClientCertificate: cert, kubeletClientKey: key, kubeletCertificateAuthority: ca };
  const server = await startServer({ connect, log: false });
  t.after(() => server.close());
  const client = clientFor(server.url, server.token);
  await placePod(client, node);
  const failures = async (): Promise<number> => {
    const { body } = await client.call("GET", "/metrics");
    return Number(/^kube_apiserver_pod_logs_backend_tls_failure_total (\d+)$/m.exec(body)?.[1]);
  };

  assert.equal(await failures(), 0);
  const unverified = await client.call("GET", LOG);
  assert.equal(unverified.status, 500);
  assert.equal(await failures(), 1);
  const skipped = await client.call("GET", `${LOG}&insecureSkipTLSVerifyBackend=true`);
  assert.equal(skipped.body.reason, "Unauthorized", "the node does not know the server");

  await copyFile(path.join(node.folder, "ca.crt"), ca);
  await eventually(async () => (await client.call("GET", LOG)).body.reason === "Unauthorized");

  await copyFile(path.join(node.folder, "client.crt"), cert);
  await copyFile(path.join(node.folder, "client.key"), key);
  await eventually(async () => (await client.call("GET", LOG)).body === "three\n");
});
