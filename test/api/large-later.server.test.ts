import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { eventually } from "../support/time.ts";
import { responding, startWebhookServer, type WebhookServer } from "../support/webhook-server.ts";
import { laterObjects, laterSteps } from "./large-later-steps.ts";
import { testLargeRequests } from "./large-requests.suite.ts";
import { LargeServer } from "./large-servers.ts";

let webhooks: WebhookServer;

async function prepare(server: LargeServer): Promise<void> {
  for (const [path, object] of laterObjects(webhooks)) {
    const { status, body } = await server.send({ method: "POST", path, body: JSON.stringify(object) });
    assert.equal(status, 201, String(body));
  }
  const crates = { method: "GET", path: "/apis/large.example.com/v1/crates" };
  await eventually(async () => (await server.send(crates)).status === 200);
}

testLargeRequests(
  "memory, about what has come since the start",
  async () => {
    webhooks = await startWebhookServer();
    return { one: {}, other: {}, stop: () => webhooks.stop() };
  },
  { steps: laterSteps, prepare },
);

suite("a webhook that takes its time", () => {
  test("keeps no large request waiting that it is not about", async (t) => {
    const server = await LargeServer.start();
    t.after(() => server.close());
    const slow = await startWebhookServer();
    t.after(() => slow.stop());
    const answering = Promise.withResolvers<void>();
    slow.behaviours.set("late", (review, response) => {
      void answering.promise.then(() => responding({})(review, response));
    });
    const configuration = {
      metadata: { name: "late" },
      webhooks: [
        {
          name: "late.example.com",
          clientConfig: { url: slow.url("any", "late"), caBundle: slow.caBundle },
          rules: [{ apiGroups: [""], apiVersions: ["*"], operations: ["*"], resources: ["secrets"] }],
          ...{ sideEffects: "None", admissionReviewVersions: ["v1"], timeoutSeconds: 30 },
        },
      ],
    };
    const admission = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations";
    await server.send({ method: "POST", path: admission, body: JSON.stringify(configuration) });
    const core = "/api/v1/namespaces/default";
    const large = (name: string) => JSON.stringify({ metadata: { name, annotations: { large: "x".repeat(100_000) } } });
    // More than there are threads.
    const waiting = ["a", "b", "c"].map((name) =>
      server.send({ method: "POST", path: `${core}/secrets`, body: large(name) }),
    );
    await eventually(() => slow.received.length === waiting.length);
    const { status } = await server.send({ method: "POST", path: `${core}/configmaps`, body: large("a") });
    assert.equal(status, 201);
    answering.resolve();
    const answers = await Promise.all(waiting);
    assert.deepEqual(
      answers.map((answer) => answer.status),
      [201, 201, 201],
    );
  });
});
