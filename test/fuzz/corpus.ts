import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { apiVersionOf, isObject, type Json, type JsonObject } from "../../src/base/api/object.ts";
import type { Schema } from "../../src/data/schema/schema.ts";
import { builtInKinds } from "../../src/kinds/built-in/all.ts";

/** What the golden corpus teaches about objects: whole ones, and the values that fields have. */
export interface Corpus {
  /** Bodies that the real server took, by apiVersion and kind. */
  readonly bodies: ReadonlyMap<string, readonly JsonObject[]>;
  /** Values of fields of objects that it took, by the name that `fieldKey` gives. */
  readonly good: ReadonlyMap<string, readonly Json[]>;
  /** Values of fields of objects that it refused. */
  readonly bad: ReadonlyMap<string, readonly Json[]>;
}

interface Scenario {
  readonly steps: readonly { id: string; method: string; path: string; body?: Json }[];
}

interface Recording {
  readonly steps: Readonly<Record<string, { status: number; body?: Json }>>;
}

const folder = path.join(import.meta.dirname, "..", "golden");
const MOST_VALUES = 40;

/** One name for a field in all versions of its component. */
export function fieldKey(component: string | undefined, field: string): string {
  const parts = (component ?? "").split(".");
  return `${parts.toSpliced(-2, 1).join(".")}.${field}`;
}

/** Reads what scenarios send and what was answered. */
export function readCorpus(): Corpus {
  const schemas = schemasByKind();
  const bodies = new Map<string, JsonObject[]>();
  const good = new Map<string, Json[]>();
  const bad = new Map<string, Json[]>();
  for (const file of readdirSync(path.join(folder, "scenarios")).sort()) {
    const { steps } = read(path.join(folder, "scenarios", file)) as Scenario;
    const { steps: answers } = read(path.join(folder, "recorded", file)) as Recording;
    for (const { id, method, body } of steps) {
      const answer = answers[id];
      if (!answer || !isObject(body) || (method !== "POST" && method !== "PUT")) continue;
      const kind = kindOf(body);
      const schema = schemas.get(kind);
      if (!schema) continue;
      const isTaken = answer.status < 300;
      if (isTaken && method === "POST") append(bodies, kind, body);
      collect(isTaken ? good : bad, schema, body);
      if (isTaken && isObject(answer.body) && kindOf(answer.body) === kind) collect(good, schema, answer.body);
    }
  }
  return { bodies, good, bad };
}

const kindOf = ({ apiVersion, kind }: JsonObject): string => `${apiVersion} ${kind}`;

function schemasByKind(): Map<string, Schema> {
  const schemas = new Map<string, Schema>();
  for (const { group, kind, versions } of builtInKinds()) {
    for (const { name, schema } of versions) schemas.set(`${apiVersionOf(group, name)} ${kind}`, schema());
  }
  return schemas;
}

/** A file with something in the place of the names that stand for what differs each time. */
function read(file: string): unknown {
  const text = readFileSync(file, "utf8")
    .replace(/\$\{ns\}|g-\{id\}/g, "fuzz")
    .replace(/\$?\{id\}/g, "x")
    .replace(/\$\{(\w+)\}/g, "$1");
  return JSON.parse(text);
}

function collect(pool: Map<string, Json[]>, schema: Schema, value: Json): void {
  if (Array.isArray(value)) {
    for (const item of value) if (schema.items) collect(pool, schema.items, item);
    return;
  }
  if (!isObject(value)) return;
  for (const [field, member] of Object.entries(value)) {
    const shape = schema.properties?.get(field) ?? (schema.values === true ? undefined : schema.values);
    if (shape === undefined || member === undefined || ["metadata", "kind", "apiVersion"].includes(field)) continue;
    // Recordings say <time> and the like for what differs each time.
    if (schema.properties && !JSON.stringify(member).includes('"<'))
      append(pool, fieldKey(schema.component, field), member);
    collect(pool, shape, member);
  }
}

function append<T>(map: Map<string, T[]>, key: string, value: T): void {
  const known = map.get(key) ?? [];
  map.set(key, known);
  const text = JSON.stringify(value);
  if (known.length < MOST_VALUES && !known.some((one) => JSON.stringify(one) === text)) known.push(value);
}
