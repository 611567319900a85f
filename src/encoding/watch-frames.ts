import { ApiError } from "../api/api-error.ts";
import type { ObjectView, TableShape, WatchEvent } from "../api/reply.ts";
import type { Status } from "../api/status.ts";
import type { Transform } from "./negotiate.ts";
import { partialJson } from "./partial-metadata.ts";
import type { SchemaOf } from "./protobuf/envelope.ts";
import { frameStatus, frameView } from "./protobuf/watch-frames.ts";
import { type TableOptions, tableOfObject } from "./table.ts";

/** How the objects of a watch are shown. */
export interface WatchForm {
  readonly transform?: Transform;
  /** Needed where the transform is a Table. */
  readonly table?: { readonly shape: TableShape; readonly options: Omit<TableOptions, "now" | "omitsColumns"> };
  readonly now: () => number;
  /** Finds the messages of kinds. Present: events are wanted as protobuf. */
  readonly schemaOf?: SchemaOf;
}

type ObjectEvent = Exclude<WatchEvent, { readonly type: "ERROR" }>;

interface Framer {
  readonly object: (event: ObjectEvent) => Uint8Array;
  readonly error: (status: Status) => Uint8Array;
}

/** Batches larger than this are handed on in parts. */
const MAX_CHUNK_BYTES = 256 * 1024;

/**
 * The events of a watch as lines of JSON, or as messages, a batch at a time. A refusal that the source throws becomes
 * the last event, an ERROR.
 */
export async function* frameEvents(
  batches: AsyncIterable<readonly WatchEvent[]>,
  form: WatchForm,
): AsyncGenerator<Uint8Array> {
  const framer = framerOf(form);
  try {
    for await (const batch of batches) {
      // Compat: a watch of lists is accepted, and ends at its first event.
      if (form.transform?.kind === "PartialObjectMetadataList") return;
      yield* frameBatch(batch, framer);
      if (batch.at(-1)?.type === "ERROR") return;
    }
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    yield framer.error(error.status);
  }
}

function* frameBatch(batch: readonly WatchEvent[], framer: Framer): Generator<Uint8Array> {
  const first = batch[0];
  if (batch.length === 1 && first !== undefined) {
    yield first.type === "ERROR" ? framer.error(first.status) : framer.object(first);
    return;
  }
  let held: Uint8Array[] = [];
  let size = 0;
  for (const event of batch) {
    const bytes = event.type === "ERROR" ? framer.error(event.status) : framer.object(event);
    held.push(bytes);
    size += bytes.length;
    if (size < MAX_CHUNK_BYTES) continue;
    yield Buffer.concat(held, size);
    held = [];
    size = 0;
  }
  if (size > 0) yield Buffer.concat(held, size);
}

function framerOf(form: WatchForm): Framer {
  const { schemaOf, transform } = form;
  if (schemaOf === undefined) return { object: jsonFramer(form), error: frameError };
  return {
    object: ({ type, view }) => frameView(type, view, schemaOf, transform?.version),
    error: (status) => frameStatus(status, schemaOf),
  };
}

function jsonFramer(form: WatchForm): Framer["object"] {
  const { transform, table } = form;
  if (transform === undefined) return ({ type, view }) => cachedFrame(type, view, "json", () => view.json());
  if (table === undefined || transform.kind !== "Table") {
    const { version } = transform;
    return ({ type, view }) => cachedFrame(type, view, `partial/${version}`, () => partialJson(view, version));
  }
  return tableFramer(table, form.now);
}

/** Frames do not depend on who watches, so the first watcher makes it for all. */
function cachedFrame(type: string, view: ObjectView, name: string, json: () => Uint8Array): Uint8Array {
  const key = `watch/${type}/${name}`;
  let frame = view.encodings.get(key);
  if (frame === undefined) {
    frame = joinFrame(type, json());
    view.encodings.set(key, frame);
  }
  return frame;
}

const FRAME_END = Buffer.from("}\n");

function joinFrame(type: string, json: Uint8Array): Buffer {
  return Buffer.concat([Buffer.from(`{"type":"${type}","object":`), json, FRAME_END]);
}

const INITIAL_EVENTS_END = "k8s.io/initial-events-end";

// Ages in cells change with time, so tables are not kept.
function tableFramer(table: NonNullable<WatchForm["table"]>, now: () => number): Framer["object"] {
  let isFirst = true;
  return ({ type, view }) => {
    const { object } = view;
    // Compat: the bookmark that ends the initial events shows its metadata even to those who asked for none.
    const isMarker = type === "BOOKMARK" && object.metadata.annotations?.[INITIAL_EVENTS_END] === "true";
    const value = tableOfObject(table.shape, object, {
      version: table.options.version,
      includeObject: isMarker && table.options.includeObject === "None" ? "Metadata" : table.options.includeObject,
      now: now(),
      omitsColumns: !isFirst,
    });
    isFirst = false;
    return Buffer.from(`{"type":"${type}","object":${JSON.stringify(value)}}\n`);
  };
}

function frameError(status: Status): Buffer {
  return Buffer.from(`{"type":"ERROR","object":${JSON.stringify(status)}}\n`);
}
