import { ApiError } from "../../api/api-error.ts";
import type { TableShape, WatchEvent } from "../../api/reply.ts";
import type { Status } from "../../api/status.ts";
import { END, isPollable, type Pollable, PolledIterator, PollWaiter } from "../../lib/pollable.ts";
import type { Transform } from "../negotiation/negotiate.ts";
import type { SchemaOf } from "../protobuf/envelope.ts";
import { frameStatus, frameView } from "../protobuf/watch-frames.ts";
import { partialJson } from "./partial-metadata.ts";
import { type TableOptions, tableOfObject } from "./table.ts";

/** How the objects of a watch are shown. */
export interface WatchForm {
  readonly transform?: Transform;
  /** Needed where the transform is a Table. */
  readonly table?: { readonly shape: TableShape; readonly options: Omit<TableOptions, "now" | "omitsColumns"> };
  readonly now: () => number;
  /** Finds the messages of kinds. Present: events are wanted as protobuf. */
  readonly schemaOf?: SchemaOf;
  /** Hears the sizes of events, in bytes, as they are handed on. */
  readonly sent?: (sizes: readonly number[]) => void;
}

type ObjectEvent = Exclude<WatchEvent, { readonly type: "ERROR" }>;

interface Framer {
  /** Framers of the same name make the same of an event. Absent: what this one makes depends on who watches, or when. */
  readonly name?: string;
  readonly object: (event: ObjectEvent) => Uint8Array;
  /** The same without keeping it for others. */
  readonly fresh?: (event: ObjectEvent) => Uint8Array;
  readonly error: (status: Status) => Uint8Array;
}

type Batch = readonly WatchEvent[];

const NONE: readonly Uint8Array[] = [];

/** Of larger batches the frames are not kept one by one. */
const MAX_KEPT_FRAMES = 64;
/** Batches larger than this are handed on in parts. */
const MAX_CHUNK_BYTES = 256 * 1024;

/**
 * The events of a watch as lines of JSON, or as messages, a batch at a time. A refusal that the source throws becomes
 * the last event, an ERROR.
 */
export function frameEvents(
  batches: AsyncIterable<Batch>,
  form: WatchForm,
): AsyncIterableIterator<Uint8Array, undefined> {
  return new WatchFrames(batches, form);
}

/** Thousands of watchers pass every event through one of these, so it makes nothing that several can share. */
class WatchFrames implements AsyncIterableIterator<Uint8Array, undefined>, Pollable<Uint8Array> {
  readonly #source: Pollable<Batch>;
  readonly #framer: Framer;
  readonly #isOfLists: boolean;
  readonly #sent: WatchForm["sent"];
  #waiter: PollWaiter<Uint8Array> | undefined;
  /** Chunks of the last batch, and how many of them have been given out. */
  #chunks: readonly Uint8Array[] = NONE;
  #given = 0;
  #isOver = false;

  constructor(batches: AsyncIterable<Batch>, form: WatchForm) {
    this.#source = isPollable(batches) ? batches : new PolledIterator(batches[Symbol.asyncIterator]());
    this.#framer = framerOf(form);
    this.#isOfLists = form.transform?.kind === "PartialObjectMetadataList";
    this.#sent = form.sent;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<IteratorResult<Uint8Array, undefined>> {
    this.#waiter ??= new PollWaiter(this);
    return this.#waiter.next();
  }

  async return(): Promise<IteratorResult<Uint8Array, undefined>> {
    this.stop();
    return { done: true, value: undefined };
  }

