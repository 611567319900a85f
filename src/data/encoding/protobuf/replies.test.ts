import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { expired, notFound } from "../../../base/api/api-error.ts";
import { BodyError } from "../../../base/api/call.ts";
import type { JsonObject, KubeObject } from "../../../base/api/object.ts";
import type { ApiReply, ObjectView, WatchEvent } from "../../../base/api/reply.ts";
import { schemaLibrary } from "../../schema/built-in.ts";
import type { EncodedReply } from "../reply/encoded-reply.ts";
import { encodeError, encodeReply, type ReplyContext } from "../reply/reply.ts";
import { decodeBody } from "../request-body.ts";
import { bodyOf, testRequest } from "../test-request.suite.ts";
import { decodeObject } from "./envelope.ts";
import { encodeValue } from "./objects.ts";
import { schemaLookup } from "./schema-lookup.ts";

const PROTOBUF = "application/vnd.kubernetes.protobuf";
const folder = new URL("../../../../schemas/", import.meta.url);
const schemaOf = schemaLookup(
  [{ apiVersion: "v1", schemaName: "io.k8s.api.core.v1.ConfigMap" }],
  schemaLibrary((fileName) => readFileSync(new URL(fileName, folder), "utf8")),
);
const CONTEXT: ReplyContext = { warnings: [], auditId: "id", now: () => 0, schemaOf };

function viewOf(object: KubeObject): ObjectView {
  const json = () => Buffer.from(JSON.stringify(object));
  const writeItem = (target: Uint8Array, at: number) => at + json().copy(target, at);
  return { object, json, itemJson: json, itemSize: () => json().length, writeItem, encodings: new Map() };
}

const configMap = (name: string): KubeObject => ({
  ...{ kind: "ConfigMap", apiVersion: "v1", metadata: { name, labels: { a: "b" } }, data: { k: "v" } },
});
const custom: KubeObject = { kind: "Gadget", apiVersion: "example.com/v1", metadata: { name: "g" }, spec: {} };
const partial = (kind: string) => `${PROTOBUF};as=${kind};v=v1;g=meta.k8s.io`;

function encode(reply: ApiReply, accept: string = PROTOBUF, context = CONTEXT): EncodedReply {
  return encodeReply(testRequest({ accept }), reply, context);
}

async function decoded(reply: EncodedReply): Promise<JsonObject> {
  assert.equal(reply.headers["content-type"], PROTOBUF);
  return decodeObject(await bodyOf(reply), schemaOf);
}

test("encodes objects, lists, statuses and documents", async () => {
  const object = encode({ type: "object", code: 201, view: viewOf(configMap("a")) });
  assert.equal(object.status, 201);
  assert.deepEqual(await decoded(object), configMap("a"));

  const list: ApiReply = {
    ...{ type: "list", kind: "ConfigMapList", apiVersion: "v1", metadata: { resourceVersion: "9" } },
    items: [viewOf(configMap("a")), viewOf(configMap("b"))],
  };
  const { items, ...head } = await decoded(encode(list));
  assert.deepEqual(head, { kind: "ConfigMapList", apiVersion: "v1", metadata: { resourceVersion: "9" } });
  assert.deepEqual(items, [
    { metadata: { name: "a", labels: { a: "b" } }, data: { k: "v" } },
    { metadata: { name: "b", labels: { a: "b" } }, data: { k: "v" } },
  ]);

  const { status } = notFound({ group: "", resource: "things" }, "x");
  assert.deepEqual(await decoded(encode({ type: "status", status })), JSON.parse(JSON.stringify(status)));
  const document = {
    kind: "APIGroup",
    apiVersion: "v1",
    name: "g",
    versions: null,
    preferredVersion: { groupVersion: "", version: "" },
  };
  assert.deepEqual(await decoded(encode({ type: "document", code: 200, value: document })), document);
});

