import { isObject, type Json, type JsonObject } from "../../src/base/api/object.ts";
import { minimal, type Place } from "./places.ts";

/** A way to enlarge a place. */
export interface Growth {
  readonly name: string;
  /** The text is YAML with anchors and aliases. */
  readonly isYaml?: boolean;
  /** The JSON text of a value of about `size` bytes. */
  text(size: number): string;
}

/** Repeated texts, between a start and an end that some parser may recognize. */
export const RUNS: readonly (readonly [start: string, run: string, end: string])[] = [
  ["", "a", "!"],
  ["", "a", ""],
  ["", "0", "x"],
  ["", "1", "x"],
  ["0.", "0", "1"],
  ["", " ", "x"],
  ["a", " ", "x"],
  ["", "\t", "x"],
  ["a", "\n", "x"],
  ["", ".", "x"],
  ["", "a.", "!"],
  ["a", "-", "!"],
  ["", "a-", "."],
  ["a", "/", "x"],
  ["/", "../", "x"],
  ["", "//a", ""],
  ["", ":", "x"],
  ["", "1:", "x"],
  ["", "1.1.1.1,", "x"],
  ["", '"', "x"],
  ["", "'", "x"],
  ["", "\\", "x"],
  ["", "(", "x"],
  ["", "[", "x"],
  ["", "{", "x"],
  ["", "$(", "x"],
  ["a", "['", "x"],
  ["metadata.annotations['", "['", "x"],
  ["@every ", "1", ""],
  ["@every ", "1h", "x"],
  ["", "0-59,", "0 * * * *"],
  ["", "* ", "x"],
  ["", "1h", "x"],
  ["", "%", "x"],
  ["http://", "a@", "/"],
  ["", "a=b,", "!"],
  ["iqn.2020-01.", "a.", ":"],
  ["", "iqn.2020-01.", "x"],
  ["-----BEGIN X", " ", "x-----\n"],
  ["", "-----BEGIN X-----\n", ""],
  ["2026-01-01T00:00:00.", "0", "Z"],
  ["", "é", "!"],
  ["", "\u0000", "x"],
  ["", "1 + ", "1"],
  ["", "a || ", "b"],
];

function hostile([start, run, end]: (typeof RUNS)[number], isBase64: boolean): Growth {
  const short = JSON.stringify(run);
  return {
    name: `${JSON.stringify(start)} ${short}… ${JSON.stringify(end)}${isBase64 ? " in base64" : ""}`,
    text(size) {
      const each = isBase64 ? (Buffer.byteLength(run) * 4) / 3 : Buffer.byteLength(short) - 2;
      const value = start + run.repeat(Math.max(1, Math.floor((size - 20) / each))) + end;
      return JSON.stringify(isBase64 ? Buffer.from(value).toString("base64") : value);
    },
  };
}

/** A list of as many items as fit; `item` returns the JSON text of each. */
const list = (name: string, item: (index: number) => string): Growth => ({
  name,
  text(size) {
    const items: string[] = [];
    for (let left = size; left > 0; ) {
      const text = item(items.length);
      items.push(text);
      left -= text.length + 1;
    }
    return `[${items.join(",")}]`;
  },
});

const map = (name: string, key: (index: number) => string, value: string): Growth => ({
  name,
  text(size) {
    const members: string[] = [];
    for (let left = size; left > 0; ) {
      const text = `${JSON.stringify(key(members.length))}:${value}`;
      members.push(text);
      left -= text.length + 1;
    }
    return `{${members.join(",")}}`;
  },
});

const nested = (name: string, open: string, close: string): Growth => ({
  name,
  text: (size) => {
    const depth = Math.floor(size / (open.length + close.length));
    return `${open.repeat(depth)}1${close.repeat(depth)}`;
  },
});

const DEEP = [nested("deep lists", "[", "]"), nested("deep maps", '{"a":', "}")];

/** A list or map of one value and aliases of it. */
const aliases = (name: string, open: string, close: string, value: string, key: (index: number) => string): Growth => ({
  name,
  isYaml: true,
  text(size) {
    const members = [`${key(0)}&a ${value}`];
    for (let left = size - value.length; left > 0; ) {
      const text = `${key(members.length)}*a`;
      members.push(text);
      left -= text.length + 2;
    }
    return `${open}${members.join(", ")}${close}`;
  },
});

/** A copy of an item with unique values of everything that may be its key. */
function distinct(item: Json, index: number): Json {
  if (typeof item === "string") return `${item}${index}`;
  if (typeof item === "number") return item + index;
  if (!isObject(item)) return item;
  const out: JsonObject = {};
  for (const [name, member] of Object.entries(item)) {
    out[name] = typeof member === "object" ? (member as Json) : distinct(member as Json, index);
  }
  return out;
}

/** The ways to enlarge a place; `example` is a valid value of the place. */
export function growthsOf({ type, schema }: Place, example: Json | undefined): Growth[] {
  if (type === "string") return RUNS.map((run) => hostile(run, schema.format === "byte"));
  if (type === "list") {
    const least = minimal(schema.items ?? {});
    const item = (Array.isArray(example) ? example[0] : undefined) ?? least;
    const named = isObject(item) && Object.keys(item).length === 0 ? { name: "a" } : item;
    const equal = JSON.stringify(item);
    const empty = schema.items?.type === "string" ? '""' : isObject(least) ? "{}" : JSON.stringify(least);
    return [
      list("equal items", () => equal),
      list("distinct items", (index) => JSON.stringify(distinct(named, index))),
      list("empty items", () => empty),
      list("null items", () => "null"),
      aliases("aliased items", "[", "]", equal, () => ""),
      ...DEEP,
    ];
  }
  const aliasKey = (index: number) => `"k${index}": `;
  const value = schema.values === undefined || schema.values === true ? '"1"' : JSON.stringify(minimal(schema.values));
  return [
    map("distinct keys", (index) => `k${index}`, value),
    map("distinct keys with a prefix", (index) => `a${index}.example.com/k`, value),
    map("doubled keys", () => "a", value),
    map("keys in doubles", (index) => `k${index >> 1}`, value),
    { name: "one long key", text: (size) => `{${JSON.stringify(`${"a/".repeat(size / 2)}!`)}:${value}}` },
    { name: "one long value", text: (size) => `{"a":${JSON.stringify("x\n".repeat(size / 3))}}` },
    aliases("aliased values", "{", "}", value, aliasKey),
    ...DEEP,
  ];
}
