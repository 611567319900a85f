import { MAX_BODY_BYTES, tooManyAdded } from "../../base/api/body-limits.ts";
import type { Json } from "../../base/api/object.ts";
import { quote } from "../../base/go/quote.ts";
import { isExactInteger } from "../../base/util/exact-integer.ts";
import { DuplicatePaths } from "./duplicate-paths.ts";

/** A struct field, as error messages name it. */
export interface FieldName {
  /** The struct that contains it. */
  readonly struct: string;
  /** Its name, after those of embedded structs. */
  readonly path: string;
}

/** An empty list or map where storing makes it the same as omitted. */
export interface EmptyValue {
  readonly path: readonly (string | number)[];
  readonly value: Json;
}

/** The value cannot be decoded. Decoding stopped there. */
export class DecodeFailure extends Error {
  constructor(message: string) {
    super(message);
    this.name = "DecodeFailure";
  }
}

const DUPLICATE = 'duplicate field "';
const MAX_STRICT_TEXTS = 100;
/** Maximum total length. The text that exceeds it is still reported. */
const MAX_STRICT_CHARACTERS = 1024 * 1024;

/**
 * The origin of a body. "body": JSON as sent by a client. "sorted": kube-apiserver would have sorted its members, as it
 * does with YAML and after JSON and merge patches. "merged": the result of a strategic merge, which kube-apiserver
 * never converts to JSON again; it uses another decoder, with other messages and with number conversions.
 */
export type BodyForm = "body" | "sorted" | "merged";

/** The position and results of decoding a body. */
export class DecodeState {
  readonly isUnstructured: boolean;
  readonly isSorted: boolean;
  /** The path to the current value: members and indices. */
  readonly path: (string | number)[] = [];
  /** The struct fields on that path. */
  readonly fields: FieldName[] = [];
  /** Messages of strict validation. */
  readonly strict: string[] = [];
  /** The first value of a wrong type. Decoding continues after it. */
  error: string | undefined;
  readonly empties: EmptyValue[] = [];
  keepsEmpties = false;
  hasWrittenNumbers = false;
  /** Greater than zero inside values whose own decoder does not report unknown fields. */
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

  /** Counts the JSON bytes of fields that the body omits but that are always written. Throws 413. */
  add(bytes: number): void {
    this.#added += bytes;
    if (this.#added > MAX_BODY_BYTES) throw tooManyAdded();
  }

  unknownField(name: string): void {
    if (this.#isStrictFull(!this.isUnstructured)) return;
    const shown = printPath([...this.path, name]);
    this.#pushStrict(`unknown field ${this.isUnstructured ? `"${shown}"` : quote(shown)}`);
  }

  /** Records the current value if it is a duplicate. */
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

  /** Records that the current value is an empty list or map. */
  noteEmpty(value: Json): void {
    this.empties.push({ path: [...this.path], value });
  }

  /** Records that the current value has the wrong type. `word` is its actual type, e.g. `string` or `number 1.5`. */
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

/** A path as shown in messages: `spec.ports[0].name`. */
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

/** The Go kind that untyped JSON decodes to. */
export function goKindOf(value: Json): string {
  if (Array.isArray(value)) return "slice";
  if (typeof value === "boolean") return "bool";
  if (typeof value === "string") return "string";
  if (typeof value === "number") return Number.isInteger(value) && Math.abs(value) < 2 ** 63 ? "int64" : "float64";
  return isExactInteger(value) ? "int64" : "map";
}
