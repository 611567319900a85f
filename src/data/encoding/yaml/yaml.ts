import {
  EVENT_ID,
  type Event,
  getScalarValue,
  parseEvents,
  SCALAR_STYLE,
  type ScalarEvent,
  YAMLException,
} from "js-yaml";
import { MAX_VALUES, tooManyValues } from "../../../base/api/body-limits.ts";
import { isObject, type Json, type JsonObject } from "../../../base/api/object.ts";
import { isExactInteger } from "../../../base/util/exact-integer.ts";
import { noteNames } from "../../../base/util/parse-json.ts";
import { type DecodedBody, DecodeError, MAX_DEPTH } from "../json/json.ts";
import { mayHaveTooMany, plainJson } from "./plain-json.ts";
import { explainYaml } from "./yaml-errors.ts";
import { resolveScalar, resolveTagged } from "./yaml-scalars.ts";

/** Maximum number of values that aliases may add to a document. More are rejected as an attack. */
const MAX_ALIASED_VALUES = 100_000;
/** Maximum number of characters that aliases may add: the size limit of a body. */
const MAX_ALIASED_CHARACTERS = 3 * 1024 * 1024;

/**
 * Decodes the first YAML document with the scalar rules of go-yaml. Members are sorted by name, because kube-apiserver
 * converts YAML to JSON. A blank document is null. Throws DecodeError, and 413 for too many values.
 */
export function decodeYaml(bytes: Uint8Array): DecodedBody {
  const known = plainJson(bytes);
  if (known !== undefined) return { value: known, duplicates: () => [] };
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("utf8");
  if (mayHaveTooMany(bytes)) throw tooManyValues();
  const composer = new Composer(text, parse(text));
  const value = composer.compose();
  if (text.includes("\\")) noteNames(value);
  return { value, duplicates: () => composer.duplicates };
}

/** Compat: control characters that `yaml_parser_update_buffer` rejects but js-yaml does not. */
const CONTROL_CHARACTERS = /[\x7f-\x84\x86-\x9f\ufffe\uffff]/;

function parse(text: string): Event[] {
  if (CONTROL_CHARACTERS.test(text)) throw new DecodeError("yaml: control characters are not allowed");
  try {
    return parseEvents(text, { maxDepth: MAX_DEPTH });
  } catch (error) {
    if (error instanceof YAMLException) throw new DecodeError(explainYaml(error, text));
    throw error;
  }
}

/** Marks a `<<` key while its mapping is read. */
const MERGE = Symbol("merge");

/** Builds a JSON value from parser events. */
class Composer {
  readonly duplicates: string[] = [];
  readonly #text: string;
  readonly #events: readonly Event[];
  readonly #anchors = new Map<string, { value: Json; size: number; characters: number }>();
  #at = 0;
  /** Number of values so far. Aliased values count again. */
  #size = 0;
  #aliasedSize = 0;
  /** Number of members and items, counted like those of JSON. */
  #values = 0;
  /** Total length of scalars so far. Aliased ones count again. */
  #characters = 0;
  #aliasedCharacters = 0;
  /** The line of the last looked up position, and its start. */
  #line = 1;
  #lineStart = 0;

  constructor(text: string, events: readonly Event[]) {
    this.#text = text;
    this.#events = events;
  }

