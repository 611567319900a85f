import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { suite, test } from "node:test";
import type { Json, JsonObject } from "../../../base/api/object.ts";
import { schemaLibrary } from "../../schema/built-in.ts";
import { parseJson } from "../json/json.ts";
import { decodeBody } from "../request-body.ts";
import { decodeObject, encodeObject, isProtobuf, openEnvelope, wrapMessage } from "./envelope.ts";
import { schemaLookup } from "./schema-lookup.ts";

const folder = new URL("../../../../schemas/", import.meta.url);
const find = schemaLibrary((fileName) => readFileSync(new URL(fileName, folder), "utf8"));
const schemaOf = schemaLookup(
  [
    { apiVersion: "v1", schemaName: "io.k8s.api.core.v1.Pod" },
    { apiVersion: "apps/v1", schemaName: "io.k8s.api.apps.v1.Deployment" },
    { apiVersion: "autoscaling/v1", schemaName: "io.k8s.api.autoscaling.v1.HorizontalPodAutoscaler" },
    { apiVersion: "autoscaling/v2", schemaName: "io.k8s.api.autoscaling.v2.HorizontalPodAutoscaler" },
    { apiVersion: "authorization.k8s.io/v1", schemaName: "io.k8s.api.authorization.v1.SubjectAccessReview" },
    { apiVersion: "coordination.k8s.io/v1", schemaName: "io.k8s.api.coordination.v1.Lease" },
    { apiVersion: "events.k8s.io/v1", schemaName: "io.k8s.api.events.v1.Event" },
    { apiVersion: "policy/v1", schemaName: "io.k8s.api.policy.v1.PodDisruptionBudget" },
    { apiVersion: "resource.k8s.io/v1", schemaName: "io.k8s.api.resource.v1.DeviceClass" },
    {
      apiVersion: "admissionregistration.k8s.io/v1",
      schemaName: "io.k8s.api.admissionregistration.v1.ValidatingWebhookConfiguration",
    },
    {
      apiVersion: "apiextensions.k8s.io/v1",
      schemaName: "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceDefinition",
    },
  ],
  find,
);

interface Sample {
  readonly from: string;
  readonly json: JsonObject;
  readonly protobuf: string;
}

/** Responses of kube-apiserver in both formats. */
const samples = parseJson(readFileSync(new URL("samples.fixture.json", import.meta.url))) as unknown as Sample[];

/** Appears in raw JSON of Go clients. The client of the samples was none, and its bytes are not kept. */
const GO_ESCAPE = "\\u003c";

/** Items of a metadata list have their kind only in JSON. */
function withoutItemKinds(value: Json): Json {
  const { items, ...rest } = value as JsonObject;
  if (!Array.isArray(items)) return value;
  return { ...rest, items: items.map((item) => ({ metadata: (item as JsonObject).metadata })) };
}

suite("responses of kube-apiserver", () => {
  assert.ok(samples.length > 20);
  for (const { from, json, protobuf } of samples) {
    const expected = from.includes("PartialObjectMetadataList") ? withoutItemKinds(json) : json;
    const bytes = Buffer.from(protobuf, "base64");

    test(`${from} is decoded`, () => {
      assert.equal(JSON.stringify(decodeObject(bytes, schemaOf)), JSON.stringify(expected));
    });

    test(`${from} is encoded byte by byte`, () => {
      const schema = schemaOf(String(json.apiVersion), String(json.kind));
      assert.ok(schema);
      const encoded = encodeObject(schema, json);
      if (encoded.includes(GO_ESCAPE)) assert.deepEqual(decodeObject(encoded, schemaOf), json);
      else assert.equal(encoded.toString("base64"), protobuf);
    });
  }

  test("have raw JSON with the escapes of Go", () => {
    const revision = samples.find(({ from }) => from.endsWith("/controllerrevisions/r1"))?.json ?? assert.fail();
    const schema = schemaOf("apps/v1", "ControllerRevision") ?? assert.fail();
    assert.ok(encodeObject(schema, revision).includes('"text":"\\u003c\\u0026\\u003e"'));
  });
});

