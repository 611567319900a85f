import { apiVersionOf, isObject, type Json, type JsonObject } from "../../src/base/api/object.ts";
import type { Schema } from "../../src/data/schema/schema.ts";
import { builtInKinds } from "../../src/kinds/built-in/all.ts";
import { type Corpus, fieldKey, readCorpus } from "../fuzz/corpus.ts";
import { allKinds, type FuzzedKind, named } from "../fuzz/kinds.ts";
import { OBJECT_SEEDS } from "../fuzz/object-seeds.ts";
import { bodyOf } from "../kinds/bodies.ts";

/** A step from an object to a place in it: a field, any item of a list, or any value of a map. */
type Step = string | typeof ITEM | typeof MEMBER;

const ITEM = Symbol("item");
const MEMBER = Symbol("member");

/** A string, list, map or value of any type that a request can enlarge. */
export interface Place {
  readonly kind: FuzzedKind;
  readonly steps: readonly Step[];
  readonly schema: Schema;
  readonly type: "string" | "list" | "map" | "any";
  /** One name for the field in all kinds and versions that have its type. */
  readonly key: string;
  /** Places with the same rule are read by the same functions, in any kind. */
  readonly rule: string;
}

/** Types that the same functions read everywhere. A pod's own spec passes admission and is not included. */
const READ_ALIKE = /\.(PodTemplateSpec|JobTemplateSpec|JSONSchemaProps)$/;
/** Metadata of an object is read by generic code, except for name rules of its kind. */
const METADATA = /\.ObjectMeta$/;
const BY_KIND = ["name", "generateName", "namespace"];

/** `spec.containers[].env[].name`. */
export function placeName({ steps }: Place): string {
  const text = steps.map((step) => (step === ITEM ? "[]" : step === MEMBER ? "{}" : `.${String(step)}`));
  return text.join("").replace(/^\./, "");
}

/** Every place of a kind. A recursive type is entered once. */
export function placesOf(kind: FuzzedKind): Place[] {
  const places: Place[] = [];
  const visit = (schema: Schema, steps: readonly Step[], key: string, open: readonly string[], above: string) => {
    const type = typeOf(schema);
    const { component = "" } = schema;
    const isMetadata = METADATA.test(component) && steps.length === 1;
    const rule = READ_ALIKE.test(component) || isMetadata ? component : above;
    if (type !== undefined && steps.length > 0) places.push({ kind, steps, schema, type, key, rule });
    if (component !== "" && schema.properties && open.includes(component)) return;
    const within = component === "" ? open : [...open, component];
    for (const [field, shape] of schema.properties ?? []) {
      const own = isMetadata && BY_KIND.includes(field) ? `${kind.name} metadata` : rule;
      visit(shape, [...steps, field], fieldKey(schema.component, field), within, `${own}.${field}`);
    }
    if (schema.items) visit(schema.items, [...steps, ITEM], `${key}[]`, within, `${rule}[]`);
    if (schema.values && schema.values !== true)
      visit(schema.values, [...steps, MEMBER], `${key}{}`, within, `${rule}{}`);
  };
  visit(kind.schema, [], "", [], kind.name);
  return places;
}

function typeOf({ type, items, values, properties, wire, intOrString }: Schema): Place["type"] | undefined {
  if (type === "array" || items) return "list";
  if (values !== undefined) return "map";
  if (properties) return undefined;
  if (type === "string" || intOrString || (wire !== undefined && wire !== "raw-json")) return "string";
  return type === undefined || type === "object" ? "any" : undefined;
}

/** Base bodies of every kind in every version. */
export class Bodies {
  readonly #corpus: Corpus = readCorpus();
  readonly #recorded = new Map<string, JsonObject>();
  readonly #best = new WeakMap<Place, JsonObject>();

  constructor() {
    const place = { namespace: "fuzz", id: "x", number: 7 };
    for (const definition of builtInKinds()) {
      for (const { name } of definition.versions) {
        const body = bodyOf(definition, name, place) as unknown as JsonObject;
        this.#recorded.set(`${apiVersionOf(definition.group, name)}/${definition.plural}`, body);
      }
    }
  }

