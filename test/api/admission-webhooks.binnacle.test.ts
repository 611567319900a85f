import assert from "node:assert/strict";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, suite, test } from "node:test";
import { makeIdentity } from "../../src/base/pki/make-certificate.ts";
import { baseObjects, NAMESPACE, routes, WIDGETS } from "../fuzz/webhook-routes.ts";
import { type RunningBinnacle, startBinnacle } from "../support/binnacle.ts";
import { type Client, clientFor } from "../support/client.ts";
import { tokens } from "../support/oracle.ts";
import { eventually } from "../support/time.ts";
import { BEHAVIOURS, startWebhookServer, type WebhookServer } from "../support/webhook-server.ts";

const VALIDATING = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations";
const ALL = { operations: ["*"], apiGroups: ["*"], apiVersions: ["*"], resources: ["*/*"] };

/** An AdmissionConfiguration with a webhook in a file, and a client certificate for all webhooks of the server. */
async function writeAdmissionFile(folder: string, server: WebhookServer): Promise<string> {
  const { certificate, key } = makeIdentity(server.authority, { commonName: "binnacle" }, "client", Date.now());
  const data = (text: string) => Buffer.from(text).toString("base64");
  const user = { "client-certificate-data": data(certificate), "client-key-data": data(key) };
  const manifests = path.join(folder, "manifests");
  await mkdir(manifests);
  const write = async (name: string, value: unknown) => {
    await writeFile(path.join(folder, name), JSON.stringify(value));
    return path.join(folder, name);
  };
  const webhook = {
    name: "fixed.example.com",
    clientConfig: { url: server.url("ours", "deny-reason"), caBundle: server.caBundle },
    rules: [{ ...ALL, resources: ["mutatingwebhookconfigurations"] }],
    sideEffects: "None",
    admissionReviewVersions: ["v1"],
  };
  await write("manifests/fixed.yaml", {
    apiVersion: "admissionregistration.k8s.io/v1",
    kind: "ValidatingWebhookConfiguration",
    metadata: { name: "fixed.static.k8s.io" },
    webhooks: [webhook],
  });
  const users = [{ name: `127.0.0.1:${server.port}`, user }];
  const kubeConfigFile = await write("kubeconfig", { apiVersion: "v1", kind: "Config", users });
  const configuration = {
    ...{ apiVersion: "apiserver.config.k8s.io/v1", kind: "WebhookAdmissionConfiguration" },
    ...{ kubeConfigFile, staticManifestsDir: manifests },
  };
  return write("admission.yaml", {
    apiVersion: "apiserver.config.k8s.io/v1",
    kind: "AdmissionConfiguration",
    plugins: [{ name: "ValidatingAdmissionWebhook", configuration }],
  });
}

