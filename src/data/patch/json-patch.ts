import { type ApiError, badRequest, requestEntityTooLarge, unprocessable } from "../../base/api/api-error.ts";
import { isObject, type Json, type JsonObject } from "../../base/api/object.ts";
import { quote } from "../../base/go/quote.ts";
import { cloneJson } from "../../base/util/clone.ts";
import { isExactInteger } from "../../base/util/exact-integer.ts";
import { getMember, setMember } from "../../base/util/members.ts";
import { currentMeter, type Meter, UNITS_PER_ADDED_VALUE } from "../../base/util/meter.ts";
import { noteName } from "../../base/util/parse-json.ts";
import { countValues, measureJson } from "./json-values.ts";

/** A well-formed list of operations. Whether each of them can be applied is checked on application. */
export interface JsonPatch {
  readonly operations: readonly (JsonObject | null)[];
  /** Strict messages about unknown members of operations: `json patch unknown field "[0].foo"`. */
  readonly unknownMembers: readonly string[];
}

type Container = Json[] | JsonObject;

/** Maximum number of operations in one patch. */
export const MAX_OPERATIONS = 10_000;
/** Maximum number of bytes that all `copy` operations of one patch may add to the document. */
export const MAX_COPIED_BYTES = 3 * 1024 * 1024;
const MAX_DEPTH = 1000;
const MAX_STRICT_TEXTS = 100;
const TEXT_MEMBERS = ["op", "path", "from"] as const;

/**
 * Decodes a JSON patch. Throws 400 if it is not a list of operations, 413 if there are too many. Compat: `isChecked` is
 * false if fieldValidation is Ignore. Member types are then not checked, because kube-apiserver does not decode to
 * `jsonPatchOp`.
 */
export function parseJsonPatch(body: Json, isChecked: boolean): JsonPatch {
  if (body === null) return { operations: [], unknownMembers: [] };
  if (!Array.isArray(body)) throw wrongType(body, isChecked ? "[]handlers.jsonPatchOp" : "jsonpatch.Patch", isChecked);
  const unknownMembers: string[] = [];
  const operations = body.map((operation, index): JsonObject | null => {
    if (operation === null) return null;
    if (!isObject(operation)) {
      throw wrongType(operation, isChecked ? "handlers.jsonPatchOp" : "jsonpatch.Operation", isChecked);
    }
    if (isChecked) checkMembers(operation, index, unknownMembers);
    return operation;
  });
  if (operations.length > MAX_OPERATIONS) {
    const limit = `The allowed maximum operations in a JSON patch is ${MAX_OPERATIONS}`;
    throw requestEntityTooLarge(`${limit}, got ${operations.length}`);
  }
  return { operations, unknownMembers };
}

function checkMembers(operation: JsonObject, index: number, unknownMembers: string[]): void {
  for (const member of TEXT_MEMBERS) {
    const value = getMember(operation, member) ?? null;
    if (value !== null && typeof value !== "string") {
      const text = `json: cannot unmarshal ${jsonTypeOf(value)} into Go struct field jsonPatchOp.${member} of type string`;
      throw badRequest(`error decoding patch: ${text}`);
    }
  }
  for (const member of Object.keys(operation)) {
    if (member === "op" || member === "path" || member === "from" || member === "value") continue;
    if (unknownMembers.length >= MAX_STRICT_TEXTS) return;
    unknownMembers.push(`json patch unknown field ${JSON.stringify(`[${index}].${member}`)}`);
  }
}

function wrongType(value: Json, expected: string, isChecked: boolean): ApiError {
  const text = `json: cannot unmarshal ${jsonTypeOf(value)} into Go value of type ${expected}`;
  return badRequest(isChecked ? `error decoding patch: ${text}` : text);
}

/** The type of a JSON value in the words of Go's decoder. */
export function jsonTypeOf(value: Json | undefined): string {
  if (value === null || value === undefined) return "null";
  if (Array.isArray(value)) return "array";
  if (typeof value === "boolean") return "bool";
  if (typeof value === "object") return isExactInteger(value) ? "number" : "object";
  return typeof value;
}

