import { getMember } from "../lib/members.ts";
import names from "./go-names.json" with { type: "json" };
import type { Schema } from "./schema.ts";

/**
 * Names of the typed originals, which appear in refusals. go-names.json holds, by component:
 *   types     the type of a field where it does not follow from the schema, e.g. a named string
 *   embedded  the embedded struct that a field stands in, by the protobuf number of that struct
 *   nulls     fields that are written as null when absent
 */
const types: Readonly<Record<string, Readonly<Record<string, string>>>> = names.types;
const embedded: Readonly<Record<string, Readonly<Record<string, string>>>> = names.embedded;
const nulls: Readonly<Record<string, readonly string[]>> = names.nulls;

/** The last part of a component's name: that of the Go struct. */
export function structNameOf(component: string): string {
  return component.slice(component.lastIndexOf(".") + 1);
}

/** The Go type of the values of a shape. */
export function goTypeOf(schema: Schema): string {
  if (schema.component !== undefined) return schema.component.split(".").slice(-2).join(".");
  if (schema.type === "array") return `[]${schema.items ? goTypeOf(schema.items) : "interface {}"}`;
  if (schema.type === "object") {
    return `map[string]${schema.values === undefined || schema.values === true ? "interface {}" : goTypeOf(schema.values)}`;
  }
  if (schema.type === "string") return schema.format === "byte" ? "[]uint8" : "string";
  if (schema.type === "integer") return schema.format ?? "int64";
  if (schema.type === "number") return "float64";
  return schema.type === "boolean" ? "bool" : "interface {}";
}

/** The Go type of a field, without the pointer. */
export function fieldTypeOf(component: string, field: string, schema: Schema): string {
  return getMember(types, component)?.[field] ?? goTypeOf(schema);
}

/** The Go type of the items or members of a list or map, as far as the type of the whole tells it. */
export function elementTypeOf(wholeType: string, schema: Schema | undefined): string {
  if (wholeType.startsWith("[]")) return wholeType.slice(2);
  if (wholeType.startsWith("map[")) return wholeType.slice(wholeType.indexOf("]") + 1);
  return schema === undefined ? "interface {}" : goTypeOf(schema);
}

/** A field with the embedded structs around it, as refusals name it: `VolumeSource.hostPath`. */
export function fieldPathOf(component: string, field: string, schema: Schema): string {
  const within = schema.proto?.within;
  const struct = within === undefined ? undefined : getMember(embedded, component)?.[within.join(".")];
  return struct === undefined ? field : `${struct}.${field}`;
}

/** Whether a field is written as null when it is absent. */
export function isWrittenAsNull(component: string, field: string): boolean {
  return getMember(nulls, component)?.includes(field) ?? false;
}
