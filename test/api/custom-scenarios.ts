import type { JsonObject } from "../../src/base/api/object.ts";

/** A request of a scenario. */
export interface CustomStep {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Below `/apis/<group>/`. */
  readonly path: string;
  readonly body?: unknown;
  readonly type?: string;
}

/**
 * Requests to the objects of one CustomResourceDefinition, whose responses are compared with those of kube-apiserver.
 */
export interface CustomScenario {
  readonly title: string;
  readonly group: string;
  readonly versions: readonly JsonObject[];
  readonly steps: readonly (CustomStep | DefinitionChange)[];
}

/** A JSON patch of the definition; later steps wait until both servers respond to `path` with `status`. */
export interface DefinitionChange {
  readonly change: readonly JsonObject[];
  readonly path: string;
  readonly status: number;
}

/** The plural name in all scenarios. */
export const PLURAL = "things";
const NAMESPACE = "fuzz";
const MERGE = "application/merge-patch+json";
const APPLY = "application/apply-patch+yaml";

const text = { type: "string" };
const object = (properties: JsonObject, more: JsonObject = {}): JsonObject => ({ type: "object", properties, ...more });
const version = (name: string, properties: JsonObject, more: JsonObject = {}): JsonObject => ({
  name,
  served: true,
  storage: false,
  schema: { openAPIV3Schema: object(properties) },
  ...more,
});

const at = (version: string, name = "", query = ""): string =>
  `${version}/namespaces/${NAMESPACE}/${PLURAL}${name === "" ? "" : `/${name}`}${query}`;

const bodyIn =
  (group: string) =>
  (version: string, name: string, spec: JsonObject): JsonObject => ({
    apiVersion: `${group}/${version}`,
    kind: "Thing",
    metadata: { name },
    spec,
  });

const get = (version: string, name: string): CustomStep => ({ method: "GET", path: at(version, name) });
const merge = (version: string, name: string, body: JsonObject, query = ""): CustomStep => ({
  method: "PATCH",
  path: at(version, name, query),
  body,
  type: MERGE,
});

const ALL = ["v1", "v2", "v3"];
const WRITES = "writes.example.com";
const inWrites = bodyIn(WRITES);
const applyTo = (version: string, name: string, spec: JsonObject, query: string): CustomStep => ({
  method: "PATCH",
  path: at(version, name, query),
  body: inWrites(version, name, spec),
  type: APPLY,
});
const old = (version: string): JsonObject => (version === "v1" ? { old: "o" } : {});

