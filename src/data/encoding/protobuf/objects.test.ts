import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { ApiError } from "../../../base/api/api-error.ts";
import type { KubeObject } from "../../../base/api/object.ts";
import type { ObjectView } from "../../../base/api/reply.ts";
import { schemaLibrary } from "../../schema/built-in.ts";
import { decodeObject, encodeObject } from "./envelope.ts";
import { writeProtobufList } from "./lists.ts";
import { encodeValue, encodeView, messageOf, requireSchema } from "./objects.ts";
import { schemaLookup } from "./schema-lookup.ts";
import { frameEvent } from "./watch-frames.ts";

const folder = new URL("../../../../schemas/", import.meta.url);
const schemaOf = schemaLookup(
  [{ apiVersion: "v1", schemaName: "io.k8s.api.core.v1.ConfigMap" }],
  schemaLibrary((fileName) => readFileSync(new URL(fileName, folder), "utf8")),
);

function viewOf(name: string, text = ""): ObjectView {
  const object: KubeObject = { kind: "ConfigMap", apiVersion: "v1", metadata: { name }, data: { text } };
  const json = () => Buffer.from(JSON.stringify(object));
  return { object, json, itemJson: json, itemSize: () => 0, writeItem: (_, at) => at, encodings: new Map() };
}

test("encodes an object once", () => {
  const view = viewOf("a");
  const schema = requireSchema(schemaOf, view.object);
  assert.equal(messageOf(view, schema), messageOf(view, schema));
  assert.deepEqual(decodeObject(encodeView(view, schemaOf), schemaOf), view.object);
  assert.deepEqual(encodeView(view, schemaOf), encodeValue(view.object, schemaOf));
});

test("a kind without a protobuf message is not acceptable", () => {
  for (const value of [{ kind: "Gadget", apiVersion: "example.com/v1" }, {}, null]) {
    assert.throws(
      () => encodeValue(value, schemaOf),
      (error) => error instanceof ApiError && error.code === 406,
    );
  }
});

test("encodes documents without a version", () => {
  const value = { kind: "APIVersions", versions: ["v1"], serverAddressByClientCIDRs: [] };
  const expected = "6b3873000a0f0a00120b41504956657273696f6e7312040a0276311a002200";
  assert.equal(encodeValue(value, schemaOf).toString("hex"), expected);
});

for (const [count, maxBytes] of [
  [0, 1000],
  [3, 1000],
  [3, 10],
  [400, 100_000],
] as const) {
  test(`a list of ${count} is the same in one buffer and as a stream above ${maxBytes} bytes`, async () => {
    const views = Array.from({ length: count }, (_, index) => viewOf(`item-${index}`, "x".repeat(index * 2)));
    const list = {
      ...{ kind: "ConfigMapList", apiVersion: "v1", metadata: { resourceVersion: "7" } },
      items: views.map((view) => view.object),
    };
    const schema = requireSchema(schemaOf, list);
    const written = writeProtobufList(
      { type: list, schema, metadata: list.metadata, views, message: messageOf },
      maxBytes,
    );
    const isStream = !(written instanceof Uint8Array);
    const bytes = isStream ? Buffer.concat(await collect(written)) : Buffer.from(written);
    assert.equal(isStream, bytes.length > maxBytes);
    assert.ok(bytes.equals(encodeObject(schema, list)));
  });
}

test("PartialObjectMetadataList v1beta1 has its fields in reverse order", () => {
  const type = { kind: "PartialObjectMetadataList", apiVersion: "meta.k8s.io/v1beta1" };
  const schema = requireSchema(schemaOf, type);
  const views = [viewOf("a")];
  const metadata = { resourceVersion: "7" };
  const written = writeProtobufList({ type, schema, metadata, views, message: messageOf }, 1000);
  const items = [{ metadata: { name: "a" } }];
  assert.deepEqual(written, encodeObject(schema, { ...type, metadata, items }));
});

test("a watch event begins with its length", () => {
  const envelope = encodeView(viewOf("a", "x".repeat(300)), schemaOf);
  const frame = frameEvent("ADDED", envelope);
  assert.equal(frame.readUInt32BE(), frame.length - 4);
  assert.equal(frame.subarray(4, 11).toString("hex"), "0a054144444544");
  assert.deepEqual(frame.subarray(frame.length - envelope.length), envelope);
  assert.equal(frameEvent("DELETED", Buffer.of()).toString("hex"), "0000000d0a0744454c4554454412020a00");
});

async function collect(chunks: AsyncIterable<Uint8Array>): Promise<Uint8Array[]> {
  const collected: Uint8Array[] = [];
  for await (const chunk of chunks) collected.push(chunk);
  return collected;
}
