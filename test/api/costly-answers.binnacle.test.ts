import assert from "node:assert/strict";
import { after, before, suite, test } from "node:test";
import { MAX_ANSWER_BYTES } from "../../src/base/api/body-limits.ts";
import { CostServer } from "../cost/server.ts";
import { clientFor } from "../support/client.ts";
import { assertBelow } from "../support/machine-speed.ts";
import { tokens } from "../support/oracle.ts";
import { eventually } from "../support/time.ts";
import {
  answerTo,
  type Behaviour,
  patching,
  startWebhookServer,
  type WebhookServer,
} from "../support/webhook-server.ts";

const NAMESPACE = "/api/v1/namespaces/fuzz";
/** Processor time of the event loop during one wait of another connection. */
const MOST_MS = 100;

const times = <T>(count: number, make: (index: number) => T): T[] => Array.from({ length: count }, (_, at) => make(at));

/** Answers with this text after the members of an AdmissionReview that allows the write. */
const allowing =
  (more: string): Behaviour =>
  (received, response) => {
    const text = JSON.stringify(answerTo(received, {}));
    response.end(`${text.slice(0, -1)},"more":${more}}`);
  };

/** What a webhook answers, and what the client gets: a code, and a part of the message. */
const ANSWERS: Readonly<Record<string, readonly [Behaviour, number, RegExp?]>> = {
  "9,000 operations": [patching(...times(9000, (at) => ({ op: "add", path: `/data/k${at}`, value: "" }))), 201],
  "100,000 operations": [
    patching(...times(100_000, () => ({ op: "test", path: "/a" }))),
    500,
    /allowed maximum operations in a JSON patch is 10000, got 100000/,
  ],
  "a patch of 20 MB": [
    patching({ op: "add", path: "/data/b", value: "x".repeat(20_000_000) }),
    500,
    new RegExp(`the response is larger than ${MAX_ANSWER_BYTES} bytes`),
  ],
  "a patch of 1 MB": [patching({ op: "add", path: "/data/b", value: "x".repeat(1_000_000) }), 201],
  "a small patch with many values": [
    patching({ op: "add", path: "/data", value: times(15_000, () => 0) }),
    500,
    /data|cannot/,
  ],
  "a small patch that makes a large object": [
    patching(
      { op: "add", path: "/metadata/annotations", value: { a: "x".repeat(30_000) } },
      ...times(30, (at) => ({ op: "copy", from: "/metadata/annotations/a", path: `/data/k${at}` })),
    ),
    201,
  ],
  "4 MB of numbers": [allowing(`[${"0,".repeat(2_000_000)}0]`), 500, /limit is 350000 values/],
  "2 MB of floating-point numbers": [allowing(`[${"1.5e-7,".repeat(300_000)}0]`), 201],
  "4 MB of nested lists": [
    (_received, response) => response.end(`{"a":${"[".repeat(4_000_000)}`),
    500,
    /failed to call/,
  ],
  "4 MB of YAML": [
    (_received, response) => response.end("- a\n".repeat(1_000_000)),
    500,
    /limit is 65536 bytes of YAML/,
  ],
  "an error with 4 MB of JSON": [
    (_received, response) => response.writeHead(500).end(`{"kind":"Status","a":[${"{},".repeat(1_300_000)}0]}`),
    500,
    /an error on the server/,
  ],
  "100,000 audit annotations": [
    (received, response) => {
      const auditAnnotations = Object.fromEntries(times(100_000, (at) => [`k${at}`, "v"]));
      response.end(JSON.stringify(answerTo(received, { auditAnnotations })));
    },
    201,
  ],
};

suite("large responses from webhooks", { timeout: 300_000 }, () => {
  let server: CostServer;
  let hook: WebhookServer;

  before(async () => {
    server = await CostServer.start(120_000);
    hook = await startWebhookServer();
    const client = clientFor(server.binnacle.base, tokens.admin);
    const place = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations";
    const rules = [{ apiGroups: [""], apiVersions: ["v1"], operations: ["*"], resources: ["configmaps"] }];
    const webhook = (name: string) => ({
      name: `${name}.example.com`,
      clientConfig: { url: hook.url("x", name), caBundle: hook.caBundle },
      rules,
      ...{ sideEffects: "None", admissionReviewVersions: ["v1"], timeoutSeconds: 30 },
    });
    hook.behaviours.set("large", (received, response) => {
      const name = received.review.request.object?.metadata.generateName ?? "delete-";
      const answer = answers.get(name);
      if (answer) answer(received, response);
      else response.end(JSON.stringify(answerTo(received, {})));
    });
    const made = await client.call("POST", place, { metadata: { name: "large" }, webhooks: [webhook("large")] });
    assert.equal(made.status, 201, JSON.stringify(made.body));
    await eventually(async () => {
      await client.call("POST", `${NAMESPACE}/configmaps`, { metadata: { generateName: "first-" } });
      return hook.received.length > 0;
    });
  });
  after(async () => {
    await hook?.stop();
    await server?.stop();
  });

  const answers = new Map<string, Behaviour>();
  const measure = async (name: string, method: string, path: string, body?: unknown) => {
    const costly = { method, path, ...(body !== undefined && { body: Buffer.from(JSON.stringify(body)) }) };
    const cost = await server.measure(costly, true);
    assertBelow(cost.loopMs, MOST_MS, `${name} held the event loop`);
    return cost;
  };

  for (const [index, [name, [answer, code, message]]] of Object.entries(ANSWERS).entries()) {
    test(`${name} do not hold up the event loop`, async () => {
      const generateName = `n${index}-`;
      answers.set(generateName, answer);
      const { status, text } = await measure(name, "POST", `${NAMESPACE}/configmaps`, {
        apiVersion: "v1",
        kind: "ConfigMap",
        metadata: { generateName },
        data: { a: "x" },
      });
      assert.equal(status, code, text);
      if (message) assert.match(text, message);
    });
  }

  test("the deletion of a collection decodes large responses in the thread, with the same limits", async () => {
    const path = `${NAMESPACE}/configmaps`;
    for (const count of [2_000_000, 500_000]) {
      answers.set("delete-", allowing(`[${"0,".repeat(count)}0]`));
      const { status, text } = await measure("deletecollection", "DELETE", path);
      assert.deepEqual([status, /limit is 350000 values/.test(text)], [500, true], text);
    }
    answers.set("delete-", allowing(`[${"1.5e-7,".repeat(20_000)}0]`));
    assert.equal((await measure("deletecollection", "DELETE", path)).status, 200);
  });
});