/** `v2` is stored; `old` is required in v1 and unknown elsewhere; v1 and v2 have different defaults and maxima. */
const WRITES_IN_OTHER_VERSIONS: CustomScenario = {
  title: "a write is defaulted, validated and tracked in its own version, then stored in another one",
  group: WRITES,
  versions: [
    version(
      "v1",
      {
        spec: object(
          { a: { type: "string", default: "a" }, both: text, n: { type: "integer", maximum: 10 }, old: text },
          { required: ["old"] },
        ),
        status: object({ x: text, one: text }),
      },
      { subresources: { status: {} } },
    ),
    version(
      "v2",
      {
        spec: object({ b: { type: "string", default: "b" }, both: text, n: { type: "integer", maximum: 20 } }),
        status: object({ x: text, n: { type: "integer" } }),
      },
      {
        storage: true,
        subresources: { status: {}, scale: { specReplicasPath: ".spec.n", statusReplicasPath: ".status.n" } },
      },
    ),
    version("v3", { spec: object({ both: text, b: text, n: { type: "integer" } }), status: object({ x: text }) }),
  ],
  steps: [
    { method: "POST", path: at("v1"), body: inWrites("v1", "one", { both: "x" }) },
    { method: "POST", path: at("v1"), body: inWrites("v1", "one", { both: "x", old: "o", unknown: 1 }) },
    ...ALL.map((name) => get(name, "one")),
    { method: "POST", path: at("v2"), body: inWrites("v2", "two", { both: "x", n: 15 }) },
    ...ALL.map((name) => get(name, "two")),
    merge("v1", "two", { spec: { both: "y" } }),
    merge("v1", "two", { spec: { old: "y" } }),
    merge("v1", "two", { spec: { old: "y", n: 3 } }),
    get("v2", "two"),
    merge("v1", "one", { spec: { n: 11 } }),
    merge("v2", "one", { spec: { n: 11 } }),
    merge("v2", "one", { spec: { n: 21 } }),
    merge("v3", "one", { spec: { n: 21 } }),
    merge("v2", "one", { spec: { both: "z" } }),
    merge("v1", "one/status", { status: { x: "s", one: "1" } }),
    merge("v2", "one/status", { status: { x: "s2", n: 3 } }),
    merge("v2", "one/scale", { spec: { replicas: 9 } }),
    merge("v1", "one", { spec: { old: "n", both: "dry" } }, "?dryRun=All"),
    { method: "POST", path: at("v1", "", "?dryRun=All"), body: inWrites("v1", "dry", { old: "o" }) },
    { method: "POST", path: at("v3", "", "?dryRun=All"), body: inWrites("v3", "dry", { b: "o" }) },
    ...ALL.map((name) => applyTo(name, `applied-${name}`, { both: "q", ...old(name) }, "?fieldManager=m")),
    ...ALL.flatMap((first) =>
      ALL.map((name) =>
        applyTo(name, `applied-${first}`, { both: first + name, ...old(name) }, "?fieldManager=m2&force=true"),
      ),
    ),
    ...ALL.flatMap((first) => ALL.map((name) => applyTo(name, `applied-${first}`, old(name), "?fieldManager=m"))),
    ...ALL.flatMap((first): CustomStep[] => [
      {
        method: "POST",
        path: at(first, "", "?fieldManager=creator"),
        body: inWrites(first, `patched-${first}`, { both: "x", ...old(first), ...(first !== "v1" && { b: "9" }) }),
      },
      ...ALL.flatMap((name) => [
        merge(name, `patched-${first}`, { spec: { both: name, ...old(name) } }, "?fieldManager=w"),
        merge(name, `patched-${first}`, { metadata: { labels: { in: name } } }, "?fieldManager=w"),
        get(name, `patched-${first}`),
      ]),
    ]),
    merge("v3", "patched-v3", { metadata: { finalizers: ["example.com/f"] } }),
    { method: "DELETE", path: at("v3", "patched-v3") },
    merge("v1", "patched-v3", { metadata: { finalizers: null }, spec: { old: "o" } }),
    get("v1", "patched-v3"),
  ],
};

const UNSERVED = "unserved.example.com";
const inUnserved = bodyIn(UNSERVED);

/** `v1` is stored and not served, then the other way round. */
const UNSERVED_VERSIONS: CustomScenario = {
  title: "the schema of a version that is not served prunes, defaults and tracks all the same",
  group: UNSERVED,
  versions: [
    version(
      "v1",
      { spec: object({ a: { type: "string", default: "a" }, both: text }) },
      { storage: true, served: false },
    ),
    version("v2", { spec: object({ a: text, b: { type: "string", default: "b" }, both: text }) }),
  ],
  steps: [
    { method: "POST", path: at("v2"), body: inUnserved("v2", "one", { b: "kept?", both: "x" }) },
    get("v2", "one"),
    merge("v2", "one", { spec: { a: "set", b: "again" } }),
    get("v2", "one"),
    {
      change: [
        { op: "replace", path: "/spec/versions/0/served", value: true },
        { op: "replace", path: "/spec/versions/1/served", value: false },
        { op: "replace", path: "/spec/versions/0/storage", value: false },
        { op: "replace", path: "/spec/versions/1/storage", value: true },
      ],
      path: at("v1", "one"),
      status: 200,
    },
    get("v1", "one"),
    merge("v1", "one", { spec: { both: "y" } }),
    { method: "POST", path: at("v1"), body: inUnserved("v1", "two", { b: "unknown" }) },
    get("v1", "two"),
  ],
};

