import { isObject, type Json, type JsonObject } from "../../src/base/api/object.ts";
import { isExactInteger } from "../../src/base/util/exact-integer.ts";
import type { Schema } from "../../src/data/schema/schema.ts";
import type { Random } from "./random.ts";
import type { Values } from "./values.ts";

type Step = string | number;

/** One change of an object: the member at a path gets a value, or goes when there is none. */
export interface Edit {
  readonly path: readonly Step[];
  readonly value?: Json;
}

/** A field of an object that an edit may be about, whether it is set or not. */
interface Place {
  readonly path: readonly Step[];
  readonly component: string | undefined;
  readonly field: string;
  readonly schema: Schema;
  readonly value: Json | undefined;
  readonly isRequired: boolean;
}

/** A copy of an object with edits made in order. Edits whose place is gone are passed over. */
export function applyEdits(object: JsonObject, edits: readonly Edit[]): JsonObject {
  const copy = structuredClone(object);
  for (const { path, value } of edits) {
    const holder = path.slice(0, -1).reduce<Json | undefined>(memberOf, copy);
    const last = path.at(-1);
    if (last === undefined || typeof holder !== "object" || holder === null || isExactInteger(holder)) continue;
    if (Array.isArray(holder)) {
      if (Number(last) > holder.length) continue;
      if (value === undefined) holder.splice(Number(last), 1);
      else holder[Number(last)] = structuredClone(value);
    } else if (value === undefined) delete holder[last];
    else holder[last] = structuredClone(value);
  }
  return copy;
}

function memberOf(value: Json | undefined, step: Step): Json | undefined {
  if (Array.isArray(value)) return value[Number(step)];
  return isObject(value) ? value[step] : undefined;
}

// What the fuzzer decides about, or what would make every request fail alike.
const SYSTEM_METADATA = [
  ...["name", "namespace", "generateName", "uid", "resourceVersion", "generation", "managedFields", "selfLink"],
  ...["creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds"],
];

/** All fields of an object at which an edit may be made; `within` leaves only those below these members. */
function placesOf(object: JsonObject, schema: Schema, within: readonly string[] | undefined): Place[] {
  const places: Place[] = [];
  const visit = (value: Json, shape: Schema, path: readonly Step[]): void => {
    if (Array.isArray(value)) {
      for (const [index, item] of value.entries()) if (shape.items) visit(item, shape.items, [...path, index]);
      return;
    }
    if (!isObject(value)) return;
    for (const [field, fieldShape] of shape.properties ?? []) {
      if (path.length === 0 && ["kind", "apiVersion"].includes(field)) continue;
      if (path.length === 0 && within && !within.includes(field)) continue;
      if (path.length === 1 && path[0] === "metadata" && SYSTEM_METADATA.includes(field)) continue;
      const at = [...path, field];
      const isRequired = shape.required?.includes(field) ?? false;
      const { component } = shape;
      if (at.length > 1 || field !== "metadata") {
        places.push({ path: at, component, field, schema: fieldShape, value: value[field], isRequired });
      }
      const member = value[field];
      if (member !== undefined) visit(member, fieldShape, at);
    }
    if (shape.values === undefined || shape.values === true) return;
    for (const [key, member] of Object.entries(value))
      if (member !== undefined) visit(member, shape.values, [...path, key]);
  };
  visit(object, schema, []);
  return places;
}

/** What edits are made of. */
export interface EditSource {
  readonly random: Random;
  readonly values: Values;
  readonly schema: Schema;
}

/** A change to something that the kind may well have, or to something that it should not. */
export function randomEdit(
  { random, values, schema }: EditSource,
  object: JsonObject,
  isValid: boolean,
  within?: readonly string[],
): Edit | undefined {
  const places = placesOf(object, schema, within);
  // Metadata is the same for all kinds, so most edits are about the rest; and about what is set.
  const rest = places.filter(({ path }) => path[0] !== "metadata");
  const pool = rest.length > 0 && random.chance(0.9) ? rest : places;
  const set = pool.filter(({ value }) => value !== undefined);
  const chosen = set.length > 0 && random.chance(0.5) ? set : pool;
  if (chosen.length === 0) return undefined;
  const { path, component, field, schema: shape, value, isRequired } = random.pick(chosen);
  if (value !== undefined && random.chance(isValid === isRequired ? 0.05 : 0.2)) return { path };
  if (value !== undefined && typeof value === "object" && random.chance(0.3)) {
    const inner = editCollection({ random, values }, { path, field, shape, value }, isValid);
    if (inner) return inner;
  }
  const made = isValid ? values.plausible(component, field, shape) : values.wrong(component, field, shape, value);
  return { path, value: made };
}

/** Adds to, or takes from, a list or a map. */
function editCollection(
  { random, values }: Pick<EditSource, "random" | "values">,
  { path, field, shape, value }: { path: readonly Step[]; field: string; shape: Schema; value: Json },
  isValid: boolean,
): Edit | undefined {
  if (Array.isArray(value) && shape.items) {
    const { items } = shape;
    const index = random.below(value.length + 1);
    if (index < value.length && random.chance(0.5)) return { path: [...path, index] };
    const made = isValid
      ? values.plausible(items.component, field, items)
      : random.chance(0.5) && value.length > 0
        ? structuredClone(random.pick(value))
        : values.wrong(items.component, field, items, undefined);
    return { path: [...path, value.length], value: made };
  }
  if (isObject(value) && shape.values !== undefined && shape.values !== true) {
    const keys = Object.keys(value);
    if (keys.length > 0 && random.chance(0.4)) return { path: [...path, random.pick(keys)] };
    const key = isValid
      ? random.pick(["a", "app", "example.com/c", "cpu"])
      : random.pick(["a b", "-x", "", "x".repeat(64)]);
    return { path: [...path, key], value: values.plausible(shape.values.component, field, shape.values) };
  }
  return undefined;
}
