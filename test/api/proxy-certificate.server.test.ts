import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { test } from "node:test";
import type { JsonObject } from "../../src/base/api/object.ts";
import { systemEnvironment } from "../../src/base/log/system-environment.ts";
import { makeCa, makeIdentity } from "../../src/base/pki/make-certificate.ts";
import { defaultConfig } from "../../src/programs/server/config.ts";
import { startServer } from "../../src/programs/server/server.ts";
import { clientFor } from "../support/client.ts";
import { EXTENSION_GROUP, startExtensionServer } from "../support/extension-server.ts";
import { eventually } from "../support/time.ts";

test("presents the current certificate of --proxy-client-cert-file to extension servers", async () => {
  const folder = await mkdtemp(path.join(tmpdir(), "binnacle-proxy-certificate-"));
  const files = {
    proxyClientCertFile: path.join(folder, "proxy.crt"),
    proxyClientKeyFile: path.join(folder, "proxy.key"),
  };
  const stranger = makeIdentity(makeCa("strangers", Date.now()), { commonName: "nobody" }, "client", Date.now());
  await writeFile(files.proxyClientCertFile, stranger.certificate);
  await writeFile(files.proxyClientKeyFile, stranger.key);
  const own = { securePort: 0, controllers: "none", shutdownGraceMs: 100, ...files } as const;
  const extension = await startExtensionServer("metrics");
  const server = await startServer({ ...defaultConfig, ...own }, systemEnvironment());
  try {
    const client = clientFor(server.url, server.token);
    const services = "/api/v1/namespaces/default/services";
    await client.call("POST", services, {
      metadata: { name: "metrics" },
      spec: { type: "ExternalName", externalName: "localhost" },
    });
    const name = `v1.${EXTENSION_GROUP}`;
    const { caBundle, port } = extension;
    const service = { namespace: "default", name: "metrics", port };
    const spec = { group: EXTENSION_GROUP, version: "v1", groupPriorityMinimum: 100, versionPriority: 10, service };
    const path = "/apis/apiregistration.k8s.io/v1/apiservices";
    await client.call("POST", path, { metadata: { name }, spec: { ...spec, caBundle } });
    const condition = async (status: string): Promise<JsonObject | undefined> => {
      const { body } = await client.call("GET", `${path}/${name}`);
      const [found] = (body.status?.conditions ?? []) as JsonObject[];
      return found?.status === status ? found : undefined;
    };
    const refused = await eventually(() => condition("False"));
    assert.match(String(refused.message), /bad status from .*: 401$/);
    // One file changes after the other; nothing changes until they match.
    await writeFile(files.proxyClientKeyFile, extension.proxy.key);
    await writeFile(files.proxyClientCertFile, extension.proxy.cert);
    const merge = { "content-type": "application/merge-patch+json" };
    let times = 0;
    await eventually(
      async () => {
        times += 1;
        // A change of its Service triggers a check.
        const touch = { metadata: { annotations: { touched: String(times) } } };
        await client.call("PATCH", `${services}/metrics`, touch, merge);
        return condition("True");
      },
      { everyMs: 200 },
    );
    assert.equal((await client.call("GET", `/apis/${EXTENSION_GROUP}/v1/nodes`)).status, 200);
  } finally {
    await server.close();
    await extension.stop();
    await rm(folder, { recursive: true });
  }
});
