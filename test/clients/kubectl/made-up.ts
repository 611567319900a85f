import type { View } from "./cases.ts";

/** What each server makes up for itself. */
const VALUES: readonly (readonly [RegExp, string])[] = [
  [/\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/g, "UID"],
  [/\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)/g, "TIME"],
  // The files that `diff` compares.
  [/\b(LIVE|MERGED)-\d+/g, "$1"],
  [/\b\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d+ [+-]\d{4}( UTC)?/g, "TIME"],
  [/\b[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d [+-]\d{4}/g, "TIME"],
  [/\b[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d \d{4}\b/g, "TIME"],
  [/\bmodifiedAt=\d+/g, "modifiedAt=TIME"],
  [/("?resourceVersion"?: ?)"\d+"/gi, "$1VERSION"],
  [/(Resource Version: +)\d+/g, "$1VERSION"],
  // The head of a line of klog.
  [/^[EIW]\d{4} \S+ +\d+ (?=\w+\.go:)/gm, "LOG "],
  [/https:\/\/127\.0\.0\.1:\d+/g, "SERVER"],
  [/("serverAddress": ?)"[^"]*"/g, '$1"SERVER"'],
  [/\b127\.0\.0\.1:\d+/g, "SERVER"],
  [/\b10\.96\.\d+\.\d+\b/g, "ADDRESS"],
  [/\b3[0-2]\d{3}\b/g, "NODEPORT"],
  [/\bkube-api-access-[a-z0-9]{5}\b/g, "kube-api-access-SUFFIX"],
  [/\b(node-debugger-[a-z0-9-]+)-[a-z0-9]{5}\b/g, "$1-SUFFIX"],
  [/\bdebugger-[a-z0-9]{5}\b/g, "debugger-SUFFIX"],
  [/\b(continue=)[\w%-]+/g, "$1TOKEN"],
  [/\bmilliseconds=\d+/g, "milliseconds=N"],
];

/** The width of columns, which follows from what stands in them. */
const COLUMNS: readonly (readonly [RegExp, string])[] = [
  [/-{4,}/g, "----"],
  [/ {2,}/g, "  "],
  [/ +$/gm, ""],
];

/** Ages stand in tables and descriptions; in an object such words are amounts. */
const AGES = [/\b(?:\d+s|[2-9]m(?:\d+s)?)\b|<invalid>/g, "AGE"] as const;

/** What is listed among the differences of `docs/compatibility.md`: how the members of a pod are shown in a refusal. */
const KNOWN: readonly (readonly [RegExp, string])[] = [
  [/( may not be changed\n)@@.*$/gs, "$1DIFFERENCE\n"],
  [/( \(allow it to be set to 1 if it was previously negative\)\n)@@.*$/gs, "$1DIFFERENCE\n"],
];

const EVENTS: readonly (readonly [RegExp, string])[] = [
  // The real server repairs a Service, and tells of it, when it looks at one that it is just about to finish.
  [/^.*\bClusterIPNotAllocated\b.*\n/gm, ""],
  [/^Events:\n +Type .*\n +---- .*\n(?! )/gm, "Events:  <none>\n"],
];

/** An answer as it came from the server, whose members have no order. */
function withSortedMembers(text: string): string {
  if (!text.startsWith("{") || text.trim().includes("\n")) return text;
  const sorted = (_: string, value: unknown): unknown =>
    value !== null && typeof value === "object" && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1)))
      : value;
  try {
    return `${JSON.stringify(JSON.parse(text), sorted, 1)}\n`;
  } catch {
    return text;
  }
}

/** Output with words in the place of what a server made up. An object keeps its blanks. */
export function withoutMadeUp(text: string): string {
  const isObject = /^(apiVersion:|\{|\[|-)/.test(text);
  const patterns = isObject ? VALUES : [AGES, ...VALUES, ...COLUMNS, ...EVENTS, ...KNOWN];
  return patterns.reduce((changed, [pattern, name]) => changed.replace(pattern, name), withSortedMembers(text));
}

const VIEWS: Readonly<Record<View, (text: string) => string>> = {
  all: (text) => text,
  lines: (text) => text.split("\n").toSorted().join("\n").trimStart(),
  words: (text) => text.split(" ").toSorted().join(" "),
  structure: (text) => {
    const isStructure = (line: string) => /^[A-Z]+:( |$)|^\s*\S+\t|^\s*(enum|default): /.test(line);
    return text
      .split("\n")
      .filter(isStructure)
      .map((line) => `${line.trimEnd()}\n`)
      .join("");
  },
  requests: (text) =>
    [...text.matchAll(/^LOG .*"Response" (verb="\w+" url="[^"]*" status="[^"]*")/gm)]
      .map(([, request = ""]) => `${request}\n`)
      .join(""),
  code: () => "",
};

/** What of an output, without made-up values, is compared. */
export function viewed(view: View, text: string): string {
  return VIEWS[view](text);
}
