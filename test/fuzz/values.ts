import type { Json, JsonObject } from "../../src/base/api/object.ts";
import type { Schema } from "../../src/data/schema/schema.ts";
import { type Corpus, fieldKey } from "./corpus.ts";
import type { Random } from "./random.ts";

/** Makes values for fields: such as the real server takes, or such as it refuses. */
export class Values {
  readonly #random: Random;
  readonly #corpus: Corpus;

  constructor(random: Random, corpus: Corpus) {
    this.#random = random;
    this.#corpus = corpus;
  }

  /** A value that the field of a component may well have. */
  plausible(component: string | undefined, field: string, schema: Schema, depth = 4): Json {
    const random = this.#random;
    const known = this.#corpus.good.get(fieldKey(component, field)) ?? [];
    if (known.length > 0 && random.chance(0.6)) return structuredClone(random.pick(known));
    if (random.chance(0.04)) return random.pick<Json>([null, emptyOf(schema)]);
    return this.#generate(field, schema, depth);
  }

  /** A value that the field should be refused for, given the one that it has. */
  wrong(component: string | undefined, field: string, schema: Schema, current: Json | undefined): Json {
    const random = this.#random;
    const known = this.#corpus.bad.get(fieldKey(component, field)) ?? [];
    if (known.length > 0 && random.chance(0.25)) return structuredClone(random.pick(known));
    if (random.chance(0.03)) return random.pick<Json>([7, "text", true, [], {}, ["a"], { a: "b" }, 1.5]);
    if (schema.wire !== undefined) return random.pick<Json>(WRONG_WIRE[schema.wire] ?? ["x"]);
    if (schema.enum) return random.pick<Json>(["Nope", "", String(schema.enum[0]).toLowerCase()]);
    if (schema.type === "array") return this.#wrongList(field, schema, current);
    if (schema.type === "integer" || schema.type === "number") return random.pick(WRONG_NUMBERS);
    if (schema.type === "string")
      return schema.format === "byte" ? random.pick(["AAE", "%"]) : random.pick(WRONG_TEXTS);
    if (schema.type === "boolean") return current !== true;
    if (schema.values !== undefined) return { [random.pick(WRONG_KEYS)]: this.#member(field, schema, 2) };
    return random.chance(0.5) ? {} : this.#generate(field, schema, 2);
  }

  #wrongList(field: string, schema: Schema, current: Json | undefined): Json {
    const random = this.#random;
    const items = Array.isArray(current) ? current : [];
    const items2 = schema.items ?? {};
    const more = () => this.plausible(items2.component, field, items2, 2);
    const first = items[0] ?? more();
    const way = random.below(4);
    if (way === 0) return [];
    if (way === 1) return [...items, structuredClone(first)];
    if (way === 2) return Array.from({ length: random.pick([3, 17, 33, 65, 101]) }, () => structuredClone(first));
    return [...items, this.wrong(undefined, field, items2, undefined)];
  }

  #generate(field: string, schema: Schema, depth: number): Json {
    const random = this.#random;
    const { wire, properties, items } = schema;
    if (wire !== undefined) return random.pick<Json>(WIRE[wire] ?? [{}]);
    if (schema.enum) return random.pick(schema.enum);
    if (properties) return this.#struct(schema, properties, depth);
    if (schema.type === "array") {
      if (depth <= 0) return [];
      return random.some(2, () => (items ? this.plausible(items.component, field, items, depth - 1) : "a"));
    }
    if (schema.values !== undefined) {
      if (depth <= 0) return {};
      const entries = random.some(2, () => [random.pick(KEYS), this.#member(field, schema, depth - 1)] as const);
      return Object.fromEntries(entries);
    }
    if (schema.type === "integer" || schema.type === "number") return random.pick(numbersFor(field));
    if (schema.type === "boolean") return random.chance(0.5);
    if (schema.type === "string") return schema.format === "byte" ? "AAE=" : random.pick(textsFor(field));
    return {};
  }

  #member(field: string, { values }: Schema, depth: number): Json {
    if (values === undefined || values === true) return this.#random.pick<Json>(["a", 1, { a: "b" }]);
    return this.#generate(field, values, depth);
  }

  #struct(schema: Schema, properties: ReadonlyMap<string, Schema>, depth: number): Json {
    const random = this.#random;
    const made: JsonObject = {};
    const share = properties.size > 8 ? 0.12 : 0.4;
    for (const [name, shape] of properties) {
      const isNeeded = schema.required?.includes(name) ?? false;
      if (!isNeeded && (depth <= 0 || !random.chance(share))) continue;
      made[name] = this.plausible(schema.component, name, shape, depth - 1);
    }
    return made;
  }
}

