import { isObject, type Json, type JsonObject } from "../../src/base/api/object.ts";
import type { Random } from "./random.ts";
import { PATCH_SHAPES, randomValue } from "./shapes.ts";
import { STARTS } from "./starts.ts";

/** One patch of a history. */
export interface Operation {
  readonly type: "json" | "merge" | "strategic" | "apply";
  readonly body: Json;
  readonly manager: string;
  readonly force?: boolean;
  readonly fieldValidation?: "Ignore" | "Warn" | "Strict";
}

export const CONTENT_TYPES: Readonly<Record<Operation["type"], string>> = {
  json: "application/json-patch+json",
  merge: "application/merge-patch+json",
  strategic: "application/strategic-merge-patch+json",
  apply: "application/apply-patch+yaml",
};

const MANAGERS = ["alpha", "beta", "gamma"];

/** A random patch for an object of this kind in its current state. */
export function randomOperation(random: Random, kind: string, current: JsonObject): Operation {
  const shape = PATCH_SHAPES[kind];
  const start = STARTS[kind];
  if (!shape || !start) throw new Error(`no shape for ${kind}`);
  const type = random.pick(["json", "merge", "strategic", "strategic", "apply", "apply"] as const);
  const manager = random.pick(MANAGERS);
  const validation = random.chance(0.2) ? { fieldValidation: random.pick(["Ignore", "Strict"] as const) } : {};
  if (type === "json") return { type, manager, ...validation, body: randomJsonPatch(random, current) };
  const body = randomValue(random, shape, type) as JsonObject;
  if (random.chance(0.03)) body.unknownField = "x";
  if (type !== "apply") return { type, manager, ...validation, body };
  const { apiVersion, kind: name } = start.body;
  const metadata = { name: "fuzzed", ...(isObject(body.metadata) ? body.metadata : {}) };
  return {
    type,
    manager,
    ...validation,
    force: random.chance(0.5),
    body: { ...body, apiVersion, kind: name, metadata },
  };
}

function randomJsonPatch(random: Random, current: JsonObject): Json {
  return random.some(3, () => {
    const path = randomPointer(random, current);
    const op = random.pick(["add", "replace", "remove", "test", "copy", "move"]);
    if (op === "remove") return { op, path };
    if (op === "copy" || op === "move") return { op, from: randomPointer(random, current), path };
    const value = random.chance(0.7) ? (at(current, path) ?? "v") : random.pick<Json>(["v", 1, true, null, {}, []]);
    return { op, path, value };
  });
}

// Parts that differ between two servers, or that are compared elsewhere.
const LEFT_OUT = ["managedFields", "uid", "resourceVersion", "creationTimestamp", "status", "kind", "apiVersion"];

function randomPointer(random: Random, value: Json | undefined, depth = 0): string {
  if (depth > 6 || !(isObject(value) || Array.isArray(value)) || (depth > 1 && random.chance(0.25))) return "";
  const keys = Array.isArray(value)
    ? [...value.keys(), "-"].map(String)
    : [...Object.keys(value).filter((key) => !LEFT_OUT.includes(key)), "new"];
  const key = random.pick(keys);
  const next = Array.isArray(value) ? value[Number(key)] : value[key];
  return `/${key.replaceAll("~", "~0").replaceAll("/", "~1")}${randomPointer(random, next, depth + 1)}`;
}

function at(value: Json | undefined, pointer: string): Json | undefined {
  let found = value;
  for (const part of pointer.split("/").slice(1)) {
    const key = part.replaceAll("~1", "/").replaceAll("~0", "~");
    if (Array.isArray(found)) found = found[Number(key)];
    else found = isObject(found) ? found[key] : undefined;
  }
  return found;
}
