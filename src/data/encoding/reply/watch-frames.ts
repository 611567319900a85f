import { ApiError } from "../../../base/api/api-error.ts";
import type { RowWork } from "../../../base/api/columns.ts";
import type { TableShape, WatchEvent } from "../../../base/api/reply.ts";
import type { Status } from "../../../base/api/status.ts";
import { END, type Pollable, PollWaiter, pollableOf } from "../../../base/util/pollable.ts";
import type { Transform } from "../negotiation/negotiate.ts";
import type { SchemaOf } from "../protobuf/envelope.ts";
import { frameStatus, frameView } from "../protobuf/watch-frames.ts";
import { partialJson } from "./partial-metadata.ts";
import { type TableOptions, tableOfObject } from "./table.ts";

/** The form of a watch. */
export interface WatchForm {
  readonly transform?: Transform;
  /** Required if the transform is a Table. */
  readonly table?: { readonly shape: TableShape; readonly options: Omit<TableOptions, "now" | "omitsColumns"> };
  readonly now: () => number;
  /** Finds the protobuf schemas of kinds. If set, events are encoded as protobuf. */
  readonly schemaOf?: SchemaOf;
  /** Called with the sizes of events in bytes, as they are sent. */
  readonly sent?: (sizes: readonly number[]) => void;
}

type ObjectEvent = Exclude<WatchEvent, { readonly type: "ERROR" }>;

interface Framer {
  /** Framers with the same name produce the same bytes. Omitted if the bytes depend on the watcher or the time. */
  readonly name?: string;
  readonly object: (event: ObjectEvent) => Uint8Array;
  /** The same without caching. */
  readonly fresh?: (event: ObjectEvent) => Uint8Array;
  readonly error: (status: Status) => Uint8Array;
  /** Counts what making the frames has visited. Omitted if their cost depends on their size only. */
  readonly work?: RowWork;
}

type Batch = readonly WatchEvent[];

const NONE: readonly Uint8Array[] = [];
const NO_EVENTS: Batch = [];
/** After visiting so many values for the cells of Tables, others get a turn. */
const VISITS_PER_TURN = 50_000;

/** Frames of larger batches are not cached individually. */
const MAX_KEPT_FRAMES = 64;
/** Larger batches are sent in parts. */
const MAX_CHUNK_BYTES = 256 * 1024;

/**
 * Encodes watch events as JSON lines or protobuf messages, one batch at a time. An ApiError of the source becomes a
 * final ERROR event.
 */
export function frameEvents(
  batches: AsyncIterable<Batch>,
  form: WatchForm,
): AsyncIterableIterator<Uint8Array, undefined> {
  return new WatchFrames(batches, form);
}

/** Thousands of watchers pass every event through an instance, so it shares all it can with other instances. */
class WatchFrames implements AsyncIterableIterator<Uint8Array, undefined>, Pollable<Uint8Array> {
  readonly #source: Pollable<Batch>;
  readonly #framer: Framer;
  readonly #isOfLists: boolean;
  readonly #sent: WatchForm["sent"];
  #waiter: PollWaiter<Uint8Array> | undefined;
  /** Chunks of the last batch, and the number of those already returned. */
  #chunks: readonly Uint8Array[] = NONE;
  #given = 0;
  /** Events of the last batch that are not encoded yet. */
  #rest: Batch = NO_EVENTS;
  /** Others get a turn before the rest is encoded. */
  #isResting = false;
  #wake: (() => void) | undefined;
  #isOver = false;

