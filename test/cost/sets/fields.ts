import type { Json, JsonObject } from "../../../src/base/api/object.ts";
import { SchemaMaker } from "../../fuzz/crd-schemas.ts";
import { ValueMaker } from "../../fuzz/crd-values.ts";
import type { Random } from "../../fuzz/random.ts";

/** A field below `spec` of a random definition, and its values of about a given size. */
export interface CostlyField {
  readonly schema: JsonObject;
  /** The type that expressions see. */
  readonly type: "string" | "list<string>" | "list<dyn>" | "map<string,dyn>" | "dyn";
  value(random: Random, bytes: number): Json;
}

/** From 1 up to `most`, and as often below 10 as above `most / 10`. */
export const upTo = (random: Random, most: number): number => Math.max(1, Math.floor(most ** random.next()));

const FORMATS = ["email", "hostname", "uri", "ipv4", "ipv6", "cidr", "date-time", "duration", "uuid", "byte", "isbn"];
const PIECES = ["a", "b", ".", "[a-z]", "[^x]", "(a|b)", "\\w", "(ab?)", "(?i:aB)", "\\pL", "(a*)", "[[:alnum:]]", "é"];
const REPEATS = ["", "", "*", "+", "?", "{2,9}", "{0,50}", "{1,200}"];
const PATTERNS = [
  ...["^(a+)+$", "^(a|a)*$", "(a*)*b", "(x+x+)+y", "^(a?){50}a{50}$", "[a-z]{1,1000}", "((a{1,10}){1,10}){1,10}"],
  ...["(.*)*=", "^(a|b|ab)*(c|d)*$", "(a|b|c|d|e|f|g)*[h-z]{20}", "^(([a-z])+.)+[A-Z]([a-z])+$"],
];

/** A pattern that takes many steps per character. */
export function costlyPattern(random: Random): string {
  if (random.chance(0.4)) return random.pick(PATTERNS);
  const pieces = Array.from({ length: upTo(random, 60) }, () => random.pick(PIECES) + random.pick(REPEATS));
  const inner = pieces.join(random.pick(["", "", "|"]));
  return random.pick([inner, `^${inner}$`, `(${inner})*`, `^(${inner})*!$`]);
}

const RUNS = ["a", "ab", "aé", "x", "1", "1.", "a.", "a,", " ", "😀", "aB-", '"', "http://a/%41", "a=b&"];

/** A text of this length, which starts with an index if texts have to differ. */
export function costlyText(random: Random, length: number, index = ""): string {
  const run = random.pick(RUNS);
  return `${index}${run.repeat(Math.ceil(length / run.length))}${random.pick(["", "", "!", "b"])}`.slice(0, length + 1);
}

/** As many values as fit, in JSON, into these bytes. */
function fill(bytes: number, make: (index: number) => Json): Json[] {
  const list: Json[] = [];
  for (let left = bytes; left > 0; ) {
    const one = make(list.length);
    list.push(one);
    left -= Buffer.byteLength(JSON.stringify(one)) + 1;
  }
  return list;
}

const JUNCTORS = ["anyOf", "anyOf", "oneOf", "allOf", "not"] as const;

/** Nested junctors with up to `leaves` alternatives. */
function junctors(random: Random, leaves: number, leaf: () => JsonObject): JsonObject {
  if (leaves <= 1) return leaf();
  const junctor = random.pick(JUNCTORS);
  if (junctor === "not") return { not: junctors(random, leaves - 1, leaf) };
  const width = Math.min(leaves, 2 + random.below(random.chance(0.2) ? leaves : 3));
  const parts = Array.from({ length: width }, () => junctors(random, Math.floor(leaves / width), leaf));
  return { [junctor]: parts };
}

const textChecks = (random: Random) => (): JsonObject =>
  random.pick<() => JsonObject>([
    () => ({ pattern: costlyPattern(random) }),
    () => ({ format: random.pick(FORMATS) }),
    () => ({ minLength: 1 + random.below(50) }),
    () => ({ maxLength: random.below(50) }),
    () => ({ enum: Array.from({ length: upTo(random, 100) }, (_, index) => `e${index}`) }),
  ])();

const objectChecks = (random: Random) => (): JsonObject =>
  random.pick<() => JsonObject>([
    () => ({ required: [random.pick(["a", "b", "name", "zz"])] }),
    () => ({ properties: { a: textChecks(random)() } }),
    () => ({ minProperties: 1 + random.below(4) }),
    () => ({ maxProperties: random.below(4) }),
    () => ({ properties: { b: { minimum: random.below(9) } }, required: ["b"] }),
  ])();

const sizes = (random: Random, name: "maxItems" | "maxLength" | "maxProperties", most: number): JsonObject =>
  random.chance(0.6) ? { [name]: Math.max(10, upTo(random, most)) } : {};

type Maker = (random: Random) => CostlyField;

const text: Maker = (random) => ({
  schema: { type: "string", ...sizes(random, "maxLength", 60_000), ...(random.chance(0.5) && textChecks(random)()) },
  type: "string",
  value: costlyText,
});

const texts: Maker = (random) => {
  const isSet = random.chance(0.4);
  const checks = random.chance(0.5) ? junctors(random, upTo(random, 300), textChecks(random)) : {};
  const length = upTo(random, 300);
  return {
    schema: {
      type: "array",
      ...sizes(random, "maxItems", 20_000),
      ...(isSet && { "x-kubernetes-list-type": "set" }),
      items: { type: "string", ...sizes(random, "maxLength", 500), ...checks },
    },
    type: "list<string>",
    value: (chance, bytes) =>
      fill(bytes, (index) => costlyText(chance, length, isSet || chance.chance(0.3) ? String(index) : "")),
  };
};

