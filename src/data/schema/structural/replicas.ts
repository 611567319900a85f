import { type FieldError, invalidField } from "../../../base/api/field-error.ts";
import type { Json, JsonObject } from "../../../base/api/object.ts";
import { printGoFloat } from "../../../base/go/float.ts";
import { getMember } from "../../../base/util/members.ts";
import { isMembers } from "./findings.ts";
import { typeOfValue } from "./kinds-of-values.ts";

const GO_TYPES = {
  null: "<nil>",
  boolean: "bool",
  string: "string",
  integer: "int64",
  number: "float64",
  array: "[]interface {}",
  object: "map[string]interface {}",
} as const;

/** Prints a value like Go's `%v`. */
function printGo(value: Json): string {
  if (value === null) return "<nil>";
  if (Array.isArray(value)) return `[${value.map(printGo).join(" ")}]`;
  if (isMembers(value)) {
    const names = Object.keys(value).sort();
    return `map[${names.map((name) => `${name}:${printGo(value[name] ?? null)}`).join(" ")}]`;
  }
  return typeOfValue(value) === "number" ? printGoFloat(Number(value)) : String(value);
}

/** The value at a path such as ".spec.replicas": of the expected type, undefined if missing, or an error. */
export type FoundAt<T> = { readonly value: T | undefined } | { readonly error: string };

/** Upstream: `unstructured.NestedInt64`. */
export function integerAt(object: JsonObject, path: string): FoundAt<number> {
  return valueAt(object, path, "integer", "int64");
}

/** Upstream: `unstructured.NestedString`. */
export function textAt(object: JsonObject, path: string): FoundAt<string> {
  return valueAt(object, path, "string", "string");
}

function valueAt<T>(object: JsonObject, path: string, type: "integer" | "string", goType: string): FoundAt<T> {
  const names = path.replace(/^\./, "").split(".");
  let value = object as Json;
  for (const [depth, name] of names.entries()) {
    if (value === null) return { value: undefined };
    if (!isMembers(value)) return accessorError(names.slice(0, depth + 1), value, "map[string]interface{}");
    const member = getMember(value, name);
    if (member === undefined) return { value: undefined };
    value = member;
  }
  return typeOfValue(value) === type ? { value: value as T } : accessorError(names, value, goType);
}

function accessorError(names: readonly string[], value: Json, wanted: string): { readonly error: string } {
  const type = GO_TYPES[typeOfValue(value)];
  return { error: `.${names.join(".")} accessor error: ${printGo(value)} is of the type ${type}, expected ${wanted}` };
}

const MAX_INT32 = 2 ** 31 - 1;

/** Upstream: `ValidateScaleSpec`, and its sibling for `.status.replicas`. */
export function validateReplicas(object: JsonObject, path: string): FieldError[] {
  const found = integerAt(object, path);
  if ("error" in found) return [invalidField(path, 0, found.error)];
  const replicas = found.value ?? 0;
  if (replicas < 0) return [invalidField(path, replicas, "should be a non-negative integer")];
  if (replicas > MAX_INT32) return [invalidField(path, replicas, `should be less than or equal to ${MAX_INT32}`)];
  return [];
}

/** Upstream: the part of `ValidateScaleStatus` about labelSelectorPath. */
export function validateSelectorText(object: JsonObject, path: string): FieldError[] {
  const found = textAt(object, path);
  return "error" in found ? [invalidField(path, "", found.error)] : [];
}
