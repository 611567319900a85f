import assert from "node:assert/strict";
import { test } from "node:test";
import type { Json, JsonObject, KubeObject } from "../../../base/api/object.ts";
import { seededRandom } from "../../../base/util/seeded-random.ts";
import { namespace, pod, World } from "../admission.suite.ts";
import { AdmissionChain } from "../chain.ts";
import type { AdmissionPlugin, AdmissionRequest } from "../plugin.ts";
import type { CallWebhook, WebhookCall } from "./ask-webhook.ts";
import { compileConfiguration } from "./compiled-webhook.ts";
import { CallFailure } from "./failures.ts";
import { WebhookMatcher } from "./matcher.ts";
import { mutatingWebhooks } from "./mutating.ts";
import { unobserved, type WebhookObserver, type WebhookType } from "./observer.ts";
import { validatingWebhooks } from "./validating.ts";
import { CONFIGURATIONS, WebhookSource } from "./webhook-source.ts";

const RULE = { operations: ["*"], apiGroups: ["*"], apiVersions: ["*"], resources: ["*/*"] };

function webhook(name: string, more: JsonObject = {}): JsonObject {
  return {
    name,
    clientConfig: { url: `https://hooks/${name}` },
    rules: [RULE],
    sideEffects: "None",
    admissionReviewVersions: ["v1"],
    timeoutSeconds: 10,
    ...more,
  };
}

const configuration = (name: string, ...webhooks: JsonObject[]): KubeObject => ({
  kind: "ValidatingWebhookConfiguration",
  apiVersion: "admissionregistration.k8s.io/v1",
  metadata: { name },
  webhooks,
});

/** The response of a webhook to a request. */
type Answer = (request: JsonObject) => JsonObject | Promise<JsonObject>;

/** Runs the plugin of one kind of webhooks with the given responses, and returns the result. */
async function run(
  type: WebhookType,
  configurations: readonly KubeObject[],
  answers: Readonly<Record<string, Answer>>,
  write: Parameters<World["request"]>[0] = { plural: "pods", object: pod() },
  more: Partial<AdmissionRequest> = {},
) {
  const world = new World();
  await world.given("namespaces", namespace("ns"));
  const source = new WebhookSource(world.resources, CONFIGURATIONS.mutating);
  source.setFixed(configurations.flatMap((one) => compileConfiguration(one)));
  const calls: { name: string; review: JsonObject; call: WebhookCall }[] = [];
  const call: CallWebhook = async (made): Promise<Json> => {
    const review = JSON.parse(made.body) as JsonObject;
    const name = (made.clientConfig.url ?? "").split("/").at(-1) ?? "";
    calls.push({ name, review, call: made });
    const request = review.request as JsonObject;
    const { kind, apiVersion } = review;
    const response = await (answers[name] ?? (() => ({})))(request);
    return { kind, apiVersion, response: { uid: request.uid, allowed: true, ...response } } as JsonObject;
  };
  const told: string[] = [];
  const observer: WebhookObserver = {
    ...unobserved,
    called: (name, _type, _operation, { isRejected, code, cause = "" }) =>
      told.push(`${name} ${isRejected} ${code} ${cause}`.trim()),
    failedOpen: (name) => told.push(`${name} open`),
  };
  const { access, clock } = world.resources;
  const authorizer = { authorize: async () => ({ decision: "allow" as const }) };
  const matcher = new WebhookMatcher({ source, access, authorizer, observer, clock, type });
  const context = { call, random: seededRandom(1), observer, clock };
  const defaults = { clock, features: world.resources.features };
  const plugin: AdmissionPlugin =
    type === "admit"
      ? mutatingWebhooks(matcher, { ...context, type, defaults, maxValues: 50_000 })
      : validatingWebhooks(matcher, { ...context, type });
  const warnings: string[] = [];
  const annotations: Record<string, string> = {};
  const request = { ...world.request(write, warnings, annotations), ...more };
  const chain = new AdmissionChain([plugin]);
  const error = await (type === "admit" ? chain.mutate(request) : chain.validate(request)).then(
    () => undefined,
    (thrown: Error) => thrown,
  );
  return { calls: calls.map(({ name }) => name), reviews: calls, request, error, warnings, annotations, told };
}