  constructor(batches: AsyncIterable<Batch>, form: WatchForm) {
    this.#source = pollableOf(batches);
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
    if (this.#isResting) return undefined;
    if (this.#isOver && this.#rest.length === 0) return END;
    try {
      return this.#read();
    } catch (error) {
      this.#isOver = true;
      if (!(error instanceof ApiError)) throw error;
      return this.#framer.error(error.status);
    }
  }

  onReady(wake: () => void): void {
    this.#wake = wake;
    this.#source.onReady(wake);
  }

  stop(): void {
    this.#isOver = true;
    this.#chunks = NONE;
    this.#rest = NO_EVENTS;
    this.#source.stop();
  }

  #read(): Uint8Array | undefined | typeof END {
    for (;;) {
      const batch = this.#rest.length > 0 ? this.#rest : this.#source.poll();
      if (batch === undefined) return undefined;
      // Compat: a watch with as=PartialObjectMetadataList is accepted, and ends at its first event.
      if (batch === END || this.#isOfLists) {
        this.stop();
        return END;
      }
      if (batch[batch.length - 1]?.type === "ERROR") this.stop();
      const { chunks, sizes } = frameBatch(batch, this.#framer);
      this.#rest = sizes.length < batch.length ? batch.slice(sizes.length) : NO_EVENTS;
      if (this.#rest.length > 0) this.#giveWay();
      this.#chunks = chunks;
      this.#sent?.(sizes);
      this.#given = 0;
      const [chunk] = this.#chunks;
      if (chunk !== undefined) return this.#give(chunk);
    }
  }

  #giveWay(): void {
    this.#isResting = true;
    setImmediate(() => {
      this.#isResting = false;
      this.#wake?.();
    });
  }

  #give(chunk: Uint8Array): Uint8Array {
    this.#given++;
    if (this.#given === this.#chunks.length) this.#chunks = NONE;
    return chunk;
  }
}

/** An encoded batch in as few chunks as possible, and the size of each event. */
interface FramedBatch {
  readonly chunks: readonly Uint8Array[];
  readonly sizes: readonly number[];
}

/** Encoded batches for several watchers, by framer name. */
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
  // A batch this large is the initial state rather than changes, so other watchers do not need its frames.
  const frame = batch.length > MAX_KEPT_FRAMES ? (framer.fresh ?? framer.object) : framer.object;
  const chunks: Uint8Array[] = [];
  const sizes: number[] = [];
  let held: Uint8Array[] = [];
  let size = 0;
  const visited = framer.work?.visits ?? 0;
  for (const event of batch) {
    if (framer.work !== undefined && framer.work.visits - visited > VISITS_PER_TURN) break;
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
    const work: RowWork = { visits: 0 };
    return { ...tableFrames(table, form.now, work), error: frameError, work };
  }
  const { version } = transform;
  const name = `partial/${version}`;
  const fresh = ({ type, view }: ObjectEvent) => joinFrame(type, partialJson(view, version));
  return { name, object: (event) => cachedFrame(event, name, fresh), error: frameError };
}

/** Frames do not depend on the watcher, so the first watcher creates it for all. */
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

/** In which second the cached frames of tables were made. */
const tableSeconds = new WeakMap<Uint8Array, number>();

const INITIAL_EVENTS_END = "k8s.io/initial-events-end";

// Ages in cells change with time, so frames are shared for a second, and batches are not shared.
function tableFrames(
  { shape, options }: NonNullable<WatchForm["table"]>,
  clock: () => number,
  work: RowWork,
): Pick<Framer, "object" | "fresh"> {
  let omitsColumns = false;
  const frame = ({ type, view: { object } }: ObjectEvent, now: number) => {
    const { version, includeObject } = options;
    // Compat: the bookmark with `k8s.io/initial-events-end` shows its metadata even with includeObject=None.
    const isMarker = type === "BOOKMARK" && object.metadata.annotations?.[INITIAL_EVENTS_END] === "true";
    const shown = isMarker && includeObject === "None" ? "Metadata" : includeObject;
    const value = tableOfObject(shape, object, { version, includeObject: shown, now, omitsColumns, work });
    return Buffer.from(`{"type":"${type}","object":${JSON.stringify(value)}}\n`);
  };
  const fresh = (event: ObjectEvent) => frame(event, clock());
  const shared = (event: ObjectEvent) => {
    const second = Math.floor(clock() / 1000);
    const key = `watch/${event.type}/table/${options.version}/${options.includeObject}/${omitsColumns}`;
    const { encodings } = event.view;
    const known = encodings.get(key);
    if (known !== undefined && tableSeconds.get(known) === second) return known;
    const made = fresh(event);
    tableSeconds.set(made, second);
    encodings.set(key, made);
    return made;
  };
  const noting = (make: Framer["object"]) => (event: ObjectEvent) => {
    const bytes = make(event);
    omitsColumns = true;
    return bytes;
  };
  return { object: noting(shared), fresh: noting(fresh) };
}

function frameError(status: Status): Buffer {
  return Buffer.from(`{"type":"ERROR","object":${JSON.stringify(status)}}\n`);
}