suite("admission webhooks", () => {
  let folder: string;
  let server: WebhookServer;
  let binnacle: RunningBinnacle;
  let client: Client;
  before(async () => {
    server = await startWebhookServer(["hooks"]);
    folder = await mkdtemp(path.join(tmpdir(), "binnacle-webhooks-"));
    const file = await writeAdmissionFile(folder, server);
    const flags = ["--custom-objects=defined", "--controllers=none", `--admission-control-config-file=${file}`];
    binnacle = await startBinnacle({ flags });
    client = clientFor(binnacle.base, tokens.admin);
    await client.call("POST", "/api/v1/namespaces", { metadata: { name: NAMESPACE } });
    await client.call("POST", `/api/v1/namespaces/${NAMESPACE}/serviceaccounts`, { metadata: { name: "default" } });
    await client.call("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", WIDGETS);
    await eventually(async () => (await client.call("GET", "/apis/example.com/v2/widgets")).status === 200);
  });
  after(async () => {
    await binnacle?.kill();
    await server?.stop();
    await rm(folder, { recursive: true, force: true });
  });

  /** Configures a webhook, waits until `probe` sees it, and returns a function that removes it. */
  const configure = async (clientConfig: object, rule: object, probe: () => Promise<boolean>, more: object = {}) => {
    const webhook = {
      ...{ name: "w.example.com", clientConfig, rules: [rule], sideEffects: "None", admissionReviewVersions: ["v1"] },
      ...more,
    };
    const { status, body } = await client.call("POST", VALIDATING, { metadata: { name: "c" }, webhooks: [webhook] });
    assert.equal(status, 201, JSON.stringify(body));
    await eventually(probe);
    return async () => {
      await client.call("DELETE", `${VALIDATING}/c`);
      await eventually(async () => !(await probe()));
    };
  };
  const configMaps = `/api/v1/namespaces/${NAMESPACE}/configmaps`;
  const isDenied = async () =>
    (await client.call("POST", `${configMaps}?dryRun=All`, { metadata: { name: "probe" } })).status >= 400;

  test("cannot be bypassed by any route, nor by large requests", async () => {
    for (const { method, path, body } of baseObjects(0)) await client.call(method, path, body);
    const at = { url: server.url("ours", "deny-message"), caBundle: server.caBundle };
    const remove = await configure(at, ALL, isDenied);
    const large = {
      title: "a large create",
      method: "POST",
      path: configMaps,
      body: { metadata: { name: "large" }, data: { large: "x".repeat(300_000) } },
      type: undefined,
    };
    const denied: string[] = [];
    for (const { title, method, path, body, type } of [...routes(0), large]) {
      const answer = await client.call(method, path, body, type === undefined ? {} : { "content-type": type });
      // Reviews of callers are never sent to webhooks.
      if (title === "create a review") assert.equal(answer.status, 201, title);
      else {
        assert.equal(answer.body.message, 'admission webhook "w.example.com" denied the request: no, never', title);
        denied.push(title);
      }
    }
    assert.ok(denied.length > 35, String(denied.length));
    await remove();
  });

  test("that are slow only delay their own callers", async () => {
    const held: (() => void)[] = [];
    server.behaviours.set("hold", (received, response) => {
      held.push(() => BEHAVIOURS.allow?.(received, response));
    });
    server.behaviours.set("allow-or-hold", (received, response) => {
      const isProbe = received.review.request.dryRun === true;
      (isProbe ? BEHAVIOURS.allow : server.behaviours.get("hold"))?.(received, response);
    });
    const at = { url: server.url("ours", "allow-or-hold"), caBundle: server.caBundle };
    const secrets = `/api/v1/namespaces/${NAMESPACE}/secrets`;
    const isAsked = async () => {
      server.received.length = 0;
      await client.call("POST", `${secrets}?dryRun=All`, { metadata: { name: "probe" } });
      return server.received.length > 0;
    };
    const remove = await configure(at, { ...ALL, resources: ["secrets"] }, isAsked, { timeoutSeconds: 30 });
    const waiting = Promise.all(
      Array.from({ length: 60 }, (_, i) => client.call("POST", secrets, { metadata: { name: `s${i}` } })),
    );
    await eventually(() => held.length === 60);
    const { status } = await client.call("POST", configMaps, { metadata: { name: "beside" } });
    assert.equal(status, 201, "a write of another kind is answered while 60 wait");
    for (const answer of held) answer();
    for (const answer of await waiting) assert.equal(answer.status, 201);
    await remove();
  });

  test("that time out fail with kube-apiserver's message", async () => {
    const at = { url: server.url("ours", "hang"), caBundle: server.caBundle };
    const remove = await configure(at, ALL, isDenied, { timeoutSeconds: 1 });
    const { body } = await client.call("POST", configMaps, { metadata: { name: "late" } });
    const text = `Post "${server.url("ours", "hang")}?timeout=1s": context deadline exceeded`;
    const prefix = 'Internal error occurred: failed calling webhook "w.example.com": failed to call webhook';
    assert.equal(body.message, `${prefix}: ${text}`);
    await remove();
  });

  test("are called through a Service, whose name is in their certificate", async () => {
    const service = { metadata: { name: "hooks" }, spec: { type: "ExternalName", externalName: "localhost" } };
    assert.equal((await client.call("POST", "/api/v1/namespaces/default/services", service)).status, 201);
    const reference = { namespace: "default", name: "hooks", path: "/ours/deny-message", port: server.port };
    const remove = await configure({ service: reference, caBundle: server.caBundle }, ALL, isDenied);
    const { body } = await client.call("POST", configMaps, { metadata: { name: "behind" } });
    assert.equal(body.message, 'admission webhook "w.example.com" denied the request: no, never');
    assert.equal(server.received.at(-1)?.headers.host, `hooks.default.svc:${server.port}`);
    await remove();
  });

  test("of a file are active from the start, see admission configuration, and get the server's client certificate", async () => {
    const mutating = VALIDATING.replace("validating", "mutating");
    const { body } = await client.call("POST", mutating, { metadata: { name: "any" }, webhooks: [] });
    assert.equal(body.message, 'admission webhook "fixed.example.com" denied the request: Conflict');
    assert.equal(server.received.at(-1)?.clientName, "binnacle");
    const stored = await client.call("POST", VALIDATING, { metadata: { name: "any" }, webhooks: [] });
    assert.equal(stored.status, 201, "what its rules do not name is not shown to it");
  });

  test("are counted in metrics with their outcome", async () => {
    const { body } = await client.call("GET", "/metrics");
    const labels = 'name="w.example.com",operation="CREATE"';
    assert.ok(String(body).includes(`apiserver_admission_webhook_rejection_count{error_type="no_error",${labels}`));
    assert.ok(String(body).includes(`apiserver_admission_webhook_request_total{code="503",${labels}`));
  });
});
