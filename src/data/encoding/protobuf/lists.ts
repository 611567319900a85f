import { setImmediate as nextTurn } from "node:timers/promises";
import type { JsonObject } from "../../../base/api/object.ts";
import type { ObjectView } from "../../../base/api/reply.ts";
import { WireWriter } from "../../../base/util/wire-writer.ts";
import type { Schema } from "../../schema/schema.ts";
import { CHUNK_BYTES, joinPieces } from "../chunks.ts";
import { ENVELOPE_END, envelopeHead, type TypeMeta } from "./envelope.ts";
import { encodeMessage } from "./message.ts";

/** A list to encode. */
export interface ProtobufList {
  readonly type: TypeMeta;
  /** The schema of the list. */
  readonly schema: Schema;
  readonly metadata: JsonObject;
  readonly views: Iterable<ObjectView>;
  /** Encodes an item with this schema. */
  readonly message: (view: ObjectView, schema: Schema) => Uint8Array;
}

/** Encodes a list: one buffer if it is not larger than `maxBytes`, otherwise a stream of chunks. */
export function writeProtobufList(list: ProtobufList, maxBytes: number): Uint8Array | AsyncIterable<Uint8Array> {
  const items: Uint8Array[] = [];
  const step = encodeItems(list, items);
  for (let size = 0; size <= maxBytes; ) {
    const next = step.next();
    if (next.done) return Buffer.concat([...piecesOf(list, items)]);
    size += next.value;
  }
  return continueWith(list, items, step);
}

// The head of a list contains its size, so nothing can be sent before everything is encoded.
async function* continueWith(
  list: ProtobufList,
  items: Uint8Array[],
  step: Generator<number>,
): AsyncGenerator<Uint8Array> {
  let size = 0;
  for (const added of step) {
    size += added;
    if (size < CHUNK_BYTES) continue;
    size = 0;
    await nextTurn();
  }
  for (const chunk of joinPieces(piecesOf(list, items))) {
    yield chunk;
    await nextTurn();
  }
}

/** Encodes one item after the other into `items`, and yields the size of each. */
function* encodeItems({ schema, views, message }: ProtobufList, items: Uint8Array[]): Generator<number> {
  const itemSchema = schema.properties?.get("items")?.items ?? {};
  for (const view of views) {
    const item = message(view, itemSchema);
    items.push(item);
    yield item.length;
  }
}

function* piecesOf({ type, schema, metadata }: ProtobufList, items: readonly Uint8Array[]): Generator<Uint8Array> {
  const itemsNumber = schema.properties?.get("items")?.proto?.number ?? 2;
  const metadataNumber = schema.properties?.get("metadata")?.proto?.number ?? 1;
  const head = encodeMessage(schema, { metadata });
  const itemHeads = items.map((item) => itemHead(itemsNumber, item.length));
  let size = head.length;
  for (const [index, item] of items.entries()) size += (itemHeads[index]?.length ?? 0) + item.length;
  yield envelopeHead(type, size);
  if (metadataNumber < itemsNumber) yield head;
  for (const [index, item] of items.entries()) {
    yield itemHeads[index] as Uint8Array;
    yield item;
  }
  if (metadataNumber > itemsNumber) yield head;
  yield ENVELOPE_END;
}

const scratch = new WireWriter();

function itemHead(number: number, size: number): Buffer {
  scratch.reset();
  scratch.uint32(size);
  scratch.tag(number, 2);
  return scratch.finish();
}
