import { isObject, type Json, type JsonObject } from "../../src/base/api/object.ts";
import { encodeObject } from "../../src/data/encoding/protobuf/envelope.ts";
import { printYaml } from "../../src/data/encoding/yaml/yaml-print.ts";
import type { Schema } from "../../src/data/schema/schema.ts";
import { type Bodies, type Place, placeName } from "./places.ts";
import type { CostlyRequest } from "./server.ts";
import { type Growth, growthsOf } from "./values.ts";

/** How a large value is sent. Stored objects are read as well. */
export type Way =
  | "create"
  | "status"
  | "update"
  | "JSON patch"
  | "merge patch"
  | "strategic merge patch"
  | "apply"
  | "store";

/** The encoding. */
export type Form = "JSON" | "JSON, Strict" | "YAML" | "YAML in blocks" | "protobuf";

/** One request with one enlarged place. */
export interface Case {
  readonly place: Place;
  readonly growth: Growth;
  readonly size: number;
  readonly way: Way;
  readonly form: Form;
}

/** The two sizes of the run: enough to detect superlinear cost, and almost the maximum size of a body. */
export const SIZES = { screen: 100_000, large: 2_500_000 } as const;

const TYPES: Readonly<Record<Form, string>> = {
  JSON: "application/json",
  "JSON, Strict": "application/json",
  YAML: "application/yaml",
  "YAML in blocks": "application/yaml",
  protobuf: "application/vnd.kubernetes.protobuf",
};

const PATCH_TYPES: Partial<Record<Way, string>> = {
  "JSON patch": "application/json-patch+json",
  "merge patch": "application/merge-patch+json",
  "strategic merge patch": "application/strategic-merge-patch+json",
  apply: "application/apply-patch+yaml",
};

/** A case as text. */
export function caseName({ place, growth, size, way, form }: Case): string {
  return `${place.kind.name} ${placeName(place)}: ${growth.name}, ${size} bytes, ${way}, ${form}`;
}

const TOKEN = "@@here@@";

/** Common parts of the requests of a place. */
interface Template {
  readonly place: Place;
  readonly way: Way;
  readonly name: string;
  readonly text: string;
  readonly own: string;
}

/** Builds the requests of cases. */
export class Requests {
  readonly #bodies: Bodies;
  #last: Template | undefined;

  constructor(bodies: Bodies) {
    this.#bodies = bodies;
  }

  /** The ways to enlarge a place, based on an example of the corpus. */
  growths(place: Place): Growth[] {
    return growthsOf(place, this.#example(place));
  }

  /** The object that updates and patches of a kind apply to. */
  base({ kind }: Place): JsonObject | undefined {
    const place: Place = { kind, steps: ["metadata", "annotations"], schema: {}, type: "map", key: "", rule: "" };
    return this.#bodies.of(kind).length === 0 ? undefined : this.#bodies.withValue(place, "base", {});
  }

  /** A body of a place's kind with a name. */
  named(place: Place, name: string): JsonObject {
    return this.#bodies.withValue(place, name, TOKEN);
  }

  /** The request of a case, with a unique name if it creates an object. */
  of(one: Case, name: string): CostlyRequest {
    const { place, way, form } = one;
    const { path } = place.kind;
    const isNew = way === "create" || way === "store";
    const { text, own } = this.#template(place, way, isNew ? name : "base");
    const query = new URLSearchParams(way === "store" ? {} : { dryRun: "All" });
    if (form === "JSON, Strict") query.set("fieldValidation", "Strict");
    if (way === "apply") query.set("fieldManager", "other");
    if (way === "apply") query.set("force", "true");
    const headers = { "content-type": PATCH_TYPES[way] ?? TYPES[form] };
    const method = isNew ? "POST" : PATCH_TYPES[way] === undefined ? "PUT" : "PATCH";
    const target = `${isNew ? path : `${path}/${own}`}${way === "status" ? "/status" : ""}?${query}`;
    return { method, path: target, headers, body: this.#bytes(one, text) };
  }

  /** The text of a body with a mark at the place, and the name of the object that updates of its kind apply to. */
  #template(place: Place, way: Way, name: string): Template {
    const last = this.#last;
    if (last?.place === place && last.way === way && last.name === name) return last;
    const body = this.#bodies.withValue(place, name, TOKEN);
    const metadata = this.base(place)?.metadata;
    const text = JSON.stringify(way === "JSON patch" ? operationsOf(place, body) : body);
    const isName = isObject(body.metadata) && body.metadata.name === TOKEN;
    const own = isName ? "base" : encodeURIComponent(String((isObject(metadata) ? metadata.name : "") || "base"));
    this.#last = { place, way, name, text, own };
    return this.#last;
  }

  #bytes({ place, growth, size, form }: Case, text: string): Buffer {
    const whole = (bytes: number) => text.replace(JSON.stringify(TOKEN), () => growth.text(bytes));
    if (form === "YAML in blocks") return Buffer.from(printYaml(JSON.parse(whole(size))));
    if (form !== "protobuf") return Buffer.from(whole(size));
    const schema = growth.name === "empty items" ? withEmptyItems(place.kind.schema, place.steps) : place.kind.schema;
    const encode = (bytes: number) => encodeObject(schema, JSON.parse(whole(bytes)) as JsonObject);
    // Items have another size than in JSON, and a body that is too large is not even read.
    const few = Math.min(size, 10_000);
    // Values that protobuf does not carry do not grow.
    return encode(Math.min(8 * size, (size * few) / Math.max(1, encode(few).length - encode(1).length)));
  }