  compose(): Json {
    if (this.#events[this.#at++]?.type !== EVENT_ID.DOCUMENT) return null;
    if (this.#peek() === EVENT_ID.POP || this.#peek() === undefined) return null;
    return this.#value();
  }

  #peek(): number | undefined {
    return this.#events[this.#at]?.type;
  }

  #value(): Json {
    const event = this.#events[this.#at++];
    if (event === undefined || event.type === EVENT_ID.DOCUMENT || event.type === EVENT_ID.POP) return null;
    if (event.type === EVENT_ID.ALIAS) return this.#alias(this.#text.slice(event.anchorStart, event.anchorEnd));
    const sizeBefore = this.#size++;
    const charactersBefore = this.#characters;
    const value =
      event.type === EVENT_ID.SCALAR
        ? this.#scalar(event)
        : event.type === EVENT_ID.SEQUENCE
          ? this.#sequence()
          : this.#mapping();
    if (event.anchorStart >= 0) {
      const name = this.#text.slice(event.anchorStart, event.anchorEnd);
      this.#anchors.set(name, {
        value,
        size: this.#size - sizeBefore,
        characters: this.#characters - charactersBefore,
      });
    }
    return value;
  }

  #alias(name: string): Json {
    const anchor = this.#anchors.get(name);
    if (anchor === undefined) throw new DecodeError(`yaml: unknown anchor '${name}' referenced`);
    this.#size += anchor.size;
    this.#aliasedSize += anchor.size;
    this.#characters += anchor.characters;
    this.#aliasedCharacters += anchor.characters;
    if (this.#aliasedSize > MAX_ALIASED_VALUES || this.#aliasedCharacters > MAX_ALIASED_CHARACTERS) {
      throw new DecodeError("yaml: document contains excessive aliasing");
    }
    // Every alias gets its own copy, so that changing one does not change the others.
    return copy(anchor.value);
  }

  #scalar(event: ScalarEvent): Json {
    const text = event.valueStart < 0 ? "" : getScalarValue(this.#text, event);
    this.#characters += text.length;
    if (event.tagStart >= 0) return resolveTagged(text, this.#text.slice(event.tagStart, event.tagEnd));
    return event.style === SCALAR_STYLE.PLAIN ? resolveScalar(text) : text;
  }

  #sequence(): Json {
    const items: Json[] = [];
    this.#count();
    while (this.#peek() !== EVENT_ID.POP) {
      items.push(this.#value());
      this.#count();
    }
    this.#at++;
    return items;
  }

  #mapping(): Json {
    const members = new Map<string, Json>();
    const merged: Json[] = [];
    this.#count();
    while (this.#peek() !== EVENT_ID.POP) {
      const position = this.#position();
      const key = this.#key();
      const value = this.#value();
      this.#count();
      if (key === MERGE) merged.push(value);
      else {
        if (members.has(key)) this.#noteDuplicate(key, position);
        members.set(key, value);
      }
    }
    this.#at++;
    for (const value of merged) mergeInto(members, value);
    return sortedObject(members);
  }

  #count(): void {
    if (++this.#values > MAX_VALUES) throw tooManyValues();
  }

  #position(): number {
    const event = this.#events[this.#at];
    if (event?.type === EVENT_ID.SCALAR) return event.valueStart;
    return event?.type === EVENT_ID.ALIAS ? event.anchorStart : 0;
  }

  #key(): string | typeof MERGE {
    const event = this.#events[this.#at];
    const isPlain = event?.type === EVENT_ID.SCALAR && event.style === SCALAR_STYLE.PLAIN && event.tagStart < 0;
    if (isPlain && this.#text.startsWith("<<", event.valueStart) && event.valueEnd === event.valueStart + 2) {
      this.#at++;
      return MERGE;
    }
    const key = this.#value();
    if (typeof key === "string") return key;
    if (typeof key === "number" || typeof key === "boolean" || isExactInteger(key)) return JSON.stringify(key);
    throw new DecodeError(
      `unsupported map key of type: ${key === null ? "nil" : Array.isArray(key) ? "slice" : "map"}`,
    );
  }

  #noteDuplicate(key: string, position: number): void {
    this.duplicates.push(`line ${this.#lineAt(position)}: key ${JSON.stringify(key)} already set in map`);
  }

  // Continues from the last position. Counting from the start each time would take quadratic time for many duplicates.
  #lineAt(position: number): number {
    if (position < this.#lineStart) {
      this.#line = 1;
      this.#lineStart = 0;
    }
    for (;;) {
      const lineEnd = this.#text.indexOf("\n", this.#lineStart);
      if (lineEnd < 0 || lineEnd >= position) return this.#line;
      this.#line++;
      this.#lineStart = lineEnd + 1;
    }
  }
}

function mergeInto(members: Map<string, Json>, value: Json): void {
  for (const source of Array.isArray(value) ? value : [value]) {
    if (!isObject(source)) {
      throw new DecodeError("yaml: map merge requires map or sequence of maps as the value");
    }
    for (const [key, member] of Object.entries(source)) {
      if (!members.has(key) && member !== undefined) members.set(key, member);
    }
  }
}

function sortedObject(members: Map<string, Json>): JsonObject {
  const object: JsonObject = {};
  const keys = [...members.keys()].sort();
  for (const key of keys) setMember(object, key, members.get(key));
  return object;
}

// Assigning `__proto__` would change the prototype of the object instead of adding a member.
function setMember(object: JsonObject, key: string, value: Json | undefined): void {
  if (key !== "__proto__") object[key] = value;
  else Object.defineProperty(object, key, { value, writable: true, enumerable: true, configurable: true });
}

function copy(value: Json): Json {
  if (Array.isArray(value)) return value.map(copy);
  if (!isObject(value)) return value;
  const object: JsonObject = {};
  for (const [key, member] of Object.entries(value))
    setMember(object, key, member === undefined ? member : copy(member));
  return object;
}
