import { getMember } from "../../base/util/members.ts";
import names from "./go-names.json" with { type: "json" };
import type { Schema } from "./schema.ts";

/**
 * Go names, which appear in error messages. go-names.json contains, by component:
 *   types     the type of a field if it does not follow from the schema, e.g. a named string
 *   embedded  the embedded struct that contains a field, by the protobuf number of that struct
 *   nulls     fields that are written as null if omitted
 */
const types: Readonly<Record<string, Readonly<Record<string, string>>>> = names.types;
const embedded: Readonly<Record<string, Readonly<Record<string, string>>>> = names.embedded;
const nulls: Readonly<Record<string, readonly string[]>> = names.nulls;

/** The Go struct name: the last part of a component name. */
export function structNameOf(component: string): string {
  return component.slice(component.lastIndexOf(".") + 1);
}

/** The Go type of a schema. */
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

/** The Go type of list items or map values, derived from the type of the list or map if possible. */
export function elementTypeOf(wholeType: string, schema: Schema | undefined): string {
  if (wholeType.startsWith("[]")) return wholeType.slice(2);
  if (wholeType.startsWith("map[")) return wholeType.slice(wholeType.indexOf("]") + 1);
  return schema === undefined ? "interface {}" : goTypeOf(schema);
}

/** A field with its embedded structs, as error messages name it: `VolumeSource.hostPath`. */
export function fieldPathOf(component: string, field: string, schema: Schema): string {
  const within = schema.proto?.within;
  const struct = within === undefined ? undefined : getMember(embedded, component)?.[within.join(".")];
  return struct === undefined ? field : `${struct}.${field}`;
}

/** Whether a field is written as null if it is omitted. */
export function isWrittenAsNull(component: string, field: string): boolean {
  return getMember(nulls, component)?.includes(field) ?? false;
}