const RATCHETED = "ratcheted.example.com";
const inRatcheted = bodyIn(RATCHETED);
const below20 = (message: string): JsonObject => ({
  "x-kubernetes-validations": [{ rule: "self < 20", message }],
});
const integer = { type: "integer" };
const keyed = {
  type: "array",
  maxItems: 5,
  "x-kubernetes-list-type": "map",
  "x-kubernetes-list-map-keys": ["k"],
};
const LOOSE = object({
  a: integer,
  b: text,
  at: { type: "array", maxItems: 5, items: integer },
  m: { type: "object", maxProperties: 5, additionalProperties: integer },
  list: { ...keyed, items: object({ k: text, v: integer }, { required: ["k"] }) },
  set: { type: "array", maxItems: 5, items: integer },
});
const STRICT = object({
  a: { ...integer, ...below20("a is too large") },
  b: {
    ...text,
    maxLength: 10,
    "x-kubernetes-validations": [
      { rule: "self != 'bad'", messageExpression: "'this is ' + self" },
      { rule: "self == oldSelf || self == 'new'", message: "b does not change" },
    ],
  },
  at: { type: "array", maxItems: 5, items: { ...integer, ...below20("an item is too large") } },
  m: { type: "object", maxProperties: 5, additionalProperties: { ...integer, ...below20("a value is too large") } },
  list: {
    ...keyed,
    items: {
      ...object({ k: text, v: integer }, { required: ["k"] }),
      "x-kubernetes-validations": [{ rule: "!has(self.v) || self.v < 20", message: "v is too large", fieldPath: ".v" }],
    },
  },
  set: { type: "array", maxItems: 5, items: integer, "x-kubernetes-list-type": "set" },
});

const SPECS: Readonly<Record<string, JsonObject>> = {
  a: { a: 50 },
  b: { b: "bad" },
  at: { at: [50, 1] },
  m: { m: { x: 50 } },
  list: { list: [{ k: "one", v: 50 }, { k: "two" }] },
  set: { set: [1, 1] },
};

/** Objects that were valid when created, with one invalid field each: kube-apiserver visits fields in any order. */
const RATCHETING: CustomScenario = {
  title: "what a new rule finds in a part that does not change is a warning",
  group: RATCHETED,
  versions: [version("v1", { spec: LOOSE }, { storage: true }), version("v2", { spec: LOOSE }, { served: false })],
  steps: [
    ...Object.entries(SPECS).map(
      ([name, spec]): CustomStep => ({ method: "POST", path: at("v1"), body: inRatcheted("v1", name, spec) }),
    ),
    {
      change: [
        { op: "replace", path: "/spec/versions/0/schema/openAPIV3Schema", value: object({ spec: STRICT }) },
        { op: "replace", path: "/spec/versions/1/served", value: true },
      ],
      path: at("v2", "a"),
      status: 200,
    },
    ...Object.keys(SPECS).map((name) => merge("v1", name, { metadata: { labels: { changed: "yes" } } })),
    merge("v1", "a", { spec: { a: 51 } }),
    merge("v1", "a", { spec: { b: "fine" } }),
    merge("v1", "a", { spec: { a: 3 } }),
    merge("v1", "b", { spec: { b: "other" } }),
    merge("v1", "b", { spec: { b: "new" } }),
    merge("v1", "at", { spec: { at: [50, 1, 2] } }),
    merge("v1", "at", { spec: { at: [2, 1] } }),
    merge("v1", "m", { spec: { m: { y: 1 } } }),
    merge("v1", "m", { spec: { m: { x: 51 } } }),
    merge("v1", "list", { spec: { list: [{ k: "two" }, { k: "one", v: 50 }] } }),
    merge("v1", "list", { spec: { list: [{ k: "two" }, { k: "one", v: 51 }] } }),
    merge("v1", "set", { spec: { set: [1, 1, 2] } }),
    merge("v1", "set", { spec: { set: [1, 2] } }),
    merge("v1", "set", { spec: { set: [1, 2, 1] } }),
  ],
};

/** All scenarios. */
export const CUSTOM_SCENARIOS: readonly CustomScenario[] = [WRITES_IN_OTHER_VERSIONS, UNSERVED_VERSIONS, RATCHETING];