const patch = (...operations: JsonObject[]): JsonObject => ({
  patchType: "JSONPatch",
  patch: Buffer.from(JSON.stringify(operations)).toString("base64"),
});
const label = (value: string) => patch({ op: "add", path: "/metadata/labels", value: { value } });

test("calls mutating webhooks one after the other, each with the object as the previous ones left it", async () => {
  const first = configuration("a", webhook("one"), webhook("two"));
  const { calls, request, reviews, annotations, error } = await run(
    "admit",
    [first, configuration("b", webhook("three"))],
    {
      one: () => label("first"),
      two: ({ object }) => label(`${(object as KubeObject).metadata.labels?.value} and second`),
    },
  );
  assert.equal(error, undefined);
  assert.deepEqual(calls, ["one", "two", "three"]);
  assert.deepEqual(request.object?.metadata.labels, { value: "first and second" });
  const { uid, ...last } = (reviews[2]?.review.request ?? {}) as JsonObject;
  assert.match(String(uid), /^[0-9a-f-]{36}$/);
  assert.deepEqual(last, {
    kind: { group: "", version: "v1", kind: "Pod" },
    resource: { group: "", version: "v1", resource: "pods" },
    requestKind: { group: "", version: "v1", kind: "Pod" },
    requestResource: { group: "", version: "v1", resource: "pods" },
    name: "p",
    namespace: "ns",
    operation: "CREATE",
    userInfo: { username: "alice" },
    object: request.object,
    oldObject: null,
    dryRun: false,
    options: null,
  });
  const key = (index: number) => `mutation.webhook.admission.k8s.io/round_0_index_${index}`;
  assert.equal(annotations[key(0)], '{"configuration":"a","webhook":"one","mutated":true}');
  assert.equal(annotations[key(2)], '{"configuration":"b","webhook":"three","mutated":false}');
  assert.match(annotations["patch.webhook.admission.k8s.io/round_0_index_0"] ?? "", /"patchType":"JSONPatch"/);
});

test("calls earlier webhooks with reinvocationPolicy IfNeeded once more after a change", async () => {
  const again = { reinvocationPolicy: "IfNeeded" };
  const all = configuration("a", webhook("one", again), webhook("two"), webhook("three", again));
  const { calls } = await run("admit", [all], { two: () => label("x") });
  assert.deepEqual(calls, ["one", "two", "three", "one"]);
  const unchanged = await run("admit", [all], { two: () => patch({ op: "test", path: "/kind", value: "Pod" }) });
  assert.deepEqual(unchanged.calls, ["one", "two", "three"], "without a change there is no second round");
});

test("calls validating webhooks concurrently, and waits for all of them", async () => {
  const open = Promise.withResolvers<JsonObject>();
  const waiting = new Set<string>();
  const slow: Answer = async ({ uid }) => {
    waiting.add(String(uid));
    if (waiting.size === 3) open.resolve({});
    return open.promise;
  };
  const all = configuration("a", webhook("one"), webhook("two"), webhook("three"));
  const { calls, error } = await run("validating", [all], { one: slow, two: slow, three: slow });
  assert.equal(error, undefined);
  assert.equal(calls.length, 3);
});