  #example({ kind, steps }: Place): Json | undefined {
    for (const body of this.#bodies.of(kind)) {
      let here: Json | undefined = body;
      for (const step of steps) {
        if (Array.isArray(here)) here = here[0];
        else if (isObject(here)) here = typeof step === "string" ? here[step] : Object.values(here)[0];
        else here = undefined;
      }
      if (here !== undefined) return here;
    }
    return undefined;
  }
}

/** The patch that sets the field of the body that contains the place. */
function operationsOf({ steps }: Place, body: JsonObject): Json {
  const [field] = steps;
  return typeof field === "string" ? [{ op: "add", path: `/${field}`, value: body[field] as Json }] : [];
}

/** The schema with an empty message for the items of a place, so that each takes two bytes. */
function withEmptyItems(schema: Schema, steps: Place["steps"]): Schema {
  const [step, ...rest] = steps;
  if (step === undefined) return { ...schema, items: { ...schema.items, properties: new Map(), zero: "written" } };
  if (typeof step === "string") {
    const inner = schema.properties?.get(step);
    if (!inner) return schema;
    return { ...schema, properties: new Map([...(schema.properties ?? []), [step, withEmptyItems(inner, rest)]]) };
  }
  return schema.items ? { ...schema, items: withEmptyItems(schema.items, rest) } : schema;
}

/** The way in which a place is reached first: fields that create ignores are sent through the subresource. */
export const firstWay = ({ kind, steps }: Place): Way =>
  steps[0] === "status" && kind.hasStatus ? "status" : "create";

/** The small requests of a place, all of one way. */
export function screenCases(place: Place, growths: readonly Growth[], size: number): Case[] {
  const way = firstWay(place);
  return growths.map((growth) => ({ place, growth, size, way, form: growth.isYaml ? "YAML" : "JSON" }));
}

const ENCODINGS: readonly Form[] = ["JSON", "JSON, Strict", "YAML", "YAML in blocks", "protobuf"];
const WRITES: readonly Way[] = ["update", "JSON patch", "merge patch", "strategic merge patch", "apply"];

/** Every way and encoding for some growths of a place at one size. Storing and reading comes last. */
export function matrixCases(place: Place, growths: readonly Growth[], size: number): Case[] {
  const first = firstWay(place);
  const cases: Case[] = [];
  for (const growth of growths) {
    const add = (way: Way, form: Form) => cases.push({ place, growth, size, way, form });
    if (growth.isYaml) {
      add(first, "YAML");
      if (first === "create" && !place.kind.isReview) add("apply", "YAML");
      continue;
    }
    for (const form of ENCODINGS.filter((one) => isPossible(one, place, growth))) add(first, form);
    if (place.kind.isReview) continue;
    if (first === "create") for (const way of WRITES) add(way, "JSON");
    if (first === "create") add("store", "JSON");
  }
  return cases;
}

function isPossible(form: Form, { type }: Place, { name }: Growth): boolean {
  const isDeep = name.startsWith("deep");
  if (form === "YAML in blocks") return !isDeep && !name.includes("double");
  if (form === "protobuf") return type !== "any" && !isDeep && name !== "null items" && !name.includes("double");
  return true;
}
