import { isObject, type Json, type JsonObject } from "../../../base/api/object.ts";
import { trimRight } from "../../../base/util/trim-right.ts";

/** Prints a value as a YAML document like kube-apiserver: sorted members, list items not indented. */
export function printYaml(value: Json): string {
  const lines: string[] = [];
  if (isOpen(value)) printBlock(value, "", lines);
  else lines.push(printInline(value, ""));
  return `${lines.join("\n")}\n`;
}

type Container = JsonObject | Json[];

// Non-empty containers take lines of their own. Everything else is on the line of its key.
function isOpen(value: Json): value is Container {
  if (Array.isArray(value)) return value.length > 0;
  return isObject(value) && Object.values(value).some((member) => member !== undefined);
}

function printBlock(value: Container, indent: string, lines: string[]): void {
  if (Array.isArray(value)) {
    for (const item of value) printItem(item, indent, lines);
    return;
  }
  for (const key of Object.keys(value).sort()) {
    const member = value[key];
    if (member === undefined) continue;
    const name = `${indent}${printString(key, indent, true)}:`;
    if (isOpen(member)) {
      lines.push(name);
      printBlock(member, Array.isArray(member) ? indent : `${indent}  `, lines);
    } else lines.push(`${name} ${printInline(member, indent)}`);
  }
}

function printItem(item: Json, indent: string, lines: string[]): void {
  if (!isOpen(item)) {
    lines.push(`${indent}- ${printInline(item, indent)}`);
    return;
  }
  const first = lines.length;
  printBlock(item, `${indent}  `, lines);
  lines[first] = `${indent}- ${(lines[first] ?? "").slice(indent.length + 2)}`;
}

function printInline(value: Json, indent: string): string {
  if (typeof value === "string") return printString(value, indent, false);
  if (Array.isArray(value)) return "[]";
  if (isObject(value)) return "{}";
  return JSON.stringify(value);
}

// Texts that a YAML 1.1 or 1.2 parser could interpret as something other than a string.
const WORD = /^(?:~|null|y|n|yes|no|on|off|true|false|[-+]?\.(?:inf|nan)|<<)$/i;
const NUMBER =
  /^[-+]?(?:0x[0-9a-f_]+|0b[01_]+|0o[0-7_]+|(?:[0-9][0-9_]*(?:\.[0-9_]*)?|\.[0-9_]+)(?:e[-+]?[0-9]+)?|[0-9][0-9_]*(?::[0-9]+)+(?:\.[0-9_]*)?)$/i;
const DATE = /^[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}/;

function isAmbiguous(text: string): boolean {
  return text === "" || WORD.test(text) || (/^[-+.0-9]/.test(text) && (NUMBER.test(text) || DATE.test(text)));
}

const PLAIN = /^[^\s\-?:,[\]{}#&*!|>'"%@`][^\n]*$/;
const SAFE_DASH = /^[-?:][^\s,[\]{}]/;

function printString(text: string, indent: string, isKey: boolean): string {
  if (isAmbiguous(text) || needsEscapes(text)) return quoteDouble(text);
  if (text.includes("\n")) return isKey || !fitsBlock(text) ? quoteDouble(text) : printLiteral(text, indent);
  const isPlain =
    (PLAIN.test(text) || SAFE_DASH.test(text)) &&
    !/: |:$| #|\s$/.test(text) &&
    !text.startsWith("---") &&
    !text.startsWith("...");
  return isPlain ? text : `'${text.replaceAll("'", "''")}'`;
}

// Control characters, byte order marks, lone surrogates, and characters that some parsers treat as line breaks.
function needsEscapes(text: string): boolean {
  return /[^\n\u0020-\u007e\u00a0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd]/.test(text);
}

// Leading space would need an indentation indicator, and editors easily lose trailing space.
function fitsBlock(text: string): boolean {
  return !/^\s|[ \t](?:\n|$)/.test(text);
}

function printLiteral(text: string, indent: string): string {
  const body = trimRight(text, "\n");
  const breaks = text.length - body.length;
  const chomp = breaks === 0 ? "-" : breaks === 1 ? "" : "+";
  const lines = body.split("\n").map((line) => (line === "" ? "" : `${indent}  ${line}`));
  for (let extra = 1; extra < breaks; extra++) lines.push("");
  return [`|${chomp}`, ...lines].join("\n");
}

// JSON strings are YAML strings, once the characters that YAML does not accept are escaped.
function quoteDouble(text: string): string {
  return JSON.stringify(text).replace(/[\u007f-\u009f\u2028\u2029\ufeff\ufffe\uffff]/g, (character) => {
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
  });
}
