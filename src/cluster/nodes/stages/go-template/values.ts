import { isObject, type Json } from "../../../../base/api/object.ts";

/** Whether a value counts as true in `if`: it is not empty. */
export function isTrue(value: Json | undefined): boolean {
  if (Array.isArray(value)) return value.length > 0;
  if (isObject(value)) return Object.keys(value).length > 0;
  return Boolean(value);
}

/** A value as Go prints it. */
export function printValue(value: Json | undefined): string {
  if (value === undefined || value === null) return "<no value>";
  if (Array.isArray(value)) return `[${value.map(printValue).join(" ")}]`;
  if (isObject(value)) {
    const members = Object.keys(value).sort();
    return `map[${members.map((name) => `${name}:${printValue(value[name])}`).join(" ")}]`;
  }
  return String(value);
}
