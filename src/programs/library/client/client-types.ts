import type { MetaInput, StoredMeta } from "../kind-types.ts";
import type { User } from "./user.ts";

/** An object that the server returned. */
export interface Stored {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: StoredMeta;
}

/** The name of an object, or its name and namespace. `metadata` of an object is one. */
export type ObjectKey = string | { readonly name: string; readonly namespace?: string };

/** Options of a client. */
export interface ClientOptions {
  /** Whose permissions apply. Default: the administrator. */
  readonly user?: User;
  /** Where objects are whose namespace is not given otherwise. Default: `default`. */
  readonly namespace?: string;
  /** Owner of the fields that the client writes. Default: `binnacle-client`. */
  readonly fieldManager?: string;
}

/** Which objects to read. */
export interface SelectOptions {
  /** Default: the namespace of the client. */
  readonly namespace?: string;
  /** Reads the objects of all namespaces. */
  readonly allNamespaces?: boolean;
  /** Labels and their values, or a selector such as `tier in (a, b),!beta`. */
  readonly labelSelector?: string | Readonly<Record<string, string>>;
  /** Fields and their values, or a selector such as `metadata.name!=x`. */
  readonly fieldSelector?: string | Readonly<Record<string, string>>;
}

/** Options of a list. */
export interface ListOptions extends SelectOptions {
  /** Maximum number of objects. If more exist, the list has `continue`. */
  readonly limit?: number;
  /** `continue` of the previous page. */
  readonly continue?: string;
  /** Accepts a state that is this old. Default: the newest state. */
  readonly resourceVersion?: string;
}

/** A list, or a page of it. */
export interface KindList<Item> {
  readonly items: Item[];
  /** A watch from here continues the list. */
  readonly resourceVersion: string;
  /** Names the next page. Undefined on the last page. */
  readonly continue: string | undefined;
}

/** Options of a watch. */
export interface WatchOptions extends SelectOptions {
  /** Sends the changes after it. If omitted, all existing objects are sent first, as ADDED. */
  readonly resourceVersion?: string;
  /** Ends the watch. */
  readonly signal?: AbortSignal;
  /** The server ends the watch after this time. Default: 30 to 60 minutes. */
  readonly timeoutSeconds?: number;
  /** Also sends BOOKMARK events, whose resourceVersion is a later place to continue from. */
  readonly bookmarks?: boolean;
}

/** A change of an object. */
export type KindEvent<Item> =
  | { readonly type: "ADDED" | "MODIFIED" | "DELETED"; readonly object: Item }
  | { readonly type: "BOOKMARK"; readonly resourceVersion: string };

/** Options of a write. */
export interface WriteOptions {
  /** Validates and returns the object, but does not store it. */
  readonly dryRun?: boolean;
}

/** Options of an apply. */
export interface ApplyOptions extends WriteOptions {
  /** Takes over fields of other field managers instead of failing with a conflict. */
  readonly force?: boolean;
}

/** Options of a delete. */
export interface DeleteOptions extends WriteOptions {
  readonly propagationPolicy?: "Background" | "Foreground" | "Orphan";
  readonly gracePeriodSeconds?: number;
  /** Fails with a conflict if the object has changed. */
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string };
}

/** Members to change. `null` removes a member. Lists are replaced as a whole. */
export type MergePatch<T> = T extends readonly unknown[]
  ? T
  : T extends object
    ? { readonly [Name in keyof T]?: MergePatch<T[Name]> | null }
    : T;

/** A part of an object. Lists are complete. */
export type PartOf<T> = T extends readonly unknown[]
  ? T
  : T extends object
    ? { readonly [Name in keyof T]?: PartOf<T[Name]> }
    : T;

/** An operation of a JSON patch (RFC 6902). */
export type PatchOperation =
  | { readonly op: "add" | "replace" | "test"; readonly path: string; readonly value: unknown }
  | { readonly op: "remove"; readonly path: string }
  | { readonly op: "move" | "copy"; readonly path: string; readonly from: string };

