import { MAX_BODY_BYTES, tooManyAdded } from "../api/body-limits.ts";
import type { Json } from "../api/object.ts";
import { isExactInteger } from "../lib/exact-integer.ts";
import { quote } from "../lib/go/quote.ts";
import { DuplicatePaths } from "./duplicate-paths.ts";

/** A field of a struct, as refusals name it. */
export interface FieldName {
  /** The struct that holds it. */
  readonly struct: string;
  /** Its name, behind those of embedded structs. */
  readonly path: string;
}

/** A list or map that was given empty where storing makes that the same as absent. */
export interface EmptyValue {
  readonly path: readonly (string | number)[];
  readonly value: Json;
}

/** A value that cannot be decoded; nothing after it was looked at. */
export class DecodeFailure extends Error {
  constructor(message: string) {
    super(message);
    this.name = "DecodeFailure";
  }
}

const DUPLICATE = 'duplicate field "';
const MAX_STRICT_TEXTS = 100;
/** How long they may be together; the one with which it is more is told. */
const MAX_STRICT_CHARACTERS = 1024 * 1024;

/**
 * How a body came about. "body": JSON as a client sent it. "sorted": the real server would have sorted its members, as
 * it does with YAML and after JSON and merge patches. "merged": the result of a strategic merge, which the real server
 * never makes JSON again; another decoder with other words, and with conversions between numbers, reads it.
 */
export type BodyForm = "body" | "sorted" | "merged";

/** Where a walk over a body is, and what it has found. */
export class DecodeState {
  readonly isUnstructured: boolean;
  readonly isSorted: boolean;
  /** The way to the current value: members and indices. */
  readonly path: (string | number)[] = [];
  /** The struct fields on the way. */
  readonly fields: FieldName[] = [];
  /** Texts of strict validation. */
  readonly strict: string[] = [];
  /** The first value of a wrong type; the walk goes on behind it. */
  error: string | undefined;
  readonly empties: EmptyValue[] = [];
  keepsEmpties = false;
  hasWrittenNumbers = false;
  /** Above zero inside of values whose own decoder does not report unknown fields. */
  lenient = 0;
  readonly #duplicates: DuplicatePaths;
  #strictCharacters = 0;
  #added = 0;

  constructor(form: BodyForm, duplicates: readonly string[] = []) {
    this.isUnstructured = form === "merged";
    this.isSorted = form === "sorted";
    this.#duplicates = new DuplicatePaths(duplicates.map((text) => text.slice(DUPLICATE.length, -1)));
  }

  get hasDuplicates(): boolean {
    return !this.#duplicates.isEmpty;
  }

  /** Counts the bytes that fields take as JSON which the body does not have, but which are always written. Throws 413. */
  add(bytes: number): void {
    this.#added += bytes;
    if (this.#added > MAX_BODY_BYTES) throw tooManyAdded();
  }

  unknownField(name: string): void {
    if (this.#isStrictFull(!this.isUnstructured)) return;
    const shown = printPath([...this.path, name]);
    this.#pushStrict(`unknown field ${this.isUnstructured ? `"${shown}"` : quote(shown)}`);
  }

  /** Notes the current value if it was given more than once. */
  noteDuplicate(): void {
    if (this.#isStrictFull(true) || !this.#duplicates.has(this.path)) return;
    this.#pushStrict(`duplicate field ${quote(printPath(this.path))}`);
  }

  #isStrictFull(isCounted: boolean): boolean {
    if (this.lenient > 0 || this.#strictCharacters > MAX_STRICT_CHARACTERS) return true;
    return isCounted && this.strict.length >= MAX_STRICT_TEXTS;
  }

  #pushStrict(text: string): void {
    this.strict.push(text);
    this.#strictCharacters += text.length;
  }

  /** Notes that the current value is an empty list or map. */
  noteEmpty(value: Json): void {
    this.empties.push({ path: [...this.path], value });
  }

  /** Notes that the current value is of the wrong type. `word` is what it is, e.g. `string` or `number 1.5`. */
  wrongType(word: string, goType: string): void {
    this.error ??= this.typeText(word, goType);
  }

  typeText(word: string, goType: string): string {
    if (this.isUnstructured) return `json: cannot unmarshal ${word} into Go value of type ${goType}`;
    const { fields } = this;
    const holder = fields.at(-1);
    const target =
      holder === undefined ? "value" : `struct field ${holder.struct}.${fields.map(({ path }) => path).join(".")}`;
    return `json: cannot unmarshal ${word} into Go ${target} of type ${goType}`;
  }
}

/** A path as messages show it: `spec.ports[0].name`. */
export function printPath(path: readonly (string | number)[]): string {
  let text = "";
  for (const step of path) {
    if (typeof step === "number") text += `[${step}]`;
    else text += text === "" ? step : `.${step}`;
  }
  return text;
}

/** The type of a value in the words of Go's decoder. */
export function wordFor(value: Json): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  if (typeof value === "boolean") return "bool";
  if (typeof value === "object") return isExactInteger(value) ? "number" : "object";
  return typeof value;
}

/** The kind of Go value that untyped JSON becomes. */
export function goKindOf(value: Json): string {
  if (Array.isArray(value)) return "slice";
  if (typeof value === "boolean") return "bool";
  if (typeof value === "string") return "string";
  if (typeof value === "number") return Number.isInteger(value) && Math.abs(value) < 2 ** 63 ? "int64" : "float64";
  return isExactInteger(value) ? "int64" : "map";
}