const emptyOf = ({ type }: Schema): Json => {
  if (type === "array") return [];
  if (type === "string") return "";
  if (type === "integer" || type === "number") return 0;
  return type === "boolean" ? false : {};
};

const KEYS = ["a", "app", "example.com/c", "kubernetes.io/os", "cpu", "memory", "x-1"];
const WRONG_KEYS = ["", "a b", "-a", "a/b/c", "UPPER/x", `${"k".repeat(64)}`, `${"p".repeat(254)}/x`];
const WRONG_NUMBERS = [-1, 0, -2147483648, 65536, 2147483647, 2147483648, 1e12, 101, 86401, 1.5];
const WRONG_TEXTS = [
  "",
  "Bad_Name",
  "-bad",
  "a b",
  "a".repeat(64),
  "b".repeat(254),
  "..",
  "x/y/z",
  "é",
  "/",
  "*",
  "a:b",
  "1.2.3.400",
];
const TEXTS = ["a", "b", "web", "x-1", "one.example.com", "example.com/one", "A"];

const WIRE: Readonly<Record<string, readonly Json[]>> = {
  quantity: ["1", "1500m", "2Gi", 3, "0", "1e3", "0.5", "100Mi", "1.10"],
  "int-or-string": [80, "http", "25%", 0, 1],
  time: ["2024-01-02T03:04:05Z", "2024-01-02T03:04:05+02:00", "2030-01-01T00:00:00Z"],
  "micro-time": ["2024-01-02T03:04:05.000006Z", "2024-01-02T03:04:05.000006+02:00"],
  duration: ["1h", "1m30s", "0s"],
  "raw-json": [{ a: 1 }, { b: [true] }, { apiVersion: "example.com/v1", kind: "Parameters" }],
};

const WRONG_WIRE: Readonly<Record<string, readonly Json[]>> = {
  quantity: ["-1", "1x", "", "0.0001", -5, "99999999999999999999", "1 Gi"],
  "int-or-string": [-1, 65536, "", "-5%", "101%", "Not_A_Port", 0],
  time: ["yesterday", "2024-13-01T00:00:00Z", ""],
  "micro-time": ["yesterday", "2024-01-02T03:04:05Z", ""],
  duration: ["x", "1", "-1h"],
  "raw-json": ["text", 5, []],
};

const NUMBERS_BY_FIELD: readonly (readonly [RegExp, readonly number[]])[] = [
  [/port$/i, [80, 443, 8080, 30080, 1]],
  [/seconds|timeout/i, [0, 1, 5, 30, 3600]],
  [/mode$/i, [0, 420, 256, 511]],
  [/percent|utilization|weight/i, [1, 50, 100]],
];

function numbersFor(field: string): readonly number[] {
  return NUMBERS_BY_FIELD.find(([name]) => name.test(field))?.[1] ?? [0, 1, 2, 3, 10];
}

const TEXTS_BY_FIELD: readonly (readonly [RegExp, readonly string[]])[] = [
  [/cidr|ranges/i, ["10.1.0.0/24", "2001:db8::/64"]],
  [/ips?$|address/i, ["192.0.2.7", "2001:db8::7", "198.51.100.1"]],
  [/path$/i, ["/a", "/a/b", "a/b", "a"]],
  [/apiGroups?$/i, ["", "apps", "example.com"]],
  [/apiVersions?$/i, ["v1", "apps/v1", "example.com/v1"]],
  [/^kind$/i, ["Pod", "Deployment", "User", "Group", "ServiceAccount", "Node"]],
  [/operator$/i, ["In", "NotIn", "Exists", "DoesNotExist", "Equal", "Gt"]],
  [/effect$/i, ["NoSchedule", "PreferNoSchedule", "NoExecute"]],
  [/protocol$/i, ["TCP", "UDP", "SCTP"]],
  [/policy$/i, ["Always", "Never", "IfNotPresent", "Ignore", "Fail", "Local", "Cluster"]],
  [/^status$/i, ["True", "False", "Unknown"]],
  [/verbs$/i, ["get", "list", "*", "watch"]],
  [/namespaces?$/i, ["fuzz", "default", "a"]],
  [/^uid$/i, ["7b5c2c1e-0000-4000-8000-000000000001", "u1"]],
  [/driver$/i, ["driver.example.com", "other.example.com"]],
  [/nodeName$/i, ["n1", "n2"]],
  [/topologyKey$/i, ["kubernetes.io/hostname", "topology.kubernetes.io/zone"]],
  [/url$/i, ["https://a.example.com/x", "https://127.0.0.1:1/y"]],
];

function textsFor(field: string): readonly string[] {
  return TEXTS_BY_FIELD.find(([name]) => name.test(field))?.[1] ?? TEXTS;
}
