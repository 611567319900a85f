import type { Sequence } from "../lib/sequence.ts";
import type { ConnectReply } from "./channel.ts";
import type { Column } from "./columns.ts";
import type { Json, KubeObject, ListMeta } from "./object.ts";
import type { Status } from "./status.ts";

/**
 * One object on its way out, in the version the caller asked for. Both forms are made at first need and kept, so that
 * an object which is read often is decoded and encoded once.
 */
export interface ObjectView {
  /** The decoded object, resourceVersion included. Shared: never change it. */
  readonly object: KubeObject;
  /** Compact JSON of `object`, without a line feed. */
  json(): Uint8Array;
  /** The same with a line feed, in a new buffer. Absent or undefined: it has to be put together from `json()`. */
  jsonLine?(): Uint8Array | undefined;
  /** Compact JSON as it stands among the items of a list: typed lists leave kind and apiVersion out of each item. */
  itemJson(): Uint8Array;
  /** The size of `itemJson()`. */
  itemSize(): number;
  /** Copies `itemJson()` to a buffer without making it first. Returns where it ends, or -1 if there may be no room. */
  writeItem(target: Uint8Array, at: number): number;
  /** What the view is made of: its size, and whether `json()` is cut from it as it is. Absent: no stored value. */
  readonly stored?: { readonly bytes: number; readonly isCopied: boolean };
  /** Room for encodings derived from this view, by a name that the encoder chooses. */
  readonly encodings: Map<string, Uint8Array>;
}

/** Objects in order. Long lists make a view when it is asked for. */
export type ViewList = Sequence<ObjectView>;

/** How a kind shows itself as a Table. Undefined columns: this kind cannot be shown so. */
export interface TableShape {
  readonly columns: readonly Column[];
  /** Order of the rows, where it differs from the order of the list. */
  readonly compare?: (a: KubeObject, b: KubeObject) => number;
  /** Remarks about a row, such as that the object has done its work. */
  readonly rowConditions?: (object: KubeObject) => Json[];
}

/** One event of a watch. ERROR carries a Status and ends the stream. */
export type WatchEvent =
  | { readonly type: "ADDED" | "MODIFIED" | "DELETED" | "BOOKMARK"; readonly view: ObjectView }
  | { readonly type: "ERROR"; readonly status: Status };

/** What a verb answers. `encoding/reply/reply.ts` is the only place that turns it into bytes. */
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
      /** Hears the sizes of events, in bytes, as they are sent. */
      readonly sent?: (sizes: readonly number[]) => void;
    }
  | { readonly type: "status"; readonly status: Status }
  /** A document that is negotiated like an object but is none: discovery lists, reviews. */
  | {
      readonly type: "document";
      readonly code: number;
      readonly value: Json;
      readonly headers?: Readonly<Record<string, string>>;
    }
  /** Bytes that are not negotiated: health, version, OpenAPI documents. */
  | {
      readonly type: "raw";
      readonly code: number;
      readonly headers: Readonly<Record<string, string>>;
      readonly body: Uint8Array | string;
    }
  /** What another thread has answered and encoded: it is passed on as it is. */
  | {
      readonly type: "encoded";
      readonly code: number;
      readonly headers: Readonly<Record<string, string | string[]>>;
      readonly body: Uint8Array | AsyncIterable<Uint8Array>;
    }
  /** Bytes that are sent as they come, for as long as they come: logs, answers of another server. */
  | {
      readonly type: "stream";
      readonly code: number;
      readonly headers: Readonly<Record<string, string | string[]>>;
      /**
       * Read only as fast as the client takes it. Its `return` is called when the client is gone; a source that may have
       * to wait for its next chunk ends by `call.signal`.
       */
      readonly body: AsyncIterable<Uint8Array>;
    };