/** The properties that junctors of objects may constrain. */
const MEMBERS: JsonObject = { a: { type: "string" }, b: { type: "integer" }, name: { type: "string" } };

const objects: Maker = (random) => {
  const listType = random.pick([undefined, undefined, "atomic", "map"]);
  const keys = random.chance(0.3) ? ["name", "b"] : ["name"];
  const keyed = { "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": keys };
  const isSmall = random.chance(0.5);
  return {
    schema: {
      type: "array",
      ...(listType === "map" ? keyed : listType && { "x-kubernetes-list-type": listType }),
      ...sizes(random, "maxItems", 20_000),
      items: {
        type: "object",
        properties: MEMBERS,
        ...(listType === "map" && { required: keys }),
        ...(random.chance(0.5) && { "x-kubernetes-preserve-unknown-fields": true }),
        ...junctors(random, upTo(random, 2000), objectChecks(random)),
      },
    },
    type: "list<dyn>",
    value: (chance, bytes) => {
      const item = (index: number): Json =>
        isSmall && listType !== "map" ? {} : { name: `n${index}`, b: index, ...(chance.chance(0.5) && { a: "ab" }) };
      return fill(bytes, item);
    },
  };
};

const defaults: Maker = (random) => {
  const nested = (depth: number): JsonObject => ({
    type: "object",
    default: {},
    properties: Object.fromEntries(
      Array.from({ length: upTo(random, 6) }, (_, index) => [
        `d${index}`,
        depth > 0 ? nested(depth - 1) : { type: "string", default: "y".repeat(upTo(random, 200)) },
      ]),
    ),
  });
  return {
    schema: { type: "array", items: { ...nested(random.below(4)), ...(random.chance(0.3) && { nullable: true }) } },
    type: "list<dyn>",
    value: (chance, bytes) => fill(Math.min(bytes, 20_000), () => (chance.chance(0.05) ? null : {})),
  };
};

const numbers: Maker = (random) => ({
  schema: {
    type: "array",
    ...(random.chance(0.4) && { "x-kubernetes-list-type": "set" }),
    items: random.pick<JsonObject>([
      { "x-kubernetes-int-or-string": true },
      { type: "integer", multipleOf: 3, enum: Array.from({ length: upTo(random, 500) }, (_, index) => index) },
      { type: "number", minimum: 5 },
    ]),
  },
  type: "list<dyn>",
  value: (chance, bytes) => fill(bytes, (index) => (chance.chance(0.1) ? index * 1.5 : index)),
});

const map: Maker = (random) => {
  const of = random.pick([text, texts, objects])(random);
  const each = upTo(random, 2000);
  return {
    schema: { type: "object", additionalProperties: of.schema, ...sizes(random, "maxProperties", 5000) },
    type: "map<string,dyn>",
    value: (chance, bytes) => {
      const count = Math.max(1, Math.floor(bytes / (each + 10)));
      return Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${index}`, of.value(chance, each)]));
    },
  };
};

/** A value of any shape: deep, wide, or a list of small objects. */
function anyShape(random: Random, bytes: number): Json {
  const levels = Math.min(500, Math.floor(bytes / 6));
  const deep = () => Array.from({ length: levels }).reduce<Json>((below) => ({ a: below }), 1);
  return random.pick<() => Json>([
    () => ({ a: fill(bytes, (index) => ({ a: index, b: { a: 1 } })) }),
    () => ({ a: fill(bytes, () => ({})) }),
    () => ({ a: fill(bytes, () => [[]]) }),
    () => ({ a: fill(bytes, deep) }),
    () => Object.fromEntries(fill(bytes, (index) => `k${index}`).map((key) => [key, 1])) as JsonObject,
    () => ({ a: costlyText(random, bytes) }),
  ])();
}

const free: Maker = () => ({
  schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
  type: "dyn",
  value: anyShape,
});

const embedded: Maker = (random) => ({
  schema: {
    type: "array",
    items: {
      type: "object",
      "x-kubernetes-embedded-resource": true,
      "x-kubernetes-preserve-unknown-fields": true,
      ...(random.chance(0.3) && junctors(random, upTo(random, 50), () => ({ required: ["spec"] }))),
    },
  },
  type: "list<dyn>",
  value: (_, bytes) =>
    fill(bytes, (index) => ({ apiVersion: "v1", kind: "Pod", metadata: { name: `p${index}`, labels: { a: "b" } } })),
});

/** A schema of the fuzzer for definitions, in a list. */
const any: Maker = (random) => {
  const maker = new SchemaMaker(random, 0);
  const { spec } = maker.root().properties as { spec: JsonObject };
  return {
    schema: { type: "array", items: spec },
    type: "list<dyn>",
    value: (chance, bytes) => fill(bytes, () => new ValueMaker(chance, 0.01).of(spec)),
  };
};

const MAKERS: Readonly<Record<string, Maker>> = {
  ...{ text, texts, objects, defaults, numbers, map, free, embedded, any },
};

/** Fields with random names of makers. `free` and `texts` are always there, because columns and policies use them. */
export function costlyFields(random: Random): Map<string, CostlyField> {
  const names = Object.keys(MAKERS).filter((name) => name === "free" || name === "texts" || random.chance(0.4));
  return new Map(names.map((name) => [name, (MAKERS[name] as Maker)(random)]));
}
