import { setImmediate as nextTurn } from "node:timers/promises";
import type { RowWork } from "../../../base/api/columns.ts";
import type { Json, JsonObject } from "../../../base/api/object.ts";
import type { ObjectView, ViewList } from "../../../base/api/reply.ts";
import { GIVE_WAY, joinPieces } from "../chunks.ts";
import { printJson } from "../json/json.ts";
import type { OutputForm } from "../negotiation/negotiate.ts";
import { printYaml } from "../yaml/yaml-print.ts";
import { copyList } from "./copied-list.ts";

/** A list whose entries are encoded one by one. */
export interface ListShape {
  /** Members before the entries: kind, apiVersion, metadata and the like. */
  readonly head: JsonObject;
  readonly arrayName: "items" | "rows";
  readonly views: ViewList;
  /** Counts what making the entries has visited. Optional. */
  readonly work?: RowWork;
  /** Encodes an entry as compact JSON. Optional. If omitted, the item JSON of the view is copied. */
  readonly json?: (view: ObjectView) => Uint8Array;
  /** The entry for all other formats. */
  readonly value: (view: ObjectView) => Json;
  /** Compat: a nil Go slice: `items` or `rows` is null if the list is empty. */
  readonly emptyIsNull?: boolean;
}

/**
 * Encodes a list: one buffer if it is small, otherwise a stream of chunks that gives other requests a turn after each
 * chunk.
 */
export function writeList(
  shape: ListShape,
  form: OutputForm,
  maxBytes: number,
): Uint8Array | AsyncIterable<Uint8Array> {
  const isCopied = shape.json === undefined && form.mediaType === "application/json" && !form.isPretty;
  if (isCopied) return copyList(shape, maxBytes);
  const chunks = joinPieces(piecesOf(shape, form));
  const first: Uint8Array[] = [];
  let size = 0;
  while (size <= maxBytes) {
    const next = chunks.next();
    if (next.done) return first.length === 1 && first[0] ? first[0] : Buffer.concat(first, size);
    if (next.value === GIVE_WAY) break;
    first.push(next.value);
    size += next.value.length;
  }
  return continueWith(first, chunks);
}

async function* continueWith(first: Uint8Array[], rest: Generator<Uint8Array>): AsyncGenerator<Uint8Array> {
  yield* first;
  if (first.length === 0) await nextTurn();
  for (const chunk of rest) {
    if (chunk !== GIVE_WAY) yield chunk;
    await nextTurn();
  }
}

function piecesOf(shape: ListShape, form: OutputForm): Iterable<Uint8Array> {
  if (shape.emptyIsNull && shape.views.length === 0) return [printNothing(shape, form)];
  if (form.mediaType === "application/yaml") return yamlPieces(shape);
  return form.isPretty ? prettyPieces(shape) : compactPieces(shape);
}

function printNothing({ head, arrayName }: ListShape, form: OutputForm): Uint8Array {
  const value = { ...head, [arrayName]: null };
  return Buffer.from(form.mediaType === "application/yaml" ? printYaml(value) : printJson(value, form.isPretty));
}

/** Other requests get a turn after this many stored bytes were read: a row is short, however large its object is. */
const READ_BYTES = 1024 * 1024;
/** Visiting a value takes as long as reading so many bytes. */
const BYTES_PER_VISIT = 20;

/** Tells when other requests get a turn. */
class Reading {
  readonly #work: RowWork;
  #bytes = 0;
  #visits: number;

  constructor({ work = { visits: 0 } }: ListShape) {
    this.#work = work;
    this.#visits = work.visits;
  }

  /** Call it after each entry. */
  isTurnOver(view: ObjectView): boolean {
    this.#bytes += (view.stored?.bytes ?? 0) + (this.#work.visits - this.#visits) * BYTES_PER_VISIT;
    this.#visits = this.#work.visits;
    if (this.#bytes < READ_BYTES) return false;
    this.#bytes = 0;
    return true;
  }
}

const COMMA = Buffer.from(",");
const LIST_END = Buffer.from("]}\n");

function* compactPieces(shape: ListShape): Generator<Uint8Array> {
  const { head, arrayName, views, json = itemJson } = shape;
  const reading = new Reading(shape);
  yield Buffer.from(`${JSON.stringify(head).slice(0, -1)},"${arrayName}":[`);
  let isFirst = true;
  for (const view of views) {
    if (!isFirst) yield COMMA;
    isFirst = false;
    yield json(view);
    if (reading.isTurnOver(view)) yield GIVE_WAY;
  }
  yield LIST_END;
}

function itemJson(view: ObjectView): Uint8Array {
  return view.itemJson();
}

// JSON strings contain no raw line feeds, so every line feed of an entry is layout.
function* prettyPieces(shape: ListShape): Generator<Uint8Array> {
  const { head, arrayName, views, value } = shape;
  const reading = new Reading(shape);
  yield Buffer.from(`${JSON.stringify(head, null, 2).slice(0, -2)},\n  "${arrayName}": [`);
  let isFirst = true;
  for (const view of views) {
    const text = JSON.stringify(value(view), null, 2).replaceAll("\n", "\n    ");
    yield Buffer.from(`${isFirst ? "" : ","}\n    ${text}`);
    isFirst = false;
    if (reading.isTurnOver(view)) yield GIVE_WAY;
  }
  yield Buffer.from(isFirst ? "]\n}" : "\n  ]\n}");
}

function* yamlPieces(shape: ListShape): Generator<Uint8Array> {
  const { head, arrayName, views, value } = shape;
  const reading = new Reading(shape);
  const part = (isWanted: (name: string) => boolean): string => {
    const members = Object.entries(head).filter(([name]) => isWanted(name));
    return members.length === 0 ? "" : printYaml(Object.fromEntries(members));
  };
  yield Buffer.from(`${part((name) => name < arrayName)}${arrayName}:`);
  let isFirst = true;
  for (const view of views) {
    yield Buffer.from(`${isFirst ? "\n" : ""}${printYaml([value(view)])}`);
    isFirst = false;
    if (reading.isTurnOver(view)) yield GIVE_WAY;
  }
  yield Buffer.from(`${isFirst ? " []\n" : ""}${part((name) => name > arrayName)}`);
}
