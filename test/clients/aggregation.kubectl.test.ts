import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { request } from "node:https";
import { tmpdir } from "node:os";
import path from "node:path";
import type { Duplex } from "node:stream";
import { after, before, suite, test } from "node:test";
import { CustomObjectsApi, KubeConfig } from "@kubernetes/client-node";
import { type RunningBinnacle, startBinnacle } from "../support/binnacle.ts";
import { type Client, clientFor } from "../support/client.ts";
import {
  EXTENSION_GROUP,
  EXTENSION_SWAGGER,
  type ExtensionServer,
  startExtensionServer,
} from "../support/extension-server.ts";
import { type Kubectl, kubectlFor } from "../support/kubectl.ts";
import { tokens } from "../support/oracle.ts";
import { eventually } from "../support/time.ts";
import { needs } from "../support/tools.ts";

const SERVICES = "/apis/apiregistration.k8s.io/v1/apiservices";
const ROOT = `/apis/${EXTENSION_GROUP}/v1`;
const NAME = `v1.${EXTENSION_GROUP}`;

suite("an extension server behind an APIService", { ...needs("kubectl") }, () => {
  let folder: string;
  let extension: ExtensionServer;
  let server: RunningBinnacle;
  let client: Client;
  let kubectl: Kubectl;

  before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), "binnacle-aggregation-"));
    extension = await startExtensionServer("metrics");
    const [cert, key] = [path.join(folder, "proxy.crt"), path.join(folder, "proxy.key")];
    await writeFile(cert, extension.proxy.cert);
    await writeFile(key, extension.proxy.key);
    server = await startBinnacle({ flags: [`--proxy-client-cert-file=${cert}`, `--proxy-client-key-file=${key}`] });
    client = clientFor(server.base, tokens.admin);
    kubectl = kubectlFor(server.kubeconfig);
  });
  after(async () => {
    // A server that did not start must not keep the others alive.
    await server?.kill();
    await extension?.stop();
    await rm(folder, { recursive: true });
  });

  const condition = async (name = NAME) => {
    const { body } = await client.call("GET", `${SERVICES}/${name}`);
    const { status, reason, message } = body.status?.conditions?.[0] ?? {};
    return status === undefined ? undefined : [status, reason, message];
  };
  const register = (group: string, name: string, port: number, more: object = {}) =>
    client.call("POST", SERVICES, {
      metadata: { name: `v1.${group}` },
      spec: {
        group,
        version: "v1",
        groupPriorityMinimum: 100,
        versionPriority: 10,
        service: { namespace: "default", name, port },
        ...more,
      },
    });

  test("what keeps it from being available is told as kube-apiserver tells it", async () => {
    const services = "/api/v1/namespaces/default/services";
    const ports = [{ port: 443, name: "https" }];
    await client.call("POST", services, { metadata: { name: "ours" }, spec: { ports } });
    await client.call("POST", services, { metadata: { name: "headless" }, spec: { clusterIP: "None", ports } });
    await client.call("POST", services, {
      metadata: { name: "metrics" },
      spec: { type: "ExternalName", externalName: "localhost" },
    });
    const url = "https://localhost:1/apis/refused.example.com/v1";
    const refused = `failing or missing response from ${url}: Get "${url}": dial tcp 127.0.0.1:1: connect: connection refused`;
    const rows: [group: string, service: string, port: number, reason: string, message: string][] = [
      ["missing", "none", 443, "ServiceNotFound", 'service/none in "default" is not present'],
      ["port", "ours", 444, "ServicePortError", 'service/ours in "default" is not listening on port 444'],
      [
        "endpoints",
        "ours",
        443,
        "MissingEndpoints",
        'endpointslices for service/ours in "default" have no addresses with port name "https"',
      ],
      ["headless", "headless", 443, "FailedDiscoveryCheck", 'cannot route to service with ClusterIP "None"'],
      ["refused", "metrics", 1, "FailedDiscoveryCheck", refused],
    ];
    for (const [group, service, port] of rows) {
      await register(`${group}.example.com`, service, port, { insecureSkipTLSVerify: true });
    }
    for (const [group, , , reason, message] of rows) {
      const found = await eventually(() => condition(`v1.${group}.example.com`));
      assert.deepEqual(found, ["False", reason, message]);
    }
    const { status, body, headers } = await client.call("GET", "/apis/refused.example.com/v1/things");
    assert.deepEqual([status, body], [503, "service unavailable\n"]);
    assert.equal(headers["content-type"], "text/plain; charset=utf-8");
  });

  test("it becomes available, and discovery has what it serves", async () => {
    const { caBundle, port } = extension;
    assert.equal((await register(EXTENSION_GROUP, "metrics", port, { caBundle })).status, 201);
    await eventually(async () => (await condition())?.[0] === "True");
    assert.deepEqual(await condition(), ["True", "Passed", "all checks passed"]);
    const { stdout } = await kubectl(["api-resources", `--api-group=${EXTENSION_GROUP}`]);
    assert.match(stdout, /nodes +metrics.example.com\/v1 +false +NodeMetrics/);
    const { body: group } = await client.call("GET", `/apis/${EXTENSION_GROUP}`);
    assert.equal(group.preferredVersion.version, "v1");
    assert.equal((await client.call("GET", `/openapi/v3${ROOT}`)).body.info.title, "extension");
    const listed = async () => {
      const index = await client.call("GET", "/openapi/v3");
      return JSON.parse(index.body).paths[ROOT.slice(1)].serverRelativeURL;
    };
    // The index of the extension server is read once it is known to be available.
    await eventually(async () => (await listed()) === `/openapi/v3${ROOT}?hash=C0FFEE`);
  });

  test("its OpenAPI v2 document is part of ours, under other names where both have the same", async () => {
    const nodes = `${ROOT}/nodes`;
    const merged = await eventually(async () => {
      const { body } = await client.call("GET", "/openapi/v2");
      return nodes in body.paths ? body : undefined;
    });
    const meta = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta";
    const { definitions, paths } = merged;
    const own = EXTENSION_SWAGGER.definitions;
    assert.deepEqual(definitions[`${meta}_v2`], own[meta]);
    assert.deepEqual(definitions["com.example.NodeMetrics"].properties.metadata, { $ref: `#/definitions/${meta}_v2` });
    assert.ok(definitions[meta].properties.labels);
    assert.deepEqual(paths[nodes], EXTENSION_SWAGGER.paths[nodes]);
    // What is not in its group version is left out.
    assert.equal(paths["/apis/other.example.com/v1/x"], undefined);
    assert.equal(definitions["com.example.Other"], undefined);
    // kubectl reads the binary form.
    const explained = await kubectl(["explain", "pods.spec.containers", "--output=plaintext-openapiv2"]);
    assert.match(explained.stdout, /livenessProbe\t<Object>/, explained.stderr);
  });

  test("kubectl and client-node read from it", async () => {
    const { stdout, stderr } = await kubectl(["get", `nodes.${EXTENSION_GROUP}`, "-o", "name"]);
    assert.equal(stdout, `nodemetrics.${EXTENSION_GROUP}/node-a\nnodemetrics.${EXTENSION_GROUP}/node-b\n`, stderr);
    const config = new KubeConfig();
    config.loadFromFile(server.kubeconfig);
    const api = config.makeApiClient(CustomObjectsApi);
    const found = await api.getClusterCustomObject({
      group: EXTENSION_GROUP,
      version: "v1",
      plural: "nodes",
      name: "node-a",
    });
    assert.equal(found.usage.cpu, "100m");
    assert.equal((await client.call("GET", `${ROOT}/nodes/other`)).body.reason, "NotFound");
  });

  test("it is told who asks, by us alone", async () => {
    const headers = {
      "x-remote-user": "mallory",
      "x-remote-group": "system:masters",
      "X-Remote-Extra-Scopes": "all",
      "x-custom": "kept",
    };
    await client.call("GET", `${ROOT}/nodes/node-b`, undefined, headers);
    const seen = extension.seen.at(-1) ?? assert.fail("nothing came");
    assert.equal(seen.headers["x-remote-user"], "admin");
    assert.match(String(seen.headers["x-remote-group"]), /system:masters/);
    assert.equal(seen.headers["x-remote-extra-scopes"], undefined);
    assert.equal(seen.headers.authorization, undefined);
    assert.deepEqual([seen.headers["x-custom"], seen.headers["x-forwarded-for"]], ["kept", "127.0.0.1"]);
    assert.equal((await clientFor(server.base, tokens.alice).call("GET", `${ROOT}/nodes`)).status, 403);
  });

  test("watches and bodies are streamed, and nobody is sent elsewhere", async () => {
    const stop = new AbortController();
    const events = client.watch(`${ROOT}/nodes?watch=1`, stop.signal);
    assert.equal((await events.next()).value.object.metadata.name, "node-a");
    assert.equal((await events.next()).value.object.metadata.name, "node-b");
    stop.abort();
    const large = await client.call("POST", `${ROOT}/nodes`, { text: "x".repeat(5_000_000) });
    assert.deepEqual([large.status, large.body.size], [201, 5_000_011]);
    const { status, body, headers } = await client.call("GET", `${ROOT}/nodes/elsewhere`);
    const text = "the backend attempted to redirect this request, which is not permitted\n";
    assert.deepEqual([status, body, headers.location], [502, text, undefined]);
  });

  test("an upgraded connection is passed on both ways", async () => {
    const headers = {
      authorization: `Bearer ${tokens.admin}`,
      connection: "Upgrade",
      upgrade: "websocket",
      "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==",
      "sec-websocket-version": "13",
    };
    const { promise, resolve, reject } = Promise.withResolvers<[string | undefined, Duplex]>();
    request(`${server.base}${ROOT}/nodes/node-a/exec`, { headers, rejectUnauthorized: false })
      .on("upgrade", (response, socket) => resolve([response.headers["sec-websocket-accept"], socket]))
      .on("response", ({ statusCode }) => reject(new Error(`answered ${statusCode}`)))
      .on("error", reject)
      .end();
    const [accept, socket] = await promise;
    assert.equal(accept, "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
    const echoed = new Promise<string>((heard) => socket.once("data", (chunk: Buffer) => heard(chunk.toString())));
    socket.write("hello");
    assert.equal(await echoed, "hello");
    socket.destroy();
  });

  test("taken down, it makes only itself unavailable, and goes with its APIService", async () => {
    await extension.stop();
    const down = await client.call("GET", `${ROOT}/nodes`);
    assert.equal(down.status, 503);
    assert.match(down.body, /^error trying to reach service: dial tcp 127.0.0.1:\d+: connect: connection refused\n$/);
    assert.equal((await client.call("GET", "/api/v1/namespaces")).status, 200);
    assert.match((await kubectl(["get", "namespaces"])).stdout, /default/);
    // A change of its Service is a reason to look.
    const touch = { metadata: { annotations: { touched: "1" } } };
    const merge = { "content-type": "application/merge-patch+json" };
    await client.call("PATCH", "/api/v1/namespaces/default/services/metrics", touch, merge);
    await eventually(async () => (await condition())?.[0] === "False");
    assert.deepEqual((await client.call("GET", `${ROOT}/nodes`)).body, "service unavailable\n");
    const accept = { accept: "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList" };
    const { body } = await client.call("GET", "/apis", undefined, accept);
    const { versions } = body.items.find(
      (item: { metadata: { name: string } }) => item.metadata.name === EXTENSION_GROUP,
    );
    assert.deepEqual([versions[0].freshness, versions[0].resources[0].resource], ["Stale", "nodes"]);
    assert.equal((await client.call("DELETE", `${SERVICES}/${NAME}`)).status, 200);
    await eventually(async () => (await client.call("GET", ROOT)).status === 404);
  });
});
