import { setImmediate as nextTurn } from "node:timers/promises";
import type { Json, JsonObject } from "../api/object.ts";
import type { ObjectView } from "../api/reply.ts";
import { type Fill, FilledBody } from "./filled-body.ts";
import { printJson } from "./json.ts";
import type { OutputForm } from "./negotiate.ts";
import { printYaml } from "./yaml-print.ts";

/** A list whose entries are printed one after the other. */
export interface ListShape {
  /** Members that stand before the entries: kind, apiVersion, metadata and the like. */
  readonly head: JsonObject;
  readonly arrayName: "items" | "rows";
  readonly views: readonly ObjectView[];
  /** An entry for compact JSON. Absent: the item as the view itself has it, which is copied without being made first. */
  readonly json?: (view: ObjectView) => Uint8Array;
  /** An entry for everything else. */
  readonly value: (view: ObjectView) => Json;
  /** Compat: the real server says null where this list has no entries. */
  readonly emptyIsNull?: boolean;
}

/** Size at which a chunk is handed on. */
const CHUNK_BYTES = 64 * 1024;
/**
 * A list as bytes: one buffer when it is small, otherwise a stream of chunks that gives other requests a turn after
 * each of them.
 */
export function writeList(
  shape: ListShape,
  form: OutputForm,
  maxBytes: number,
): Uint8Array | AsyncIterable<Uint8Array> {
  const isCopied = shape.json === undefined && form.mediaType === "application/json" && !form.isPretty;
  if (isCopied) return writeCopies(shape, maxBytes);
  const chunks = joinPieces(piecesOf(shape, form));
  const first: Uint8Array[] = [];
  let size = 0;
  while (size <= maxBytes) {
    const next = chunks.next();
    if (next.done) return first.length === 1 && first[0] ? first[0] : Buffer.concat(first, size);
    first.push(next.value);
    size += next.value.length;
  }
  return continueWith(first, chunks);
}

async function* continueWith(first: Uint8Array[], rest: Generator<Uint8Array>): AsyncGenerator<Uint8Array> {
  yield* first;
  for (const chunk of rest) {
    yield chunk;
    await nextTurn();
  }
}

/** More items are not measured before they are sent. */
const MAX_MEASURED = 20_000;

function writeCopies(shape: ListShape, maxBytes: number): Uint8Array | FilledBody {
  const { head, arrayName, views } = shape;
  const start = Buffer.from(`${JSON.stringify(head).slice(0, -1)},"${arrayName}":[`);
  if (views.length > MAX_MEASURED) return new FilledBody(undefined, itemCopier(start, views));
  let size = start.length + Math.max(0, views.length - 1) + LIST_END.length;
  for (const view of views) size += view.itemSize();
  if (size > maxBytes) return new FilledBody(size, itemCopier(start, views));
  const whole = Buffer.allocUnsafe(size);
  let at = start.copy(whole);
  for (const [index, view] of views.entries()) {
    if (index > 0) whole[at++] = COMMA_BYTE;
    at = view.writeItem(whole, at);
  }
  LIST_END.copy(whole, at);
  return whole;
}

/** Copies the head, the items and the end of a list, as much as fits at a time. */
function itemCopier(start: Buffer, views: readonly ObjectView[]): Fill {
  let index = 0;
  /** What must go out before the next item, and how much of it is out. */
  let held: Uint8Array | undefined = start;
  let heldFrom = 0;
  const copyHeld = (target: Uint8Array, at: number): number => {
    if (held === undefined) return at;
    const part = held.subarray(heldFrom, heldFrom + target.length - at);
    target.set(part, at);
    heldFrom += part.length;
    if (heldFrom === held.length) held = undefined;
    return at + part.length;
  };
  const hold = (bytes: Uint8Array): void => {
    held = bytes;
    heldFrom = 0;
  };
  return (target) => {
    let at = copyHeld(target, 0);
    while (index < views.length && held === undefined) {
      const view = views[index] as ObjectView;
      const size = view.itemSize() + 1;
      if (size > target.length - at) {
        if (at > 0) return at;
        hold(Buffer.concat([index > 0 ? COMMA : EMPTY, view.itemJson()]));
        index++;
        at = copyHeld(target, at);
      } else {
        if (index++ > 0) target[at++] = COMMA_BYTE;
        at = view.writeItem(target, at);
      }
      if (index === views.length) break;
    }
    if (index === views.length && held === undefined) {
      index++;
      hold(LIST_END);
    }
    return copyHeld(target, at);
  };
}

function* joinPieces(pieces: Iterable<Uint8Array>): Generator<Uint8Array> {
  let held: Uint8Array[] = [];
  let size = 0;
  for (const piece of pieces) {
    held.push(piece);
    size += piece.length;
    if (size < CHUNK_BYTES) continue;
    yield Buffer.concat(held, size);
    held = [];
    size = 0;
  }
  if (size > 0) yield Buffer.concat(held, size);
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

const COMMA = Buffer.from(",");
const COMMA_BYTE = 0x2c;
const EMPTY = Buffer.alloc(0);
const LIST_END = Buffer.from("]}\n");

function* compactPieces({ head, arrayName, views, json = itemJson }: ListShape): Generator<Uint8Array> {
  yield Buffer.from(`${JSON.stringify(head).slice(0, -1)},"${arrayName}":[`);
  let isFirst = true;
  for (const view of views) {
    if (!isFirst) yield COMMA;
    isFirst = false;
    yield json(view);
  }
  yield LIST_END;
}

function itemJson(view: ObjectView): Uint8Array {
  return view.itemJson();
}

// JSON strings hold no raw line feeds, so every line feed of an entry is layout.
function* prettyPieces({ head, arrayName, views, value }: ListShape): Generator<Uint8Array> {
  yield Buffer.from(`${JSON.stringify(head, null, 2).slice(0, -2)},\n  "${arrayName}": [`);
  let isFirst = true;
  for (const view of views) {
    const text = JSON.stringify(value(view), null, 2).replaceAll("\n", "\n    ");
    yield Buffer.from(`${isFirst ? "" : ","}\n    ${text}`);
    isFirst = false;
  }
  yield Buffer.from(isFirst ? "]\n}" : "\n  ]\n}");
}

function* yamlPieces({ head, arrayName, views, value }: ListShape): Generator<Uint8Array> {
  const part = (isWanted: (name: string) => boolean): string => {
    const members = Object.entries(head).filter(([name]) => isWanted(name));
    return members.length === 0 ? "" : printYaml(Object.fromEntries(members));
  };
  yield Buffer.from(`${part((name) => name < arrayName)}${arrayName}:`);
  let isFirst = true;
  for (const view of views) {
    yield Buffer.from(`${isFirst ? "\n" : ""}${printYaml([value(view)])}`);
    isFirst = false;
  }
  yield Buffer.from(`${isFirst ? " []\n" : ""}${part((name) => name > arrayName)}`);
}
