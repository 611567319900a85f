import type { KindReference, UntypedInput, UntypedObject } from "../kind-types.ts";
import type { ClientOptions, KindClient, Stored } from "./client-types.ts";
import type { Connection } from "./connection.ts";
import { type Background, InProcessClient } from "./kind-client.ts";
import { KindReconciler } from "./reconcile.ts";
import type { ReconcileFunction, ReconcileOptions, Reconciler } from "./reconcile-types.ts";

/** Clients and reconcilers of a server in this process. */
export interface InProcessAccess {
  /** A client of a kind that `defineKind` made, or of any other one. */
  client<Item extends Stored = UntypedObject, Input = UntypedInput>(
    kind: KindReference<Item, Input>,
    options?: ClientOptions,
  ): KindClient<Item, Input>;
  /** Calls a function for every object of a kind, and again when it changes. */
  reconcile<Item extends Stored = UntypedObject, Input = UntypedInput>(
    kind: KindReference<Item, Input>,
    reconcile: ReconcileFunction<Item>,
    options?: ReconcileOptions<Item>,
  ): Reconciler;
}

/** Access over a connection. `close` ends the informers and reconcilers that are still running. */
export class ConnectedAccess implements InProcessAccess {
  readonly #connection: Connection;
  readonly #running = new Set<Background>();

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  readonly client: InProcessAccess["client"] = (kind, options = {}) =>
    new InProcessClient(this.#connection, kind, options, (informer) => this.#track(informer));

  readonly reconcile: InProcessAccess["reconcile"] = (kind, reconcile, options = {}) => {
    const reconciler = new KindReconciler(this.#connection, this.client, kind, reconcile, options);
    this.#track(reconciler);
    return reconciler;
  };

  async close(): Promise<void> {
    await Promise.all([...this.#running].map((one) => one.close()));
  }

  #track(one: Background): void {
    this.#running.add(one);
    void one.ended.then(() => this.#running.delete(one));
  }
}
