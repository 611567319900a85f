type Content = Readonly<Record<string, unknown>>;

/** An object of an administrator that makes much work of a small request, and that request. */
export interface CostlyObject {
  readonly name: string;
  /** Validating policies, each with its validations, and perhaps variables. */
  readonly policies?: readonly Content[];
  /** The schema of `spec` of a custom resource, and what else its version has. */
  readonly definition?: { readonly spec: Content; readonly version?: Content };
  /** The `data` of a ConfigMap, or the `spec` of a custom object. Below 64 KiB, so that it is not large by its size. */
  readonly content: Content | (() => Content);
  /** The status of the response. */
  readonly code: number;
  readonly says?: RegExp;
  /** Creates so many custom objects, and lists and watches them as a Table. */
  readonly listed?: number;
}

const times = <T>(count: number, make: (index: number) => T): T[] => Array.from({ length: count }, (_, at) => make(at));
const record = <T>(count: number, value: (index: number) => T): Readonly<Record<string, T>> =>
  Object.fromEntries(times(count, (at) => [`k${at}`, value(at)]));

const validations = (...expressions: readonly string[]): Content => ({
  validations: expressions.map((expression) => ({ expression })),
});
const policy = (name: string, expression: string, data: Content, more: Content = {}): CostlyObject => ({
  name: `a policy with ${name}`,
  policies: [{ ...validations(expression), ...more }],
  content: data,
  code: 201,
});
/** Variables that each use the one before. */
const chain = (first: string, next: (before: string) => string, length: number): Content => ({
  variables: [
    { name: "v0", expression: first },
    ...times(length, (at) => ({ name: `v${at + 1}`, expression: next(`variables.v${at}`) })),
  ],
});

const PAIRS = "object.data.all(a, object.data.all(b, a != b || a == b))";
const WORDS = times(8000, (at) => at).join();

/** Policies of an administrator, and ConfigMaps of users who may create them. */
const policies: readonly CostlyObject[] = [
  policy(
    "pairs of 1,000 keys",
    PAIRS,
    record(1000, () => "v"),
  ),
  {
    name: "ten policies with pairs of 400 keys",
    policies: times(10, () => validations(PAIRS)),
    content: record(400, () => "v"),
    code: 201,
  },
  policy("a pattern from the object", "object.data.a.matches(object.data.b)", {
    a: "a".repeat(50_000),
    b: `(${"a?".repeat(900)}){1}${"a".repeat(900)}`,
  }),
  policy(
    "patterns that backtrack elsewhere",
    "object.data.a.matches('^(a+)+$') || object.data.a.matches('(a|b|ab)*c')",
    {
      a: "ab".repeat(30_000),
    },
  ),
  policy(
    "a text that grows by replace",
    "variables.v5.endsWith('y')",
    { a: "x".repeat(17_000), b: "z".repeat(17_000) },
    {
      variables: times(6, (at) => ({
        name: `v${at}`,
        expression: `object.data.a.replace('x', object.data.b) + '${at}'`,
      })),
    },
  ),
  policy("a join of 900 MB", "object.data.a.split('').join(object.data.b).size() > 0", {
    a: "x".repeat(30_000),
    b: "y".repeat(30_000),
  }),
  policy(
    "a text that doubles",
    "variables.v15.size() > 0",
    { a: "x".repeat(1000) },
    chain("object.data.a", (before) => `${before} + ${before}`, 15),
  ),
  policy(
    "a list that doubles",
    "variables.v24.size() > 0",
    { a: "x" },
    chain("[object.data.a]", (before) => `${before} + ${before}`, 24),
  ),
  policy("sets of 8,000 words", "sets.equivalent(object.data.a.split(','), object.data.a.split(','))", { a: WORDS }),
  policy(
    "sorting for each of 8,000 words",
    "object.data.a.split(',').all(w, object.data.a.split(',').sort().size() > 0)",
    { a: WORDS },
  ),
  policy("the size of a text, for each of 8,000 words", "object.data.a.split(',').all(w, object.data.b.size() > 0)", {
    a: WORDS,
    b: "\u4e2d".repeat(8000),
  }),
  policy(
    "the size of a map, for each of its 2,000 keys",
    "object.data.all(k, object.data.size() > 0)",
    record(2000, () => ""),
  ),
  policy(
    "a format of all data, for each key",
    "object.data.all(k, '%s'.format([object.data]).size() > 0)",
    record(2000, () => ""),
  ),
];

