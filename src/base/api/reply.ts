import type { Sequence } from "../util/sequence.ts";
import type { ConnectReply } from "./channel.ts";
import type { Column } from "./columns.ts";
import type { Json, KubeObject, ListMeta } from "./object.ts";
import type { Status } from "./status.ts";

/**
 * One object of a response, in the requested version. Both forms are created on first use and cached, so that an object
 * that is read often is decoded and encoded once.
 */
export interface ObjectView {
  /** The decoded object, including resourceVersion. Shared: do not modify. */
  readonly object: KubeObject;
  /** Compact JSON of `object`, without a line feed. */
  json(): Uint8Array;
  /** The same with a line feed, in a new buffer. Omitted or undefined: the caller has to append it to `json()`. */
  jsonLine?(): Uint8Array | undefined;
  /** Compact JSON as an item of a list: typed lists omit kind and apiVersion of each item. */
  itemJson(): Uint8Array;
  /** The size of `itemJson()`. */
  itemSize(): number;
  /**
   * Copies `itemJson()` to a buffer without creating it first. Returns its end, or -1 if there may not be enough room.
   */
  writeItem(target: Uint8Array, at: number): number;
  /**
   * The stored value of the view: its size, and whether `json()` is a slice of it. Omitted if there is no stored value.
   */
  readonly stored?: { readonly bytes: number; readonly isCopied: boolean };
  /** Cache of encodings derived from this view. The encoder chooses the keys. */
  readonly encodings: Map<string, Uint8Array>;
}

/** Objects in order. Long lists create their views on access. */
export type ViewList = Sequence<ObjectView>;

/** How a kind is printed as a Table. */
export interface TableShape {
  readonly columns: readonly Column[];
  /** Order of the rows, if it differs from the order of the list. */
  readonly compare?: (a: KubeObject, b: KubeObject) => number;
  /** Conditions of a row, such as that the object is completed. */
  readonly rowConditions?: (object: KubeObject) => Json[];
}

/** One watch event. ERROR carries a Status and ends the stream. */
export type WatchEvent =
  | { readonly type: "ADDED" | "MODIFIED" | "DELETED" | "BOOKMARK"; readonly view: ObjectView }
  | { readonly type: "ERROR"; readonly status: Status };

/** The response of a verb. Only `data/encoding/reply/reply.ts` encodes it. */
export type ApiReply =
  | ConnectReply
  | { readonly type: "object"; readonly code: number; readonly view: ObjectView; readonly table?: TableShape }
  | {
      readonly type: "list";
      readonly kind: string;
      readonly apiVersion: string;
      readonly metadata: ListMeta;
      readonly items: ViewList;
      readonly table?: TableShape;
    }
  | {
      readonly type: "watch";
      readonly events: AsyncIterable<readonly WatchEvent[]>;
      readonly table?: TableShape;
      /** Called with the sizes of events in bytes, as they are sent. */
      readonly sent?: (sizes: readonly number[]) => void;
    }
  | { readonly type: "status"; readonly status: Status }
  /** A document that is negotiated like an object but is not stored: discovery lists, reviews. */
  | {
      readonly type: "document";
      readonly code: number;
      readonly value: Json;
      readonly headers?: Readonly<Record<string, string>>;
    }
  /** Bytes without content negotiation: health, version, OpenAPI documents. */
  | {
      readonly type: "raw";
      readonly code: number;
      readonly headers: Readonly<Record<string, string>>;
      readonly body: Uint8Array | string;
    }
  /** A response that another thread has encoded. It is passed on unchanged. */
  | {
      readonly type: "encoded";
      readonly code: number;
      readonly headers: Readonly<Record<string, string | string[]>>;
      readonly body: Uint8Array | AsyncIterable<Uint8Array>;
    }
  /** A stream of bytes without a known end: logs, responses of another server. */
  | {
      readonly type: "stream";
      readonly code: number;
      readonly headers: Readonly<Record<string, string | string[]>>;
      /**
       * Read with backpressure. `return` is called when the client disconnects. A source that may wait for its next
       * chunk has to end on `call.signal`.
       */
      readonly body: AsyncIterable<Uint8Array>;
    };
