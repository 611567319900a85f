import assert from "node:assert/strict";
import { test } from "node:test";
import type { AnswerLimits } from "../../base/api/body-limits.ts";
import type { Json, JsonObject, KubeObject } from "../../base/api/object.ts";
import type { CustomResourceDefinition } from "../types/custom-resource-definition.ts";
import { webhookConverter } from "./conversion-webhook.ts";

const definition = (conversion: JsonObject): CustomResourceDefinition => ({
  kind: "CustomResourceDefinition",
  apiVersion: "apiextensions.k8s.io/v1",
  metadata: { name: "widgets.example.com" },
  spec: { group: "example.com", conversion },
});

const webhook = { clientConfig: { url: "https://hook" }, conversionReviewVersions: ["v1"] };
const widget = (name: string, more: JsonObject = {}): KubeObject => ({
  kind: "Widget",
  apiVersion: "example.com/v1",
  metadata: { name, uid: name, resourceVersion: "5", labels: { a: "b" } },
  ...more,
});

type Review = { request: { uid: string; desiredAPIVersion: string; objects: KubeObject[] } };

/** A converter whose webhook responds with the result of `answer`. */
function converter(answer: (review: Review) => Json) {
  const asked: number[] = [];
  const limits: AnswerLimits[] = [];
  const call = async (_config: unknown, body: string, limit: AnswerLimits) => {
    const review = JSON.parse(body) as Review;
    asked.push(review.request.objects.length);
    limits.push(limit);
    return answer(review);
  };
  const convert = webhookConverter(definition({ strategy: "Webhook", webhook }), {
    call,
    random: { uuid: () => "u-1" } as never,
  });
  assert.ok(convert);
  return { convert, asked, limits };
}

const review = (uid: string, convertedObjects: Json[], result: JsonObject = { status: "Success" }): Json => ({
  kind: "ConversionReview",
  apiVersion: "apiextensions.k8s.io/v1",
  response: { uid, convertedObjects, result },
});

const V2 = "example.com/v2";

test("converted objects keep their order and metadata, with labels and annotations of the response", async () => {
  const { convert } = converter(({ request }) =>
    review(
      request.uid,
      request.objects.map((one) => ({
        ...one,
        apiVersion: request.desiredAPIVersion,
        metadata: { ...one.metadata, labels: { c: "d" }, generation: 99 },
        spec: { new: true },
      })),
    ),
  );
  const converted = await convert([widget("one"), widget("two")], V2);
  assert.deepEqual(converted, [
    {
      ...widget("one"),
      apiVersion: V2,
      metadata: { ...widget("one").metadata, labels: { c: "d" } },
      spec: { new: true },
    },
    {
      ...widget("two"),
      apiVersion: V2,
      metadata: { ...widget("two").metadata, labels: { c: "d" } },
      spec: { new: true },
    },
  ]);
});

test("reports invalid responses of a webhook with the messages of kube-apiserver", async () => {
  const as = (change: JsonObject, metadata: JsonObject = {}) => ({
    ...widget("one"),
    apiVersion: V2,
    ...change,
    metadata: { ...widget("one").metadata, ...metadata },
  });
  const prefix = "conversion webhook for example.com/v1, Kind=Widget ";
  const rows: [answer: (review: Review) => Json, message: string][] = [
    [() => ({}), "failed: expected webhook response of apiextensions.k8s.io/v1, Kind=ConversionReview, got /, Kind="],
    [() => review("other", []), 'failed: expected response.uid="u-1", got "other"'],
    [() => review("u-1", [], { status: "Failure", message: "no" }), "failed: no"],
    [() => review("u-1", [], {}), "failed: response.result.status was '', not 'Success'"],
    [() => review("u-1", []), "returned 0 objects, expected 1"],
    [
      () => review("u-1", [as({ apiVersion: "example.com/v3" })]),
      "returned invalid converted object at index 0: invalid groupVersion (expected example.com/v2, received example.com/v3)",
    ],
    [
      () => review("u-1", [as({}, { name: "other" })]),
      "returned invalid converted object at index 0: must have the same name: one != other",
    ],
    [
      () => review("u-1", [as({}, { labels: { a: 1 } })]),
      "returned invalid converted object at index 0: metadata.labels[a] must be a string, but is number in converted object",
    ],
  ];
  for (const [answer, message] of rows) {
    await assert.rejects(async () => converter(answer).convert([widget("one")], V2), {
      message: prefix + message,
      code: 500,
    });
  }
});

test("sends large objects in several reviews", async () => {
  const { convert, asked } = converter(({ request }) =>
    review(
      request.uid,
      request.objects.map((one) => ({ ...one, apiVersion: V2 })),
    ),
  );
  const text = "x".repeat(64 * 1024);
  const objects = Array.from({ length: 10 }, (_, index) => widget(`w${index}`, { spec: { text } }));
  assert.equal((await convert(objects, V2)).length, 10);
  assert.deepEqual(asked, [3, 3, 3, 1]);
});

test("limits the values of a response by those of the request", async () => {
  const { convert, limits } = converter(({ request }) =>
    review(
      request.uid,
      request.objects.map((one) => ({ ...one, apiVersion: V2 })),
    ),
  );
  await convert([widget("small")], V2);
  await convert([widget("large", { spec: { list: Array.from({ length: 10_000 }, () => 0) } })], V2);
  const [small = 0, large = 0] = limits.map(({ maxValues }) => maxValues);
  assert.ok(small < 25_000, String(small));
  assert.equal(large - small >= 20_000 && large - small < 20_100, true, String(large));
});

test("has no converter without the strategy Webhook", () => {
  assert.equal(webhookConverter(definition({ strategy: "None" }), {} as never), undefined);
});