/** What it takes to find the place of an operation, in units of the meter. */
const UNITS_PER_OPERATION = 10;
/** Moving so many items of a list takes about one unit. */
const MOVED_ITEMS_PER_UNIT = 100;
/** So does writing a copy of so many bytes. */
const COPIED_BYTES_PER_UNIT = 10;

/**
 * Applies all operations in order. Throws 422 if one cannot be applied, and TooCostly. Modifies neither argument. The result
 * shares unchanged parts with them, so clone it before changing it.
 */
export function jsonPatch(current: Json, patch: JsonPatch): Json {
  const document = new PatchedDocument(current);
  for (const operation of patch.operations) document.apply(operation ?? {});
  return document.finish();
}

/** A copy-on-write document. Each container is copied at most once. */
class PatchedDocument {
  #root: Json;
  readonly #owned = new Set<Container>();
  readonly #meter = currentMeter();
  #copiedBytes = 0;

  constructor(root: Json) {
    this.#root = root;
  }

  apply(operation: JsonObject): void {
    this.#meter.charge(UNITS_PER_OPERATION);
    const value = getMember(operation, "value") ?? null;
    const op = getMember(operation, "op");
    if (op === "add") this.#add(pointerOf(operation, "path", "add"), value);
    else if (op === "remove") this.#remove(pointerOf(operation, "path", "remove"));
    else if (op === "replace") this.#replace(pointerOf(operation, "path", "replace"), value);
    else if (op === "move") this.#move(pointerOf(operation, "from", "move"), operation);
    else if (op === "copy")
      this.#copy(pointerOf(operation, "from", "copy"), () => pointerOf(operation, "path", "copy"));
    else if (op === "test") this.#test(pointerOf(operation, "path", "test"), value);
    else throw unprocessable(`Unexpected kind: ${typeof op === "string" ? op : "unknown"}`);
  }

  /**
   * Compat: a patched document above the nesting limit of encoding/json (`maxNestingDepth`) is rejected with 422.
   * Differs: our limit is that of request bodies, Go's is 10,000.
   */
  finish(): Json {
    if (this.#owned.size > 0 && measureJson(this.#root, MAX_DEPTH) === undefined) throw unprocessable();
    return this.#root;
  }

  #add(
    pointer: string,
    value: Json,
    missing = `add operation does not apply: doc is missing path: "${pointer}"`,
  ): void {
    const [container, key] = this.#locate(pointer, true) ?? fail(`${missing}: ${MISSING}`);
    const error = `error in add for path: '${pointer}'`;
    noteName(key);
    if (Array.isArray(container)) this.#meter.charge(container.length / MOVED_ITEMS_PER_UNIT);
    if (!Array.isArray(container)) setMember(container, key, value);
    else if (key === "-") container.push(value);
    else
      container.splice(
        indexOf(key, container.length + 1, `${error}: value was not a proper array index: '${key}'`),
        0,
        value,
      );
  }

