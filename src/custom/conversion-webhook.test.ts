import assert from "node:assert/strict";
import { test } from "node:test";
import type { Json, JsonObject, KubeObject } from "../api/object.ts";
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

/** A converter whose webhook answers with what `answer` makes of a review. */
function converter(answer: (review: Review) => Json) {
  const asked: number[] = [];
  const call = async (_config: unknown, body: string) => {
    const review = JSON.parse(body) as Review;
    asked.push(review.request.objects.length);
    return answer(review);
  };
  const convert = webhookConverter(definition({ strategy: "Webhook", webhook }), {
    call,
    random: { uuid: () => "u-1" } as never,
  });
  assert.ok(convert);
  return { convert, asked };
}

const review = (uid: string, convertedObjects: Json[], result: JsonObject = { status: "Success" }): Json => ({
  kind: "ConversionReview",
  apiVersion: "apiextensions.k8s.io/v1",
  response: { uid, convertedObjects, result },
});

const V2 = "example.com/v2";

test("objects come back in order, with labels and annotations of the answer and all other metadata of their own", async () => {
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

test("what a webhook does wrong is told in the words of kube-apiserver", async () => {
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

test("large objects are sent in several reviews", async () => {
  const { convert, asked } = converter(({ request }) =>
    review(
      request.uid,
      request.objects.map((one) => ({ ...one, apiVersion: V2 })),
    ),
  );
  const text = "x".repeat(1024 * 1024);
  const objects = Array.from({ length: 10 }, (_, index) => widget(`w${index}`, { spec: { text } }));
  assert.equal((await convert(objects, V2)).length, 10);
  assert.deepEqual(asked, [3, 3, 3, 1]);
});

test("without the strategy Webhook there is no converter", () => {
  assert.equal(webhookConverter(definition({ strategy: "None" }), {} as never), undefined);
});
