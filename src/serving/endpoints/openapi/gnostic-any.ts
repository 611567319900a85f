import { isObject, type Json, type JsonObject } from "../../../base/api/object.ts";
import { printYaml } from "../../../data/encoding/yaml/yaml-print.ts";

/**
 * Prints any value as the YAML that the protobuf encoding of OpenAPI contains. Members keep their order. Nested lists
 * and members are indented to multiples of four.
 */
export function printAny(value: Json): string {
  const lines: string[] = [];
  if (isOpen(value)) printBlock(value, 0, lines);
  else lines.push(printInline(value));
  return `${lines.join("\n")}\n`;
}

type Container = JsonObject | readonly Json[];

function isOpen(value: Json): value is JsonObject | Json[] {
  if (Array.isArray(value)) return value.length > 0;
  return isObject(value) && Object.keys(value).length > 0;
}

function printBlock(value: Container, column: number, lines: string[]): void {
  const margin = " ".repeat(column);
  if (Array.isArray(value)) {
    for (const item of value as readonly Json[]) {
      const first = lines.length;
      if (isOpen(item)) printBlock(item, column + 2, lines);
      else lines.push(`${margin}  ${printInline(item)}`);
      lines[first] = `${margin}- ${(lines[first] ?? "").slice(column + 2)}`;
    }
    return;
  }
  for (const [name, member] of Object.entries(value)) {
    if (member === undefined) continue;
    const key = `${margin}${printInline(name)}:`;
    if (isOpen(member)) {
      lines.push(key);
      printBlock(member, 4 * Math.floor((column + 4) / 4), lines);
    } else lines.push(`${key} ${printInline(member)}`);
  }
}

function printInline(value: Json): string {
  // A JSON string is also a YAML string, and has no line breaks.
  if (typeof value === "string" && value.includes("\n")) return JSON.stringify(value);
  return printYaml(value).trimEnd();
}