  #remove(pointer: string): void {
    const missing = `remove operation does not apply: doc is missing path: "${pointer}"`;
    const [container, key] = this.#locate(pointer, true) ?? fail(`${missing}: ${MISSING}`);
    const error = `error in remove for path: '${pointer}'`;
    if (Array.isArray(container)) this.#meter.charge(container.length / MOVED_ITEMS_PER_UNIT);
    if (Array.isArray(container)) container.splice(indexOf(key, container.length, error), 1);
    else if (Object.hasOwn(container, key)) delete container[key];
    else fail(`${error}: Unable to remove nonexistent key: ${key}: ${MISSING}`);
  }

  #replace(pointer: string, value: Json): void {
    if (pointer === "") {
      if (typeof value !== "object" || value === null || isExactInteger(value)) {
        fail("replace operation value must be object or array");
      }
      this.#root = value;
      return;
    }
    const missing = `replace operation does not apply: doc is missing path: ${pointer}`;
    const [container, key] = this.#locate(pointer, true) ?? fail(`${missing}: ${MISSING}`);
    const error = `replace operation does not apply: doc is missing key: ${pointer}: ${MISSING}`;
    // Compat: evanphx/json-patch adds a member that `replace` does not find.
    if (Array.isArray(container)) container[indexOf(key, container.length, error, true)] = value;
    else setMember(container, key, value);
  }

  #move(from: string, operation: JsonObject): void {
    const missing = `move operation does not apply: doc is missing from path: ${from}`;
    const value = this.#get(from, missing, (key) => `error in move for path: '${key}'`);
    const key = decodeToken(from.split("/").at(-1));
    const [container] = this.#locate(from, true) ?? fail(`${missing}: ${MISSING}`);
    if (!Array.isArray(container) && !Object.hasOwn(container, key)) {
      fail(`error in move for path: '${key}': Unable to remove nonexistent key: ${key}: ${MISSING}`);
    }
    this.#remove(from);
    const path = pointerOf(operation, "path", "move");
    this.#add(path, value, `move operation does not apply: doc is missing destination path: ${path}`);
  }

  #copy(from: string, to: () => string): void {
    const missing = `copy operation does not apply: doc is missing from path: ${from}`;
    const value = this.#get(from, missing, () => `error in copy for from: '${from}'`);
    const bytes = value === null ? 0 : measureJson(value, MAX_DEPTH);
    if (bytes === undefined) throw unprocessable();
    this.#copiedBytes += bytes;
    if (this.#copiedBytes > MAX_COPIED_BYTES) throw unprocessable();
    this.#meter.charge(countValues(value) * UNITS_PER_ADDED_VALUE + bytes / COPIED_BYTES_PER_UNIT);
    const pointer = to();
    // A separate copy, because either one may be modified in place later.
    this.#add(pointer, cloneJson(value), `copy operation does not apply: doc is missing destination path: ${pointer}`);
  }

  #test(pointer: string, expected: Json): void {
    const missing = `test operation does not apply: is missing path: ${pointer}`;
    const error = () => `error in test for path: '${pointer}'`;
    const actual = pointer === "" ? this.#root : this.#get(pointer, missing, error);
    if (!isSameJson(actual, expected, this.#meter)) fail(`testing value ${pointer} failed: test failed`);
  }

  /** Compat: evanphx/json-patch treats a missing member as null, so `test` and `copy` find it. */
  #get(pointer: string, missing: string, error: (key: string) => string): Json {
    const [container, key] = this.#locate(pointer, false) ?? fail(`${missing}: ${MISSING}`);
    if (Array.isArray(container)) return container[indexOf(key, container.length, error(key))] ?? null;
    return getMember(container, key) ?? null;
  }

  /**
   * The container of the last token of a pointer. With `isChanging`, it may be modified in place. Undefined if it does
   * not exist.
   */
  #locate(pointer: string, isChanging: boolean): [Container, string] | undefined {
    // Compat: evanphx/json-patch ignores everything before the first slash of a `path`.
    const tokens = pointer.split("/");
    let container = tokens.length < 2 ? undefined : asContainer(this.#root);
    if (container && isChanging) {
      container = this.#own(container);
      this.#root = container;
    }
    for (let i = 1; container && i < tokens.length - 1; i++) {
      container = this.#enter(container, decodeToken(tokens[i]), isChanging);
    }
    return container && [container, decodeToken(tokens.at(-1))];
  }

  #enter(container: Container, token: string, isChanging: boolean): Container | undefined {
    if (Array.isArray(container)) {
      const index = positionOf(token, container.length);
      const item = index === undefined ? undefined : asContainer(container[index]);
      if (index === undefined || !item || !isChanging) return item;
      const owned = this.#own(item);
      container[index] = owned;
      return owned;
    }
    const member = asContainer(getMember(container, token));
    if (!member || !isChanging) return member;
    const owned = this.#own(member);
    if (owned !== member) setMember(container, token, owned);
    return owned;
  }

  #own(container: Container): Container {
    if (this.#owned.has(container)) return container;
    this.#meter.charge(
      Array.isArray(container) ? container.length / MOVED_ITEMS_PER_UNIT : Object.keys(container).length,
    );
    const copy = Array.isArray(container) ? container.slice() : { ...container };
    this.#owned.add(copy);
    return copy;
  }
}