test("passes on a denial with its warnings, annotations and status", async () => {
  const deny =
    (status?: JsonObject): Answer =>
    () => ({
      allowed: false,
      ...(status && { status }),
      warnings: ["careful"],
      auditAnnotations: { key: "value", "not a key!": "x" },
    });
  const rows: [status: JsonObject | undefined, message: string, code: number][] = [
    [undefined, 'admission webhook "w" denied the request without explanation', 400],
    [{ message: "no" }, 'admission webhook "w" denied the request: no', 400],
    [{ reason: "Busy", code: 429 }, 'admission webhook "w" denied the request: Busy', 429],
    [{ message: "no", code: 200 }, 'admission webhook "w" denied the request: no', 400],
  ];
  for (const [status, message, code] of rows) {
    const { error, warnings, annotations, told } = await run("validating", [configuration("a", webhook("w"))], {
      w: deny(status),
    });
    assert.equal(error?.message, message);
    assert.equal((error as unknown as { code: number }).code, code);
    assert.deepEqual(warnings, ["careful"]);
    assert.deepEqual(annotations, { "w/key": "value" });
    assert.deepEqual(told, [`w true ${code} no_error`]);
  }
});

test("applies failurePolicy if a call fails", async () => {
  const broken: Answer = () => {
    throw new CallFailure("failed to call webhook: broken", 503);
  };
  for (const type of ["admit", "validating"] as const) {
    const closed = await run(type, [configuration("a", webhook("w"))], { w: broken });
    assert.match(closed.error?.message ?? "", /^Internal error occurred: failed calling webhook "w": failed to call/);
    assert.deepEqual(closed.told, ["w true 503 calling_webhook_error"]);
    const open = await run(type, [configuration("a", webhook("w", { failurePolicy: "Ignore" }))], { w: broken });
    assert.equal(open.error, undefined);
    assert.deepEqual(open.told, ["w false 503", "w open"]);
    const word = type === "admit" ? "mutation" : "validating";
    assert.equal(open.annotations[`failed-open.${word}.webhook.admission.k8s.io/round_0_index_0`], "w");
  }
});

test("rejects a dry run for webhooks with side effects", async () => {
  const some = configuration("a", webhook("w", { sideEffects: "Some", failurePolicy: "Ignore" }));
  const write = { plural: "pods", object: pod(), dryRun: true };
  const { error, calls } = await run("validating", [some], {}, write);
  assert.equal(error?.message, 'admission webhook "w" does not support dry run');
  assert.deepEqual(calls, []);
});

test("limits all webhooks of a request by its deadline", async () => {
  const patient = configuration("a", webhook("w", { timeoutSeconds: 30 }));
  const { reviews } = await run("validating", [patient], {}, undefined, { deadlineMs: performance.now() + 29_000 });
  const { timeoutMs = 0 } = reviews[0]?.call ?? {};
  assert.ok(timeoutMs > 0 && timeoutMs <= 29_000, String(timeoutMs));
  const over = await run("validating", [configuration("a", webhook("w"))], {}, undefined, { deadlineMs: 0 });
  assert.equal(over.error?.message, "Timeout: request did not complete within requested timeout");
  assert.deepEqual(over.calls, []);
});

test("sets defaults after a patch, and rejects a result that does not fit the schema", async () => {
  const container = { name: "b", image: "i:latest" };
  const added = await run("admit", [configuration("a", webhook("w"))], {
    w: () => patch({ op: "add", path: "/spec/containers/-", value: container }),
  });
  const { containers } = (added.request.object ?? pod()).spec as unknown as { containers: JsonObject[] };
  assert.equal(containers[1]?.imagePullPolicy, "Always");
  const wrong = await run("admit", [configuration("a", webhook("w"))], {
    w: () => patch({ op: "add", path: "/spec/containers", value: "text" }),
  });
  assert.match(wrong.error?.message ?? "", /^Internal error occurred: json: cannot unmarshal string into Go struct/);
});

test("does not call webhooks for the configuration of admission", async () => {
  const write = {
    group: "admissionregistration.k8s.io",
    plural: "validatingadmissionpolicies",
    object: {
      kind: "ValidatingAdmissionPolicy",
      apiVersion: "admissionregistration.k8s.io/v1",
      metadata: { name: "x" },
    },
  };
  const { calls } = await run("validating", [configuration("a", webhook("w"))], {}, write);
  assert.deepEqual(calls, []);
});