suite("envelopes", () => {
  const map = (text: string): Buffer => Buffer.from(`k8s\0${text}`, "latin1");

  test("are recognised by their magic bytes", () => {
    assert.ok(isProtobuf(map("")));
    assert.ok(isProtobuf(wrapMessage({ apiVersion: "v1", kind: "X" }, Buffer.of())));
    for (const text of ["", "k8s", "{}", "k8s:enc:"]) assert.equal(isProtobuf(Buffer.from(text)), false);
  });

  test("contain the kind, completed by a fallback", () => {
    const message = "\x12\x05\x0a\x03\x0a\x01a";
    const fallback = { apiVersion: "v1", kind: "ConfigMap" };
    const expected = { kind: "ConfigMap", apiVersion: "v1", metadata: { name: "a" } };
    assert.deepEqual(decodeObject(map(message), schemaOf, { fallback }), expected);
    assert.deepEqual(decodeObject(map(`\x0a\x04\x0a\x02v1${message}`), schemaOf, { fallback }), expected);
    assert.equal(decodeObject(map(`\x0a\x08\x12\x06Secret${message}`), schemaOf, { fallback }).kind, "Secret");
    assert.throws(() => decodeObject(map(message), schemaOf), {
      message: `Object 'Kind' is missing in 'runtime.TypeMeta{APIVersion:"", Kind:""}'`,
    });
    assert.throws(() => decodeObject(map(`\x0a\x08\x12\x06Secret${message}`), schemaOf), {
      message: `Object 'apiVersion' is missing in 'runtime.TypeMeta{APIVersion:"", Kind:"Secret"}'`,
    });
  });

  test("are rejected with the messages of kube-apiserver", () => {
    const refusals: readonly (readonly [bytes: Buffer, message: string])[] = [
      [Buffer.of(), "empty data"],
      [
        Buffer.from("nonsense"),
        "provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]",
      ],
      [map(""), "empty body"],
      [map("\x0a"), "unexpected EOF"],
      [map("\x12\x05abc"), "unexpected EOF"],
      [map("\x08\x01"), "proto: wrong wireType = 0 for field TypeMeta"],
      [
        map("\x0a\x0a\x0a\x02v1\x12\x04Nope\x12\x00"),
        'no kind "Nope" is registered for version "v1" in scheme "pkg/runtime/scheme.go:111"',
      ],
    ];
    for (const [bytes, message] of refusals) assert.throws(() => decodeObject(bytes, schemaOf), { message });
    const unknown = map("\x0a\x0a\x0a\x02v1\x12\x04Nope\x12\x00");
    const unknownType = { apiVersion: "v1", kind: "Nope" };
    assert.throws(() => decodeBody(unknown, "application/vnd.kubernetes.protobuf", { schemaOf }), { unknownType });
  });

  test("may contain unknown fields", () => {
    const bytes = map("\x1a\x04gzip\x22\x00\x0a\x0f\x0a\x02v1\x12\x09ConfigMap\x2a\x01x\x12\x00");
    assert.deepEqual(
      { ...openEnvelope(bytes), message: undefined },
      {
        ...{ apiVersion: "v1", kind: "ConfigMap", message: undefined },
      },
    );
  });
});

suite("schemas by kind", () => {
  test("finds options in every version and Status in the core version", () => {
    const options = find("io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions");
    for (const apiVersion of ["v1", "apps/v1", "meta.k8s.io/v1", "example.com/v7"]) {
      assert.equal(schemaOf(apiVersion, "DeleteOptions"), options);
    }
    assert.ok(schemaOf("v1", "Status"));
    assert.equal(schemaOf("apps/v1", "Status"), undefined);
    assert.ok(schemaOf("", "APIVersions"));
    assert.ok(schemaOf("apidiscovery.k8s.io/v2", "APIGroupDiscoveryList"));
  });

  test("finds all kinds of a group version by one of them, but no component types", () => {
    assert.ok(schemaOf("v1", "PodList"));
    assert.ok(schemaOf("v1", "Binding"));
    assert.ok(schemaOf("policy/v1", "Eviction"));
    assert.equal(schemaOf("v1", "PodSpec"), undefined);
    assert.equal(schemaOf("v1", "ObjectMeta"), undefined);
    assert.equal(schemaOf("example.com/v1", "Pod"), undefined);
    assert.equal(schemaOf("v1", "../x.y.Pod"), undefined);
  });
});