/** Compat: `ErrMissing`. */
const MISSING = "missing value";

function fail(reason: string): never {
  throw unprocessable(reason);
}

function pointerOf(operation: JsonObject, member: "path" | "from", op: string): string {
  const pointer = getMember(operation, member);
  if (typeof pointer === "string") return pointer;
  const short = `${op} operation failed to decode ${member}`;
  // Compat: only these operations wrap the error of `Operation.Path`.
  if (member === "path" && (op === "add" || op === "remove" || op === "copy")) fail(`${short}: ${MISSING}`);
  fail(`${short}: ${member === "path" ? "operation missing path field" : "operation, missing from field"}: ${MISSING}`);
}

function asContainer(value: Json | undefined): Container | undefined {
  return typeof value !== "object" || value === null || isExactInteger(value) ? undefined : value;
}

function decodeToken(token = ""): string {
  return token.includes("~") ? token.replace(/~[01]/g, (pair) => (pair === "~1" ? "/" : "~")) : token;
}

const INDEX = /^[+-]?[0-9]+$/;

/**
 * Compat: `SupportNegativeIndices` of evanphx/json-patch: negative indices count from the end. `strconv.Atoi` accepts a
 * sign and leading zeros. Undefined if there is no such item.
 */
function positionOf(token: string, length: number): number | undefined {
  const index = INDEX.test(token) ? Number(token) : Number.NaN;
  const position = index < 0 ? index + length : index;
  // Converts -0 to 0.
  return position >= 0 && position < length ? position + 0 : undefined;
}

/** Like `positionOf`, but throws 422. `isWhole`: `error` is the complete message. */
function indexOf(token: string, length: number, error: string, isWhole = false): number {
  const position = positionOf(token, length);
  if (position !== undefined) return position;
  const why = INDEX.test(token)
    ? `Unable to access invalid index: ${Number(token)}: invalid index referenced`
    : `strconv.Atoi: parsing ${quote(token)}: invalid syntax`;
  fail(isWhole ? error : `${error}: ${why}`);
}

function isSameJson(left: Json | undefined, right: Json | undefined, meter: Meter): boolean {
  meter.charge(1);
  if (left === right) return true;
  if (typeof left !== "object" || typeof right !== "object" || left === null || right === null) return false;
  if (left === undefined || right === undefined) return false;
  if (isExactInteger(left) || isExactInteger(right)) return JSON.stringify(left) === JSON.stringify(right);
  if (Array.isArray(left)) {
    return (
      Array.isArray(right) && left.length === right.length && left.every((one, i) => isSameJson(one, right[i], meter))
    );
  }
  if (Array.isArray(right)) return false;
  const members = Object.keys(left);
  if (members.length !== Object.keys(right).length) return false;
  return members.every((member) => Object.hasOwn(right, member) && isSameJson(left[member], right[member], meter));
}

const DUPLICATE = /^duplicate field "\[(\d+)\]\.value(.+)"$/;

/**
 * Strict messages about the patched document, given those about the body: duplicate members of an added value are
 * duplicate in the document, too. Compat: kube-apiserver reports "duplicate field" for both.
 */
export function duplicatesInDocument(patch: JsonPatch, duplicates: readonly string[]): string[] {
  return duplicates.flatMap((text) => {
    const [, index, rest = ""] = DUPLICATE.exec(text) ?? [];
    const operation = index === undefined ? undefined : patch.operations[Number(index)];
    const op = operation?.op;
    if (!operation || (op !== "add" && op !== "replace") || typeof operation.path !== "string") return [];
    const tokens = operation.path.split("/").slice(1).map(decodeToken);
    const path = tokens.reduce((path, token) => {
      if (INDEX.test(token)) return `${path}[${token}]`;
      return path === "" ? token : `${path}.${token}`;
    }, "");
    return [`duplicate field "${path === "" ? rest.slice(1) : `${path}${rest}`}"`];
  });
}
