/** Members at the root of a schema that Go tells from their zero although they say nothing. */
const ODD_ROOTS: readonly object[] = [
  ...[{ enum: [] }, { allOf: [] }, { required: [] }, { "x-kubernetes-list-map-keys": [] }],
  ...[{ dependencies: {} }, { patternProperties: {} }, { definitions: {} }, { properties: {} }],
  ...[{ additionalProperties: false }, { "x-kubernetes-preserve-unknown-fields": false }, { nullable: false }],
  ...[{ id: "" }, { dependencies: { a: ["b"] } }, { dependencies: { a: { type: "string" } } }],
];

const EMBEDDED = {
  type: "object",
  "x-kubernetes-embedded-resource": true,
  "x-kubernetes-preserve-unknown-fields": true,
};
const POD = { apiVersion: "v1", kind: "Pod" };

/** Objects that defaults have embedded: their metadata becomes what ObjectMeta prints, in the stored definition, too. */
const EMBEDDED_OBJECTS: readonly object[] = [
  { ...POD, metadata: { name: "x", unknown: 1, labels: { a: "b" } } },
  { ...POD, metadata: { name: 5 } },
  { ...POD, metadata: "x" },
  { ...POD, metadata: null },
  { ...POD, metadata: { creationTimestamp: null, finalizers: [], labels: {} } },
  { ...POD, metadata: { creationTimestamp: "x" } },
  { ...POD, metadata: { managedFields: [{ manager: "x" }, { operation: "Replace", fieldsType: "V0" }] } },
  { kind: "Pod" },
  { apiVersion: 5, kind: "Pod" },
];

const rules = (...texts: readonly string[]) => ({ "x-kubernetes-validations": texts.map((rule) => ({ rule })) });
const five = { type: "integer", default: 5 };

/** Defaults that the rules of their schemas are run for. */
const JUDGED_DEFAULTS: readonly object[] = [
  { type: "object", properties: { a: { type: "integer" } }, default: { a: 5 }, ...rules("self.a < 3", "self.a < 4") },
  { type: "object", properties: { a: five }, default: {}, ...rules("self.a < 3") },
  { type: "object", properties: { a: { ...five, ...rules("self < 3") } } },
  { ...five, "x-kubernetes-validations": [{ rule: "self < 3", messageExpression: "'is ' + string(self)" }] },
  { ...five, "x-kubernetes-validations": [{ rule: "self < 3", reason: "FieldValueForbidden" }] },
  { ...five, "x-kubernetes-validations": [{ rule: "oldSelf.hasValue()", optionalOldSelf: true }] },
  { ...five, "x-kubernetes-validations": [{ rule: "!oldSelf.hasValue()", optionalOldSelf: true }] },
  { ...five, ...rules("oldSelf == self") },
  { ...five, maximum: 3, ...rules("self < 3") },
  { ...five, ...rules("1 / (self - 5) > 0") },
  { ...five, ...rules("self <") },
  { type: "array", maxItems: 5, items: { type: "integer", ...rules("self < 3") }, default: [1, 5, 6] },
  { type: "array", maxItems: 5, items: { ...five, ...rules("self < 3") } },
  {
    type: "object",
    maxProperties: 4,
    additionalProperties: { type: "integer", ...rules("self < 3") },
    default: { a: 5 },
  },
  { ...EMBEDDED, default: POD, ...rules("self.kind == 'X'") },
];

/** Defaults beside formats that are none of their types. */
const FORMATTED_DEFAULTS: readonly object[] = [
  { type: "date", format: "duration", default: "" },
  { type: "string", format: "of-no-one", default: ["x"] },
  { type: "string", format: "of-no-one", default: 1 },
  { type: "string", format: "date", default: ["x"] },
  { type: "integer", format: "date", default: 1 },
  { type: "integer", format: "date", default: "x" },
  { type: "boolean", format: "date", default: true },
  { type: "boolean", format: "date", default: "x" },
  { type: "object", format: "date", default: "2020-01-01" },
  { type: "object", properties: { a: { type: "object", format: "uuid" } }, default: { a: "x" } },
];

/** Schemas of `spec.f`, or of the root, which random definitions hardly have. */
export const ODD_SCHEMAS: readonly object[] = [
  ...ODD_ROOTS,
  ...EMBEDDED_OBJECTS.map((value) => ({ "x-kubernetes-preserve-unknown-fields": true, default: value })),
  ...EMBEDDED_OBJECTS.map((value) => fieldOf({ ...EMBEDDED, default: value })),
  ...EMBEDDED_OBJECTS.map((value) => fieldOf({ type: "array", items: EMBEDDED, default: [value] })),
  ...[...JUDGED_DEFAULTS, ...FORMATTED_DEFAULTS].map(fieldOf),
];

function fieldOf(schema: object): object {
  return { properties: { spec: { type: "object", properties: { f: schema } } } };
}

/** Values that stand in the cells of a table in ways of their own. */
export const ODD_CELLS: readonly unknown[] = [
  ...[1234567.8, 0.00001, 1e21, 1e19, -0.5, 123456789, true, "<x>", [], {}],
  ...[{ b: "<&>\u2028", a: 1 }, ["<", 1.5, 1e-9], null],
];
