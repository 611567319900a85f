import assert from "node:assert/strict";
import { test } from "node:test";
import type { KubeObject } from "../../api/object.ts";
import { Draft } from "./draft.ts";
import { encodeDraft, encodeObject } from "./stored-object.ts";

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

test("known JSON of fieldsV1 is stored as it is", () => {
  const marked = { fields, json: '{"f:data":{"f:k":{}} }' };
  for (const rest of [{}, { data: { k: "v" }, more: [1] }]) {
    const bytes = encodeDraft(new Draft(object([entry], rest), { creatorFields: marked }));
    assert.ok(Buffer.from(bytes).toString().includes(marked.json));
    assert.deepEqual(parse(bytes), parse(encodeObject(object([entry], rest))));
    assert.match(Buffer.from(bytes).toString(), /^\{"kind":"Thing","apiVersion":"v1","metadata":\{"name"/);
  }
});

test("the JSON of fieldsV1 is not used for entries that somebody has replaced", () => {
  const others = [[{ ...entry, fieldsV1: { "f:spec": {} } }], [entry, { ...entry, manager: "n" }], []];
  for (const managedFields of others) {
    const bytes = encodeDraft(new Draft(object(managedFields), { creatorFields }));
    assert.deepEqual(bytes, encodeObject(object(managedFields)));
  }
});