test("encodes PartialObjectMetadata, also of custom objects", async () => {
  const context = { ...CONTEXT, isCustom: true };
  const object = encode({ type: "object", code: 200, view: viewOf(custom) }, partial("PartialObjectMetadata"), context);
  const expected = { kind: "PartialObjectMetadata", apiVersion: "meta.k8s.io/v1", metadata: { name: "g" } };
  assert.deepEqual(await decoded(object), expected);
  const list: ApiReply = {
    ...{ type: "list", kind: "GadgetList", apiVersion: "example.com/v1", metadata: {}, items: [viewOf(custom)] },
  };
  assert.deepEqual(await decoded(encode(list, partial("PartialObjectMetadataList"), context)), {
    ...{ kind: "PartialObjectMetadataList", apiVersion: "meta.k8s.io/v1", metadata: {} },
    items: [{ metadata: { name: "g" } }],
  });
});

test("encodes errors, and rejects protobuf for custom objects", async () => {
  const error = encodeError(testRequest({ accept: PROTOBUF }), notFound({ group: "", resource: "x" }, "y"), CONTEXT);
  assert.equal(error.status, 404);
  assert.equal((await decoded(error)).reason, "NotFound");
  const context = { ...CONTEXT, isCustom: true };
  const refused = encode({ type: "object", code: 200, view: viewOf(custom) }, PROTOBUF, context);
  assert.equal(refused.status, 406);
  assert.match(String((await decoded(refused)).message), /^only the following media types are accepted/);
  const unknown = encode({ type: "object", code: 200, view: viewOf(custom) });
  assert.equal(unknown.status, 406);
  assert.match(String((await decoded(unknown)).message), /cannot be encoded to a protobuf message$/);
});

/** The events of a stream: type and object. */
function* framesOf(bytes: Buffer): Generator<readonly [string, JsonObject]> {
  for (let at = 0; at < bytes.length; ) {
    const size = bytes.readUInt32BE(at);
    const frame = bytes.subarray(at + 4, at + 4 + size);
    const type = frame.subarray(2, 2 + (frame[1] ?? 0)).toString();
    yield [type, decodeObject(frame.subarray(frame.indexOf("k8s\0")), schemaOf)];
    at += 4 + size;
  }
}

async function* from(batches: readonly (readonly WatchEvent[])[]): AsyncGenerator<readonly WatchEvent[]> {
  yield* batches;
  throw expired("too old");
}

test("encodes watch events", async () => {
  const view = viewOf(configMap("a"));
  const batches: WatchEvent[][] = [
    [{ type: "ADDED", view }],
    [
      { type: "MODIFIED", view },
      { type: "BOOKMARK", view },
    ],
  ];
  const reply = encode({ type: "watch", events: from(batches) }, `${PROTOBUF};stream=watch`);
  assert.equal(reply.headers["content-type"], `${PROTOBUF};stream=watch`);
  const events = [...framesOf(await bodyOf(reply))];
  assert.deepEqual(
    events.map(([type]) => type),
    ["ADDED", "MODIFIED", "BOOKMARK", "ERROR"],
  );
  assert.deepEqual(events[1]?.[1], configMap("a"));
  assert.equal(events[3]?.[1].code, 410);

  const metadata = encode({ type: "watch", events: from(batches) }, partial("PartialObjectMetadata"));
  const [first] = framesOf(await bodyOf(metadata));
  assert.equal(first?.[1].kind, "PartialObjectMetadata");
  assert.deepEqual(first?.[1].metadata, configMap("a").metadata);
});

test("decodes request bodies", () => {
  const bytes = encodeValue(configMap("a"), schemaOf);
  const body = decodeBody(bytes, PROTOBUF, { schemaOf });
  assert.deepEqual([body.value, body.format, body.duplicates()], [configMap("a"), "protobuf", []]);
  const options = { kind: "DeleteOptions", apiVersion: "apps/v1", gracePeriodSeconds: 0, dryRun: ["All"] };
  assert.deepEqual(decodeBody(encodeValue(options, schemaOf), PROTOBUF, { schemaOf }).value, options);
  assert.equal(decodeBody(Buffer.of(), PROTOBUF, { schemaOf }).value, null);
  assert.throws(
    () => decodeBody(Buffer.from("nonsense"), PROTOBUF, { schemaOf }),
    (error) => error instanceof BodyError && /expected prefix \[107 56 115 0\]$/.test(error.message),
  );
  assert.throws(() => decodeBody(bytes, PROTOBUF), BodyError);
});
