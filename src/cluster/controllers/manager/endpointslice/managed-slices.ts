import type { EndpointSlice } from "../../../../kinds/types/endpoint-slice.ts";
import { isNamespaceTerminating } from "../../shared/controller.ts";
import type { Index, Informer, Observer } from "../../shared/informer.ts";
import { type Queue, type Source, source } from "../../shared/loop.ts";
import type { ManagerContext } from "../../shared/manager-context.ts";

/** Label of an EndpointSlice with the name of its Service. */
export const SERVICE_NAME = "kubernetes.io/service-name";
/** Label of an EndpointSlice with the name of the controller that writes it. */
export const MANAGED_BY = "endpointslice.kubernetes.io/managed-by";
/** Label of the endpoints of a Service without an address. */
export const HEADLESS = "service.kubernetes.io/headless";

/** What to do with the slices of a Service. */
export interface SliceChanges {
  readonly create: EndpointSlice[];
  readonly update: EndpointSlice[];
  readonly delete: EndpointSlice[];
}

/** The EndpointSlices that a controller writes. Recognizes changes that it did not make itself. */
export class ManagedSlices {
  readonly informer: Informer<EndpointSlice>;
  readonly source: Source;
  readonly #client: ManagerContext["client"];
  readonly #manager: string;
  readonly #delayMs: number;
  readonly #byService: Index<EndpointSlice>;
  /** The last written generation by uid. */
  readonly #written = new Map<string, number>();
  /** Uids of slices that it deletes. */
  readonly #deleting = new Set<string>();
  /** Changes that came while the controller was writing slices of a Service, by its key. */
  readonly #pending = new Map<string, [before: EndpointSlice | undefined, after: EndpointSlice | undefined][]>();

  /** `delayMs`: how long after a foreign change the Service is synced. */
  constructor({ informers, client }: ManagerContext, manager: string, delayMs: number) {
    this.informer = informers.of<EndpointSlice>("discovery.k8s.io", "endpointslices").informer;
    this.#client = client;
    this.#manager = manager;
    this.#delayMs = delayMs;
    this.#byService = this.informer.index((slice) => (this.#isManaged(slice) ? [serviceKey(slice)] : []));
    this.source = source(this.informer, (queue) => this.#observer(queue));
  }

  /** The slices of a Service. */
  of(key: string): EndpointSlice[] {
    return [...this.#byService.get(key)];
  }

  /** Lets a sync of a Service write. Foreign changes during the sync are queued after it. */
  async during(key: string, queue: Queue, work: () => Promise<void>): Promise<void> {
    const pending: [EndpointSlice | undefined, EndpointSlice | undefined][] = [];
    this.#pending.set(key, pending);
    try {
      await work();
    } finally {
      this.#pending.delete(key);
      for (const [before, after] of pending) this.#consider(queue, before, after);
    }
  }

  /** Writes all changes. Stops without an error if the Namespace is being deleted. `what` names the owner in errors. */
  async write({ create, update, delete: surplus }: SliceChanges, what: string): Promise<void> {
    for (const slice of create) {
      try {
        await this.#wrote(await this.#client.create(this.informer.resource, slice));
      } catch (error) {
        if (isNamespaceTerminating(error)) return;
        throw failure(`failed to create EndpointSlice for ${what}`, error);
      }
    }
    for (const slice of update) {
      try {
        await this.#wrote(await this.#client.update(this.informer.resource, slice));
      } catch (error) {
        throw failure(`failed to update ${slice.metadata.name} EndpointSlice for ${what}`, error);
      }
    }
    for (const slice of surplus) {
      try {
        await this.delete(slice);
      } catch (error) {
        throw failure(`failed to delete ${slice.metadata.name} EndpointSlice for ${what}`, error);
      }
    }
  }

  async delete(slice: EndpointSlice): Promise<void> {
    const { namespace = "", name = "", uid = "" } = slice.metadata;
    this.#deleting.add(uid);
    try {
      await this.#client.delete(this.informer.resource, { namespace, name });
      await this.informer.changes(slice);
    } finally {
      this.#deleting.delete(uid);
    }
  }

  async #wrote({ metadata: { uid = "", generation = 0, resourceVersion } }: Pick<EndpointSlice, "metadata">) {
    this.#written.set(uid, generation);
    await this.informer.sees(resourceVersion);
  }

  #isManaged({ metadata }: EndpointSlice): boolean {
    return metadata.labels?.[MANAGED_BY] === this.#manager;
  }

  #observer(queue: Queue): Observer<EndpointSlice> {
    return (before, after) => {
      const slice = after ?? before;
      const pending = slice && this.#pending.get(serviceKey(slice));
      if (pending) pending.push([before, after]);
      else this.#consider(queue, before, after);
    };
  }

  #consider(queue: Queue, before: EndpointSlice | undefined, after: EndpointSlice | undefined): void {
    const add = (slice: EndpointSlice) => {
      if (slice.metadata.labels?.[SERVICE_NAME]) queue.addAfter(serviceKey(slice), this.#delayMs);
    };
    if (after === undefined) {
      const { uid = "" } = before?.metadata ?? {};
      this.#written.delete(uid);
      if (before && this.#isManaged(before) && !this.#deleting.has(uid)) add(before);
    } else if (before && serviceKey(before) !== serviceKey(after)) {
      add(before);
      add(after);
    } else if (before && this.#isManaged(before) !== this.#isManaged(after)) add(after);
    else if (this.#isManaged(after) && this.#isForeign(after)) add(after);
  }

  #isForeign({ metadata: { uid = "", generation } }: EndpointSlice): boolean {
    return this.#written.get(uid) !== generation;
  }
}

/** `namespace/name` of the Service of a slice. */
function serviceKey({ metadata }: EndpointSlice): string {
  return `${metadata.namespace}/${metadata.labels?.[SERVICE_NAME] ?? ""}`;
}

function failure(what: string, error: unknown): Error {
  const text = error instanceof Error ? error.message : String(error);
  return new Error(`${what}: ${text}`, { cause: error });
}
