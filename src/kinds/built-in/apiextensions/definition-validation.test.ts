import assert from "node:assert/strict";
import { test } from "node:test";
import type { JsonObject } from "../../../base/api/object.ts";
import { kindUnderTest } from "../kind.suite.ts";
import { apiextensionsKinds } from "./group.ts";

const kind = kindUnderTest(apiextensionsKinds, "CustomResourceDefinition");
const metadata = { name: "things.example.com" };
const names = { plural: "things", kind: "Thing" };

function body(schema: JsonObject, change: JsonObject = {}, version: JsonObject = {}): JsonObject {
  const versions = [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema: schema }, ...version }];
  return { metadata, spec: { group: "example.com", scope: "Namespaced", names, versions, ...change } };
}

const property = (schema: JsonObject) => body({ type: "object", properties: { a: schema } });
const AT = "spec.validation.openAPIV3Schema.properties[a]";

test("rejects a schema that is not structural with the messages of kube-apiserver", () => {
  const rows: [schema: JsonObject, expected: string[]][] = [
    [{ type: "string" }, []],
    [{ type: "array", items: { type: "string" }, "x-kubernetes-list-type": "set" }, []],
    [{ "x-kubernetes-int-or-string": true, anyOf: [{ type: "integer" }, { type: "string" }] }, []],
    [{}, [`${AT}.type: Required value: must not be empty for specified object fields`]],
    [
      { type: "object", oneOf: [{ required: ["b"], properties: { b: { minimum: 1, description: "x" } } }] },
      [`${AT}.oneOf[0].properties[b].description: Forbidden: must be empty to be structural`],
    ],
    [
      { type: "string", pattern: "a**" },
      [
        `${AT}.pattern: Invalid value: "a**": must be a valid regular expression, but isn't: error parsing regexp: invalid nested repetition operator: \`**\``,
      ],
    ],
    [
      {
        type: "array",
        items: { type: "object", properties: { k: { type: "string" } } },
        "x-kubernetes-list-type": "map",
      },
      [`${AT}.x-kubernetes-list-map-keys: Required value: must not be empty if x-kubernetes-list-type is map`],
    ],
    [
      {
        type: "array",
        items: { type: "object", properties: { k: { type: "string", nullable: true } } },
        "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": ["k", "k", "other"],
      },
      [
        `${AT}.x-kubernetes-list-map-keys: Invalid value: ["k","k","other"]: must not contain duplicate entries`,
        `${AT}.x-kubernetes-list-map-keys: Invalid value: ["k","k","other"]: entries must all be names of item properties`,
        `${AT}.items.properties[k].default: Required value: this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property`,
        `${AT}.items.properties[k].nullable: Forbidden: this property is in x-kubernetes-list-map-keys, so it cannot be nullable`,
      ],
    ],
  ];
  for (const [schema, expected] of rows) assert.deepEqual(kind.problems(property(schema)), expected);
});

test("rejects fields in logic junctors that are not specified outside of them", () => {
  const schema = {
    type: "object",
    properties: { a: { type: "object" } },
    anyOf: [{ required: ["b"], properties: { b: {} } }],
  };
  assert.deepEqual(kind.problems(body(schema)), [
    "spec.validation.openAPIV3Schema.properties[b]: Required value: because it is defined in spec.validation.openAPIV3Schema.anyOf[0].properties[b]",
  ]);
});

test("reports differing versions one by one", () => {
  const good = { type: "object" };
  const versions = [
    { name: "v1", served: true, storage: true, schema: { openAPIV3Schema: good } },
    { name: "v2", served: true, storage: false, schema: { openAPIV3Schema: { type: "string" } } },
  ];
  assert.deepEqual(kind.problems(body(good, { versions })), [
    'spec.versions[1].schema.openAPIV3Schema.type: Invalid value: "string": must be object at the root',
  ]);
});

test("restricts the root of a schema with a status subresource", () => {
  const [problem] = kind.problems(body({ type: "object", maxProperties: 3 }, {}, { subresources: { status: {} } }));
  assert.match(
    problem ?? "",
    /^spec\.validation\.openAPIV3Schema: Invalid value: \{"ID":"",.*: only \[Description Type /,
  );
});

test("warns about unchecked formats", () => {
  assert.deepEqual(kind.warnings(property({ type: "string", format: "phone" })), ['unrecognized format "phone"']);
  assert.deepEqual(kind.warnings(property({ type: "string", format: "date-time" })), []);
});

const ruled = (rule: string, more: JsonObject = {}): JsonObject => {
  const items = { type: "string", maxLength: 10 };
  const list = { type: "array", maxItems: 10, items, "x-kubernetes-validations": [{ rule }], ...more };
  return body({ type: "object", properties: { a: list } });
};

test("stored expressions may use features that new ones must not", () => {
  const text = "self.includes('a')";
  const [problem] = kind.problems(ruled(text));
  assert.match(problem ?? "", /undeclared reference to 'includes'/);
  assert.deepEqual(kind.problems(ruled(text, { description: "another" }), { previous: ruled(text) }), []);
  assert.equal(kind.problems(ruled(`!${text}`), { previous: ruled(text) }).length, 1);
});

test("accepts a stored rule that exceeds the cost limit while the schema is unchanged", () => {
  const costly = "self.all(x, self.all(y, x == y))";
  const limit = /rule: Forbidden: estimated rule cost exceeds budget/;
  const total = /estimated rule cost total for entire OpenAPIv3 schema exceeds budget/;
  const large = ruled(costly, { maxItems: 3000 });
  assert.match(kind.problems(large).join(), limit);
  assert.deepEqual(kind.problems(large, { previous: large }), []);
  assert.match(kind.problems(ruled(costly, { maxItems: 3001 }), { previous: large }).join(), limit);
  const huge = ruled(costly, { maxItems: 30_000 });
  assert.doesNotMatch(kind.problems(huge, { previous: huge }).join(), limit);
  assert.match(kind.problems(huge, { previous: huge }).join(), total);
});
