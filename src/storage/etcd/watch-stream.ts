import { setTimeout as sleep } from "node:timers/promises";
import { StoreError, type StoreEvent, type WatchBatch } from "../store.ts";
import type { EtcdClient } from "./client.ts";
import {
  decodeWatch,
  encodeWatchCreate,
  encodeWatchProgress,
  type KeyBytes,
  type WatchEvent,
  type WatchResponse,
} from "./messages.ts";
import { GrpcError, grpcStatus, type MessageStream } from "./transport.ts";

/** Keys to watch; a single key if `rangeEnd` is omitted. */
export interface WatchedRange {
  readonly key: KeyBytes;
  readonly rangeEnd?: KeyBytes;
  /** Omits `previous` from all events, for readers that know it already. */
  readonly withoutPrevious?: boolean;
}

const FIRST_PAUSE_MS = 25;
const LONGEST_PAUSE_MS = 1000;

/**
 * One watch that survives lost connections and members: it resumes after the last revision it delivered, so that its
 * reader sees every event once and in order. Each watch has its own HTTP/2 stream: flow control stops etcd from sending
 * to a reader that pauses, and a slow watch cannot delay the progress reports of another.
 */
export class WatchStream {
  readonly #client: EtcdClient;
  readonly #range: WatchedRange;
  readonly #signal: AbortSignal;
  readonly #aborted: Promise<undefined>;
  #stream: MessageStream | undefined;
  /** Everything up to this revision has been delivered. */
  #revision: number;

  constructor(client: EtcdClient, range: WatchedRange, revision: number, signal: AbortSignal) {
    this.#client = client;
    this.#range = range;
    this.#revision = revision;
    this.#signal = signal;
    this.#aborted = new Promise((resolve) =>
      signal.addEventListener("abort", () => resolve(undefined), { once: true }),
    );
  }

  /** Requests the progress from etcd. The response is an empty batch, sent after every earlier event. */
  requestProgress(): void {
    this.#stream?.write(encodeWatchProgress());
    this.#stream?.check();
  }

  /** The batches, to be read once. Throws StoreError "compacted" if events are missing; ends when aborted. */
  async *batches(): AsyncGenerator<WatchBatch> {
    const stop = () => this.#stream?.cancel();
    this.#signal.addEventListener("abort", stop);
    try {
      for (let pauseMs = FIRST_PAUSE_MS; !this.#signal.aborted; pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)) {
        const before = this.#revision;
        try {
          yield* this.#follow();
        } catch (error) {
          if (this.#signal.aborted) return;
          this.#requireTransient(error);
        }
        if (this.#revision > before) pauseMs = FIRST_PAUSE_MS;
        await sleep(pauseMs, undefined, { signal: this.#signal }).catch(() => undefined);
      }
    } finally {
      this.#signal.removeEventListener("abort", stop);
      this.#stream?.cancel();
    }
  }

  /** Reads one HTTP/2 stream until it breaks. */
  async *#follow(): AsyncGenerator<WatchBatch> {
    const opening = this.#client.openWatch();
    const stream = await Promise.race([opening, this.#aborted]);
    if (stream === undefined || this.#signal.aborted) {
      // The stream is no longer needed, however opening it ends.
      opening.then((late) => late.cancel()).catch(() => undefined);
      return;
    }
    this.#stream = stream;
    try {
      const { key, rangeEnd, withoutPrevious = false } = this.#range;
      const startRevision = this.#revision + 1;
      stream.write(encodeWatchCreate({ key, rangeEnd, startRevision, withPrevious: !withoutPrevious }));
      let fragments: WatchEvent[] = [];
      for await (const message of stream.messages) {
        const response = decodeWatch(message);
        if (response.canceled) throw cancellation(response);
        const events = fragments.length === 0 ? response.events : [...fragments, ...response.events];
        fragments = response.fragment ? events : [];
        if (response.created || response.fragment) continue;
        const batch = this.#advance(events, response.revision);
        if (batch !== undefined) yield batch;
      }
    } finally {
      this.#stream = undefined;
      stream.cancel();
    }
  }

  /**
   * Only a message without events is a progress report: the revision in the header of a message with events may be
   * ahead of events still to come.
   */
  #advance(received: readonly WatchEvent[], headerRevision: number): WatchBatch | undefined {
    const events: StoreEvent[] = [];
    for (const event of received) {
      // Never false for a correct etcd; a duplicate would corrupt every reader's state.
      if (event.entry.modRevision > this.#revision)
        events.push(toStoreEvent(event, this.#range.withoutPrevious ?? false));
    }
    const revision = events.at(-1)?.revision ?? (received.length === 0 ? headerRevision : 0);
    // After a change of members the new one may lag behind and report an older revision.
    if (revision <= this.#revision) return undefined;
    this.#revision = revision;
    return { events, revision };
  }

  #requireTransient(error: unknown): void {
    if (!(error instanceof GrpcError)) throw error;
    const permanent: readonly number[] = [
      grpcStatus.permissionDenied,
      grpcStatus.unauthenticated,
      grpcStatus.invalidArgument,
      grpcStatus.unimplemented,
    ];
    if (permanent.includes(error.code)) throw new StoreError("unavailable", error.message, { cause: error });
    if (error.message.includes("no leader")) this.#client.avoidCurrentMember();
  }
}

function cancellation(response: WatchResponse): Error {
  if (response.compactRevision > 0) {
    const message = `revisions before ${response.compactRevision} have been compacted`;
    return new StoreError("compacted", message, { revision: response.compactRevision });
  }
  const isRefusal = /permission denied|invalid auth|PermissionDenied/.test(response.cancelReason);
  const code = isRefusal ? grpcStatus.permissionDenied : grpcStatus.unavailable;
  return new GrpcError(code, `watch canceled: ${response.cancelReason}`);
}

function toStoreEvent(event: WatchEvent, withoutPrevious: boolean): StoreEvent {
  const { entry, previous, isDelete } = event;
  const isCreate = !isDelete && entry.createRevision === entry.modRevision;
  if (previous === undefined && !isCreate && !withoutPrevious) {
    // etcd omits the previous value if it has been compacted in the meantime.
    const message = `the value of ${entry.key} before revision ${entry.modRevision} has been compacted`;
    throw new StoreError("compacted", message, { revision: entry.modRevision });
  }
  return { revision: entry.modRevision, key: entry.key, entry: isDelete ? undefined : entry, previous };
}
