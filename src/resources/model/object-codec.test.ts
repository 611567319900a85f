import assert from "node:assert/strict";
import { test } from "node:test";
import type { KubeObject } from "../../base/api/object.ts";
import { DecodeError } from "../../data/encoding/json/json.ts";
import { encodeObject } from "../../data/encoding/protobuf/envelope.ts";
import { builtInSchema } from "../../kinds/schema-files/built-in-schemas.ts";
import { Draft } from "./draft.ts";
import { ObjectCodec } from "./object-codec.ts";

const codec = new ObjectCodec();
const fields = { "f:data": { "f:k": {} } };
const creatorFields = { fields, json: JSON.stringify(fields) };
const entry = { manager: "m", operation: "Update", apiVersion: "v1", fieldsType: "FieldsV1", fieldsV1: fields };
const object = (managedFields: object[], rest: object = { data: { k: "v" } }) =>
  ({
    kind: "Thing",
    apiVersion: "v1",
    metadata: { name: "one", uid: "u", resourceVersion: "7", managedFields },
    ...rest,
  }) as KubeObject;
const parse = (bytes: Uint8Array) => JSON.parse(Buffer.from(bytes).toString()) as unknown;

test("stores known JSON of fieldsV1 unchanged", () => {
  const marked = { fields, json: '{"f:data":{"f:k":{}} }' };
  for (const rest of [{}, { data: { k: "v" }, more: [1] }]) {
    const bytes = codec.writeDraft(new Draft(object([entry], rest), { creatorFields: marked }));
    assert.ok(Buffer.from(bytes).toString().includes(marked.json));
    assert.deepEqual(parse(bytes), parse(codec.write(object([entry], rest))));
    assert.match(Buffer.from(bytes).toString(), /^\{"kind":"Thing","apiVersion":"v1","metadata":\{"name"/);
  }
});

test("does not use the known JSON of fieldsV1 for replaced entries", () => {
  const others = [[{ ...entry, fieldsV1: { "f:spec": {} } }], [entry, { ...entry, manager: "n" }], []];
  for (const managedFields of others) {
    const bytes = codec.writeDraft(new Draft(object(managedFields), { creatorFields }));
    assert.deepEqual(bytes, codec.write(object(managedFields)));
  }
});

test("reads Kubernetes protobuf with the defaults of its version", () => {
  const schema = builtInSchema("io.k8s.api.core.v1.RangeAllocation");
  const record = { kind: "RangeAllocation", apiVersion: "v1", metadata: { name: "r" }, range: "1-9", data: "AQ==" };
  const seen: KubeObject[] = [];
  const reading = new ObjectCodec({
    schemaOf: (apiVersion, kind) => (`${apiVersion} ${kind}` === "v1 RangeAllocation" ? schema : undefined),
    setDefaults: (one) => seen.push(one),
  });
  const stored = { key: "/k", value: encodeObject(schema, record), createRevision: 3, modRevision: 5 };
  const read = reading.read(stored, 9);
  assert.deepEqual(read, { ...record, metadata: { name: "r", resourceVersion: "9" } });
  assert.deepEqual(seen, [read]);
  assert.throws(() => codec.read(stored), DecodeError);
  assert.ok(reading.mayHave(stored, Buffer.from('"ownerReferences"')), "protobuf does not contain names");
  const json = { ...stored, value: reading.write(record) };
  assert.equal(reading.mayHave(json, Buffer.from('"ownerReferences"')), false);
  assert.ok(reading.mayHave(json, Buffer.from('"range"')));
});

test("shares what was decoded from the same bytes at the same revision", () => {
  const value = codec.write(object([]));
  const written = { key: "/registry/things/one", value, createRevision: 1, modRevision: 7 };
  const shared = codec.share(written);
  assert.equal(codec.share({ ...written }), shared);
  assert.equal(codec.share({ ...written, modRevision: 8 }).metadata.resourceVersion, "8");
  assert.equal(shared.metadata.resourceVersion, "7");
  assert.notEqual(codec.share({ ...written, value: Buffer.from(value) }), shared);
});