const definition = (name: string, spec: Content, content: CostlyObject["content"], code = 422): CostlyObject => ({
  name: `a definition with ${name}`,
  definition: { spec },
  content,
  code,
});
const items = (schema: Content): Content => ({ properties: { l: { type: "array", items: schema } } });
const list = (count: number, item: (index: number) => unknown) => () => ({ l: times(count, item) });
const anyOf = (depth: number): Content =>
  depth === 0 ? { required: ["a"] } : { anyOf: [anyOf(depth - 1), anyOf(depth - 1)] };
const OPEN = { type: "object", "x-kubernetes-preserve-unknown-fields": true } as const;
const columns = (count: number, jsonPath: string): Content => ({
  additionalPrinterColumns: times(count, (at) => ({ name: `c${at}`, type: "string", jsonPath })),
});

/** Definitions of an administrator, and custom objects of users who may create, list or watch them. */
const definitions: readonly CostlyObject[] = [
  definition(
    "2,048 alternatives for 4,000 items",
    items({ ...OPEN, ...anyOf(11) }),
    list(4000, () => ({})),
  ),
  definition(
    "5,000 required names for 4,000 items",
    items({ ...OPEN, required: Object.keys(record(5000, () => 0)) }),
    list(4000, () => ({})),
  ),
  definition(
    "5,000 properties for 4,000 items",
    items({ type: "object", properties: record(5000, () => ({ type: "string" })) }),
    list(4000, () => ({})),
    201,
  ),
  definition(
    "an enum of 5,000 values for 4,000 items",
    items({ type: "string", enum: Object.keys(record(5000, () => 0)) }),
    list(4000, () => "x"),
  ),
  definition("10,000 defaults", { properties: record(10_000, () => ({ type: "string", default: "x" })) }, {}, 201),
  definition(
    "100 defaults for 500 items",
    items({ type: "object", properties: record(100, () => ({ type: "string", default: "x" })) }),
    list(500, () => ({})),
    201,
  ),
  definition(
    "a pattern for 1,000 texts",
    items({ type: "string", pattern: "^(a|b|ab)*(c|d)*$" }),
    list(1000, () => `${"ab".repeat(25)}!`),
  ),
  definition(
    "1,000 lengths for a long text",
    { properties: { l: { type: "string", allOf: times(1000, () => ({ minLength: 60_000 })) } } },
    () => ({ l: "a".repeat(50_000) }),
  ),
  definition(
    "pairs in a validation rule",
    {
      properties: {
        l: {
          ...{ type: "array", maxItems: 700, items: { type: "string", maxLength: 20 } },
          "x-kubernetes-validations": [{ rule: "self.all(x, self.exists(y, y == x))" }],
        },
      },
    },
    list(700, (at) => `item-${at}`),
  ),
  {
    name: "100 columns that look everywhere in 40 objects",
    definition: { spec: OPEN, version: columns(100, ".spec..a") },
    content: list(3000, (at) => ({ a: at, b: { a: 1 } })),
    code: 201,
    listed: 40,
  },
  {
    name: "100 columns with filters that look everywhere",
    definition: { spec: OPEN, version: columns(100, ".spec.l[?(@..a==1)]..b") },
    content: list(300, () => ({ a: 1, b: { a: { a: 1 } } })),
    code: 201,
    listed: 20,
  },
];

/** What a second security probe found, and objects like it. */
export const costlyObjects: readonly CostlyObject[] = [...policies, ...definitions];
