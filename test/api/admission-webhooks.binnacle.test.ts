import assert from "node:assert/strict";
import { after, before, suite, test } from "node:test";
import { baseObjects, NAMESPACE, routes, WIDGETS } from "../fuzz/webhook-routes.ts";
import { type RunningBinnacle, startBinnacle } from "../support/binnacle.ts";
import { type Client, clientFor } from "../support/client.ts";
import { tokens } from "../support/oracle.ts";
import { eventually } from "../support/time.ts";
import { startWebhookServer, type WebhookServer } from "../support/webhook-server.ts";

const VALIDATING = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations";
const ALL = { operations: ["*"], apiGroups: ["*"], apiVersions: ["*"], resources: ["*/*"] };

suite("admission webhooks", { timeout: 120_000 }, () => {
  let server: WebhookServer;
  let binnacle: RunningBinnacle;
  let client: Client;
  before(async () => {
    server = await startWebhookServer(["hooks"]);
    binnacle = await startBinnacle({ flags: ["--custom-objects=defined", "--controllers=none"] });
    client = clientFor(binnacle.base, tokens.admin);
    await client.call("POST", "/api/v1/namespaces", { metadata: { name: NAMESPACE } });
    await client.call("POST", `/api/v1/namespaces/${NAMESPACE}/serviceaccounts`, { metadata: { name: "default" } });
    await client.call("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", WIDGETS);
    await eventually(async () => (await client.call("GET", "/apis/example.com/v2/widgets")).status === 200);
  });
  after(async () => {
    await binnacle?.kill();
    await server?.stop();
  });

  /** Puts a webhook into force, which `probe` sees, and gives how to take it out again. */
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

  test("cannot be passed by any route, nor by large requests", async () => {
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
      // Questions about callers are never shown to webhooks.
      if (title === "create a review") assert.equal(answer.status, 201, title);
      else {
        assert.equal(answer.body.message, 'admission webhook "w.example.com" denied the request: no, never', title);
        denied.push(title);
      }
    }
    assert.ok(denied.length > 35, String(denied.length));
    await remove();
  });

  test("that hang hold up nobody but their callers", async () => {
    const at = { url: server.url("ours", "hang"), caBundle: server.caBundle };
    const rule = { ...ALL, resources: ["secrets"] };
    const secrets = `/api/v1/namespaces/${NAMESPACE}/secrets`;
    const isHanging = async () => {
      server.received.length = 0;
      await client.call("POST", `${secrets}?dryRun=All`, { metadata: { name: "probe" } });
      return server.received.length > 0;
    };
    const remove = await configure(at, rule, isHanging, { timeoutSeconds: 1 });
    let isOver = false;
    const hanging = Promise.all(
      Array.from({ length: 60 }, (_, i) => client.call("POST", secrets, { metadata: { name: `s${i}` } })),
    ).then((answers) => {
      isOver = true;
      return answers;
    });
    await eventually(() => server.received.length >= 60);
    const { status } = await client.call("POST", configMaps, { metadata: { name: "beside" } });
    assert.equal(status, 201);
    assert.equal(isOver, false, "a write of another kind was answered before those that wait");
    for (const answer of await hanging) {
      const text = `Post "${server.url("ours", "hang")}?timeout=1s": context deadline exceeded`;
      assert.equal(
        answer.body.message,
        `Internal error occurred: failed calling webhook "w.example.com": failed to call webhook: ${text}`,
      );
    }
    await remove();
  });

  test("are found behind a Service, whose name their certificate is for", async () => {
    const service = { metadata: { name: "hooks" }, spec: { type: "ExternalName", externalName: "localhost" } };
    assert.equal((await client.call("POST", "/api/v1/namespaces/default/services", service)).status, 201);
    const reference = { namespace: "default", name: "hooks", path: "/ours/deny-message", port: server.port };
    const remove = await configure({ service: reference, caBundle: server.caBundle }, ALL, isDenied);
    const { body } = await client.call("POST", configMaps, { metadata: { name: "behind" } });
    assert.equal(body.message, 'admission webhook "w.example.com" denied the request: no, never');
    assert.equal(server.received.at(-1)?.headers.host, `hooks.default.svc:${server.port}`);
    await remove();
  });

  test("tell in the metrics how often they were called, and what came of it", async () => {
    const { body } = await client.call("GET", "/metrics");
    const labels = 'name="w.example.com",operation="CREATE"';
    assert.ok(String(body).includes(`apiserver_admission_webhook_rejection_count{error_type="no_error",${labels}`));
    assert.ok(String(body).includes(`apiserver_admission_webhook_request_total{code="503",${labels}`));
  });
});
