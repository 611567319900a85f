import assert from "node:assert/strict";
import { test } from "node:test";
import type { JsonObject } from "../../../base/api/object.ts";
import { convertDefinition } from "./stored-v1beta1.ts";

const V1 = "apiextensions.k8s.io/v1";
const convert = (spec: JsonObject) =>
  convertDefinition({ kind: "CustomResourceDefinition", apiVersion: `${V1}beta1`, metadata: {}, spec }, V1).spec;
const schema = { openAPIV3Schema: { type: "object" } };
const column = { name: "A", type: "string" };

test("copies shared parts to every version", () => {
  assert.deepEqual(
    convert({
      group: "g",
      version: "v2",
      versions: [
        { name: "v2", served: true, storage: true },
        { name: "v1", served: true, storage: false },
      ],
      validation: schema,
      subresources: { status: {} },
      additionalPrinterColumns: [{ ...column, JSONPath: ".a" }],
      preserveUnknownFields: false,
      conversion: { strategy: "None" },
    }),
    {
      group: "g",
      versions: ["v2", "v1"].map((name) => ({
        ...{ name, served: true, storage: name === "v2", schema, subresources: { status: {} } },
        additionalPrinterColumns: [{ ...column, jsonPath: ".a" }],
      })),
      conversion: { strategy: "None" },
    },
  );
});

test("converts the only version of an old definition and a conversion webhook", () => {
  assert.deepEqual(convert({ version: "v1", preserveUnknownFields: true }), {
    versions: [{ name: "v1", served: true, storage: true }],
    preserveUnknownFields: true,
  });
  const webhookClientConfig = { url: "https://h" };
  assert.deepEqual(
    convert({
      versions: [{ name: "v1", additionalPrinterColumns: [{ ...column, JSONPath: ".b" }] }],
      conversion: { strategy: "Webhook", webhookClientConfig, conversionReviewVersions: ["v1"] },
    }),
    {
      versions: [{ name: "v1", additionalPrinterColumns: [{ ...column, jsonPath: ".b" }] }],
      conversion: {
        strategy: "Webhook",
        webhook: { clientConfig: webhookClientConfig, conversionReviewVersions: ["v1"] },
      },
    },
  );
});