/** The fields of an object that an apply owns. */
export type ApplyInput<Input> = PartOf<Omit<Input, "metadata">> & {
  readonly metadata: MetaInput & { readonly name: string };
};

/** The type of the status of objects. */
export type StatusIn<Item> = Item extends { status?: infer Status } ? NonNullable<Status> : Record<string, unknown>;

/** A change of an object in the cache of an informer. */
export type InformerChange<Item> =
  | { readonly type: "ADDED"; readonly object: Item }
  | { readonly type: "MODIFIED"; readonly object: Item; readonly previous: Item }
  | { readonly type: "DELETED"; readonly object: Item };

/**
 * A local copy of objects that a watch keeps up to date. It reconnects by itself, and lists again if the server no longer has the
 * changes that it missed. Its objects are shared: copy them before you change them.
 */
export interface Informer<Item> extends AsyncDisposable {
  /** Resolves when all existing objects are in the cache. Rejects if the informer is closed before. */
  synced(): Promise<void>;
  get(name: ObjectKey): Item | undefined;
  list(): Item[];
  /**
   * Calls the listener for every object in the cache, as ADDED, and then for every change, in order. Returns a function that
   * unsubscribes.
   */
  subscribe(listener: (change: InformerChange<Item>) => void): () => void;
  /** Ends the watch. The cache keeps its last state. */
  close(): Promise<void>;
}

/** Writes the status of objects. Other members of the object are not changed. */
export interface StatusClient<Item> {
  /** Replaces the status. Fails with a conflict if the object has changed since it was read. */
  update(object: Item, options?: WriteOptions): Promise<Item>;
  /** Changes some members of the status. */
  patch(name: ObjectKey, status: MergePatch<StatusIn<Item>>, options?: WriteOptions): Promise<Item>;
  /** Sets the members of the status that this client owns, by server-side apply. */
  apply(name: ObjectKey, status: PartOf<StatusIn<Item>>, options?: ApplyOptions): Promise<Item>;
}

/**
 * Reads and writes the objects of a kind as one user, without a socket. Authorization, admission and audit see its requests like
 * those of any other client. Methods throw ApiError: `code` 404 if there is no such object, 403 if the user may not do that, 409 on
 * a conflict, 422 if the object is invalid. Objects are copies.
 */
export interface KindClient<Item, Input> {
  get(name: ObjectKey): Promise<Item>;
  /** Like `get`, but undefined if there is no such object. */
  find(name: ObjectKey): Promise<Item | undefined>;
  /** All objects, or a page of them if `limit` is given. */
  list(options?: ListOptions): Promise<KindList<Item>>;
  /** All objects, read page by page. `limit` is the size of a page. Default: 500. */
  each(options?: Omit<ListOptions, "continue">): AsyncIterable<Item>;
  /** The changes of objects. Throws ApiError with code 410 if the server no longer has the changes after `resourceVersion`. */
  watch(options?: WatchOptions): AsyncIterable<KindEvent<Item>>;
  create(object: Input, options?: WriteOptions): Promise<Item>;
  /** Replaces an object. Fails with a conflict if it has changed since it was read. */
  update(object: Item, options?: WriteOptions): Promise<Item>;
  /** Server-side apply: creates the object, or sets the fields that this client owns. */
  apply(object: ApplyInput<Input>, options?: ApplyOptions): Promise<Item>;
  /** Changes some members, by a JSON merge patch, or by a JSON patch if it is a list of operations. */
  patch(name: ObjectKey, patch: MergePatch<Input> | readonly PatchOperation[], options?: WriteOptions): Promise<Item>;
  delete(name: ObjectKey, options?: DeleteOptions): Promise<void>;
  /** The status subresource. */
  readonly status: StatusClient<Item>;
  /** Starts a cache of objects. */
  informer(options?: SelectOptions): Informer<Item>;
}
