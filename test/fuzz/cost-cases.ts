import { isObject, type Json, type JsonObject } from "../../src/api/object.ts";
import { encodeObject } from "../../src/encoding/protobuf/envelope.ts";
import type { Schema } from "../../src/schema/schema.ts";
import { type Bodies, type Place, placeName } from "./cost-places.ts";
import type { CostlyRequest } from "./cost-server.ts";
import { type Growth, growthsOf } from "./cost-values.ts";

/** How a large value is sent. */
export type Way = "create" | "status" | "update" | "merge patch" | "apply" | "store";

/** In which encoding. */
export type Form = "JSON" | "JSON, Strict" | "YAML" | "protobuf";

/** One request with one place made large. */
export interface Case {
  readonly place: Place;
  readonly growth: Growth;
  readonly size: number;
  readonly way: Way;
  readonly form: Form;
}

/** The two sizes of the run: what shows more than linear cost at once, and nearly as much as a body may have. */
export const SIZES = { screen: 100_000, large: 2_500_000 } as const;

const TYPES: Readonly<Record<Form, string>> = {
  JSON: "application/json",
  "JSON, Strict": "application/json",
  YAML: "application/yaml",
  protobuf: "application/vnd.kubernetes.protobuf",
};

/** A case in words. */
export function caseName({ place, growth, size, way, form }: Case): string {
  return `${place.kind.name} ${placeName(place)}: ${growth.name}, ${size} bytes, ${way}, ${form}`;
}

const TOKEN = "@@here@@";

/** Makes the requests of cases. */
export class Requests {
  readonly #bodies: Bodies;

  constructor(bodies: Bodies) {
    this.#bodies = bodies;
  }

  /** The ways to make a place large, from what the corpus has there. */
  growths(place: Place): Growth[] {
    return growthsOf(place, this.#example(place));
  }

  /** The object that updates and patches of a kind are about. */
  base({ kind }: Place): JsonObject | undefined {
    const place: Place = { kind, steps: ["metadata", "annotations"], schema: {}, type: "map", key: "" };
    return this.#bodies.of(kind).length === 0 ? undefined : this.#bodies.withValue(place, "base", {});
  }

  /** The request of a case, under a name of its own where it creates. */
  of(one: Case, name: string): CostlyRequest {
    const { place, way, form } = one;
    const { kind } = place;
    const isNew = way === "create" || way === "store";
    const body = this.#bodies.withValue(place, isNew ? name : "base", TOKEN);
    const metadata = isObject(body.metadata) ? body.metadata : {};
    const own = encodeURIComponent(String((this.base(place)?.metadata as JsonObject | undefined)?.name ?? "base"));
    const bytes = this.#bytes(one, body);
    const query = new URLSearchParams(way === "store" ? {} : { dryRun: "All" });
    if (form === "JSON, Strict") query.set("fieldValidation", "Strict");
    if (way === "apply") query.set("fieldManager", "other");
    if (way === "apply") query.set("force", "true");
    const type = { "merge patch": "application/merge-patch+json", apply: "application/apply-patch+yaml" };
    const headers = { "content-type": type[way as keyof typeof type] ?? TYPES[form] };
    const target = isNew ? kind.path : `${kind.path}/${metadata.name === TOKEN ? "base" : own}`;
    const method = isNew ? "POST" : way === "update" || way === "status" ? "PUT" : "PATCH";
    return { method, path: `${target}${way === "status" ? "/status" : ""}?${query}`, headers, body: bytes };
  }

  #bytes({ place, growth, size, form }: Case, body: JsonObject): Buffer {
    const text = JSON.stringify(body);
    const whole = (bytes: number) => text.replace(JSON.stringify(TOKEN), () => growth.text(bytes));
    if (form !== "protobuf") return Buffer.from(whole(size));
    const schema = growth.name === "empty items" ? withEmptyItems(place.kind.schema, place.steps) : place.kind.schema;
    const encode = (bytes: number) => encodeObject(schema, JSON.parse(whole(bytes)) as JsonObject);
    // An item takes another number of bytes than in JSON, and a body that is too large is not even read.
    const few = Math.min(size, 10_000);
    return encode((size * few) / Math.max(1, encode(few).length - encode(1).length));
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

/** The schema with a message of no fields for the items of a place, so that each takes the two bytes of an empty one. */
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

/** The way in which a place is first reached: what create ignores goes through the subresource. */
export const firstWay = ({ kind, steps }: Place): Way =>
  steps[0] === "status" && kind.hasStatus ? "status" : "create";

/** The small requests of a place, all of one way. */
export function screenCases(place: Place, growths: readonly Growth[], size: number): Case[] {
  return growths.map((growth) => ({ place, growth, size, way: firstWay(place), form: "JSON" as const }));
}

/** The further requests of a place: large, in the other encodings, and in the other ways. */
export function furtherCases(place: Place, growths: readonly Growth[], screen: number, large: number): Case[] {
  const way = firstWay(place);
  const [first, second, third] = growths;
  if (first === undefined || second === undefined || third === undefined) return [];
  const cases: Case[] = [];
  const isSmall = large <= screen;
  const add = (growth: Growth, size: number, form: Form, by: Way = way) => {
    const isSent = isSmall && form === "JSON" && by === way;
    if (!isSent) cases.push({ place, growth, size, way: by, form });
  };
  if (place.type === "string") {
    const lines = growths.find(({ name }) => name.includes('"\\n"…')) ?? first;
    for (const growth of [first, lines]) add(growth, large, "JSON");
    add(lines, screen, "YAML");
    add(first, large, "protobuf");
    return cases;
  }
  for (const growth of growths) add(growth, large, "JSON");
  for (const growth of growths) add(growth, screen, "YAML");
  for (const growth of growths.filter(({ name }) => name.includes("double"))) {
    add(growth, screen, "JSON, Strict");
    add(growth, large, "JSON, Strict");
  }
  if (place.type !== "any") {
    add(second, screen, "protobuf");
    add(place.type === "list" ? third : second, large, "protobuf");
  }
  if (way === "create" && !place.kind.isReview) {
    for (const by of ["update", "merge patch", "apply"] as const) {
      for (const growth of [first, second]) add(growth, screen, "JSON", by);
      add(second, large, "JSON", by);
    }
  }
  return cases;
}