  poll(): Uint8Array | undefined | typeof END {
    const chunk = this.#chunks[this.#given];
    if (chunk !== undefined) return this.#give(chunk);
    if (this.#isOver) return END;
    try {
      return this.#read();
    } catch (error) {
      this.#isOver = true;
      if (!(error instanceof ApiError)) throw error;
      return this.#framer.error(error.status);
    }
  }

  onReady(wake: () => void): void {
    this.#source.onReady(wake);
  }

  stop(): void {
    this.#isOver = true;
    this.#chunks = NONE;
    this.#source.stop();
  }

  #read(): Uint8Array | undefined | typeof END {
    for (;;) {
      const batch = this.#source.poll();
      if (batch === undefined) return undefined;
      // Compat: a watch with as=PartialObjectMetadataList is accepted, and ends at its first event.
      if (batch === END || this.#isOfLists) {
        this.stop();
        return END;
      }
      if (batch[batch.length - 1]?.type === "ERROR") this.stop();
      const { chunks, sizes } = frameBatch(batch, this.#framer);
      this.#chunks = chunks;
      this.#sent?.(sizes);
      this.#given = 0;
      const [chunk] = this.#chunks;
      if (chunk !== undefined) return this.#give(chunk);
    }
  }

  #give(chunk: Uint8Array): Uint8Array {
    this.#given++;
    if (this.#given === this.#chunks.length) this.#chunks = NONE;
    return chunk;
  }
}

/** The events of a batch as bytes, in as few chunks as may be, and how long each event is. */
interface FramedBatch {
  readonly chunks: readonly Uint8Array[];
  readonly sizes: readonly number[];
}

/** What became of batches that several watchers see, by the names of their framers. */
const framed = new WeakMap<Batch, Map<string, FramedBatch>>();

function frameBatch(batch: Batch, framer: Framer): FramedBatch {
  const { name } = framer;
  if (name === undefined) return joinBatch(batch, framer);
  let known = framed.get(batch);
  if (known === undefined) {
    known = new Map();
    framed.set(batch, known);
  }
  let made = known.get(name);
  if (made === undefined) {
    made = joinBatch(batch, framer);
    known.set(name, made);
  }
  return made;
}

function joinBatch(batch: Batch, framer: Framer): FramedBatch {
  // So many at once are the present state rather than changes, and their frames are of use to nobody else.
  const frame = batch.length > MAX_KEPT_FRAMES ? (framer.fresh ?? framer.object) : framer.object;
  const chunks: Uint8Array[] = [];
  const sizes: number[] = [];
  let held: Uint8Array[] = [];
  let size = 0;
  for (const event of batch) {
    const bytes = event.type === "ERROR" ? framer.error(event.status) : frame(event);
    sizes.push(bytes.length);
    if (batch.length === 1) return { chunks: [bytes], sizes };
    held.push(bytes);
    size += bytes.length;
    if (size < MAX_CHUNK_BYTES) continue;
    chunks.push(Buffer.concat(held, size));
    held = [];
    size = 0;
  }
  if (size > 0) chunks.push(Buffer.concat(held, size));
  return { chunks, sizes };
}

function framerOf(form: WatchForm): Framer {
  const { schemaOf, transform, table } = form;
  if (schemaOf !== undefined) {
    return {
      name: `protobuf/${transform?.version ?? ""}`,
      object: ({ type, view }) => frameView(type, view, schemaOf, transform?.version),
      error: (status) => frameStatus(status, schemaOf),
    };
  }
  if (transform === undefined) {
    const fresh = ({ type, view }: ObjectEvent) => joinFrame(type, view.json());
    const object = (event: ObjectEvent) => cachedFrame(event, "json", fresh);
    return { name: "json", object, fresh, error: frameError };
  }
  if (table !== undefined && transform.kind === "Table") {
    return { object: tableFramer(table, form.now), error: frameError };
  }
  const { version } = transform;
  const name = `partial/${version}`;
  const fresh = ({ type, view }: ObjectEvent) => joinFrame(type, partialJson(view, version));
  return { name, object: (event) => cachedFrame(event, name, fresh), error: frameError };
}

/** Frames do not depend on who watches, so the first watcher makes it for all. */
function cachedFrame(event: ObjectEvent, name: string, make: (event: ObjectEvent) => Uint8Array): Uint8Array {
  const key = `watch/${event.type}/${name}`;
  const { encodings } = event.view;
  let frame = encodings.get(key);
  if (frame === undefined) {
    frame = make(event);
    encodings.set(key, frame);
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
    // Compat: the bookmark with `k8s.io/initial-events-end` shows its metadata even with includeObject=None.
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