  /** All bodies of a kind, the plainest first. */
  of(kind: FuzzedKind): readonly JsonObject[] {
    const { name, apiVersion, kind: word } = kind;
    const anyVersion = name.split("/").toSpliced(-2, 1).join("/");
    const seeds = OBJECT_SEEDS[name] ?? OBJECT_SEEDS[anyVersion] ?? [];
    const recorded = this.#recorded.get(name);
    return [
      ...(recorded ? [recorded] : []),
      ...(this.#corpus.bodies.get(`${apiVersion} ${word}`) ?? []),
      ...seeds.map((seed) => ({ apiVersion, kind: word, metadata: {}, ...seed })),
    ];
  }

  /** A body of the place's kind with `value` at the place, based on the one that already has most of the path to it. */
  withValue(place: Place, name: string, value: Json): JsonObject {
    const { kind, steps } = place;
    const best = this.#best.get(place) ?? this.#nearest(place);
    this.#best.set(place, best);
    const body = structuredClone(named(kind, best, name));
    put(body, kind.schema, steps, value);
    return body;
  }

  #nearest({ kind, steps }: Place): JsonObject {
    const reach = (body: JsonObject) => depthOf(body, steps);
    return this.of(kind).reduce((one, other) => (reach(other) > reach(one) ? other : one));
  }
}

function depthOf(value: Json | undefined, steps: readonly Step[]): number {
  const [step, ...rest] = steps;
  if (step === undefined || value === undefined) return 0;
  if (step === ITEM) return Array.isArray(value) ? Math.max(0, ...value.map((item) => 1 + depthOf(item, rest))) : 0;
  if (!isObject(value)) return 0;
  const member = typeof step === "string" ? value[step] : Object.values(value)[0];
  return member === undefined ? 0 : 1 + depthOf(member, rest);
}

/** Structs of which at most one field may be set, so the others are removed. */
const ONE_OF = /(Source|Handler|PersistentVolumeSpec|NetworkPolicyPeer)$/;

function put(target: Json, schema: Schema, steps: readonly Step[], value: Json): void {
  const [step, ...rest] = steps;
  const holder = target as JsonObject & Json[];
  if (step === ITEM) {
    const at = Math.max(
      0,
      holder.findIndex((item) => depthOf(item, rest) > 0),
    );
    const isFound = depthOf(holder[at], rest) > 0;
    if (rest.length === 0) holder[0] = value;
    else
      put(
        isFound ? (holder[at] as Json) : pushed(holder, minimal(schema.items ?? {})),
        schema.items ?? {},
        rest,
        value,
      );
    return;
  }
  const shape =
    typeof step === "string"
      ? schema.properties?.get(step)
      : schema.values === true
        ? undefined
        : (schema.values as Schema | undefined);
  const name = typeof step === "string" ? step : (Object.keys(holder)[0] ?? "a");
  if (rest.length === 0) {
    holder[name] = value;
    return;
  }
  if (!(name in holder) || typeof holder[name] !== "object" || holder[name] === null) {
    if (ONE_OF.test(schema.component ?? "")) removeStructs(holder, schema);
    holder[name] = minimal(shape ?? {});
  }
  put(holder[name] as Json, shape ?? {}, rest, value);
}

function pushed(list: Json[], item: Json): Json {
  list.push(item);
  return item;
}

function removeStructs(holder: JsonObject, schema: Schema): void {
  for (const name of Object.keys(holder)) {
    if (schema.properties?.get(name)?.properties && !schema.required?.includes(name)) delete holder[name];
  }
}

/** The smallest value of a type: only with required fields. */
export function minimal(schema: Schema, depth = 6): Json {
  if (schema.enum?.[0] !== undefined) return schema.enum[0];
  if (schema.wire === "quantity") return "1";
  if (schema.wire === "time" || schema.wire === "micro-time") return "2024-01-02T03:04:05.000000Z";
  if (schema.type === "array" || schema.items) return [];
  if (schema.type === "integer" || schema.type === "number" || schema.intOrString) return 1;
  if (schema.type === "boolean") return true;
  if (schema.type === "string") return schema.format === "byte" ? "AAE=" : "other";
  const out: JsonObject = {};
  for (const name of depth > 0 ? (schema.required ?? []) : []) {
    const shape = schema.properties?.get(name);
    if (shape) out[name] = minimal(shape, depth - 1);
  }
  return out;
}

/** Every place of every kind whose name contains one of the texts. */
export function allPlaces(filter?: string): Place[] {
  return allKinds()
    .filter(({ name }) => filter === undefined || filter.split(",").some((part) => name.includes(part)))
    .flatMap(placesOf);
}
