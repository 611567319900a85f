import type { OwnerReference } from "../../../base/api/object.ts";
import type { KindReference, UntypedInput, UntypedObject } from "../kind-types.ts";
import type { ClientOptions, KindClient, SelectOptions, Stored } from "./client-types.ts";
import type { User } from "./user.ts";

/** What a reconcile function works with. */
export interface ReconcileContext {
  /** A client of any kind, as the user of the reconciler, in the namespace of the object unless another one is given. */
  client<Item extends Stored = UntypedObject, Input = UntypedInput>(
    kind: KindReference<Item, Input>,
    options?: Pick<ClientOptions, "namespace">,
  ): KindClient<Item, Input>;
  /** An owner reference to the object, for the objects that it owns. */
  readonly owner: OwnerReference;
  /** Aborts when the reconciler is closed. */
  readonly signal: AbortSignal;
}

/** What a reconcile function may return. */
export interface ReconcileResult {
  /** Calls the function again after this time, even if nothing changes. */
  readonly requeueAfterMs?: number;
}

/**
 * Makes the world match an object. It is called with the newest version after the object or an owned object has changed, so it must
 * cope with being called again. If it throws, it is called again later.
 */
export type ReconcileFunction<Item> = (
  object: Item,
  context: ReconcileContext,
  // biome-ignore lint/suspicious/noConfusingVoidType: most functions return nothing
) => Promise<ReconcileResult | void>;

/** Options of a reconciler. */
export interface ReconcileOptions<Item> {
  /** Whose permissions apply. Default: the administrator. */
  readonly user?: User;
  /** Only this namespace. Default: all namespaces. */
  readonly namespace?: string;
  /** Only objects with these labels. */
  readonly labelSelector?: SelectOptions["labelSelector"];
  /** Only objects with these fields. */
  readonly fieldSelector?: SelectOptions["fieldSelector"];
  /** Owner of the fields that the reconciler writes. Default: `binnacle-client`. */
  readonly fieldManager?: string;
  /** Kinds whose objects have an owner reference to an object of this kind. A change of theirs reconciles the owner. */
  readonly owns?: readonly KindReference<Stored, unknown>[];
  /**
   * Functions by the names of their finalizers, such as `shop.example/stock`. Each object gets the finalizers before it is
   * reconciled. When it is deleted, the functions are called instead, and the object disappears when all have succeeded.
   */
  readonly finalizers?: Readonly<Record<string, ReconcileFunction<Item>>>;
  /** How many objects are reconciled at the same time. The same object never is. Default: 1. */
  readonly concurrency?: number;
  /** Delay after the first failure. It doubles with each further failure of the same object. Default: 5. */
  readonly minBackoffMs?: number;
  /** Default: 60,000. */
  readonly maxBackoffMs?: number;
  /** Receives the errors of functions, with `namespace/name`. Default: they are logged. Conflicts are only retried. */
  readonly onError?: (error: unknown, key: string) => void;
}

/** How long to wait until a reconciler has nothing to do. */
export interface ReconcilerSettleOptions {
  /** Rejects after this real time. Default: 10,000. */
  readonly withinMs?: number;
}

/** A running reconciler. */
export interface Reconciler extends AsyncDisposable {
  /**
   * Resolves when every change so far is reconciled. An object that waits for a retry is not; one that waits for `requeueAfterMs`
   * is. For tests.
   */
  settled(options?: ReconcilerSettleOptions): Promise<void>;
  /** Starts no more work, and resolves when the running functions have ended. */
  close(): Promise<void>;
}
