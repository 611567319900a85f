import { isObject, type Json, type JsonObject } from "../../api/object.ts";
import { printYaml } from "../../encoding/yaml/yaml-print.ts";

/**
 * A value of any shape as the YAML that the binary forms of OpenAPI carry: members in the order they have, nested
 * lists and members indented to columns that are multiples of four.
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
  // A JSON string is a YAML string, too, and has no line breaks.
  if (typeof value === "string" && value.includes("\n")) return JSON.stringify(value);
  return printYaml(value).trimEnd();
}
