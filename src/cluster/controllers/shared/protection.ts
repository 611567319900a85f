import type { KubeObject } from "../../../base/api/object.ts";
import type { ObjectClient } from "../../../resources/object-client.ts";
import type { Informer } from "./informer.ts";

/** What `Protection` works with. */
export interface ProtectionOptions<T extends KubeObject> {
  readonly client: ObjectClient;
  readonly informer: Informer<T>;
  readonly finalizer: string;
}

/** Keeps a finalizer on objects of one kind until they are deleted and no longer in use. */
export class Protection<T extends KubeObject> {
  readonly #options: ProtectionOptions<T>;

  constructor(options: ProtectionOptions<T>) {
    this.#options = options;
  }

  /** Whether the object lacks the finalizer, or has it although it is being deleted. */
  concerns({ metadata }: T): boolean {
    const isProtected = metadata.finalizers?.includes(this.#options.finalizer) ?? false;
    return isProtected === (metadata.deletionTimestamp !== undefined);
  }

  /** Adds the finalizer, or removes it from a deleted object that is not in use. */
  async sync(object: T, isUsed: () => Promise<boolean> | boolean): Promise<void> {
    if (!this.concerns(object)) return;
    const { finalizer } = this.#options;
    const { finalizers = [], deletionTimestamp } = object.metadata;
    if (deletionTimestamp === undefined) return this.#write(object, [...finalizers, finalizer]);
    if (await isUsed()) return;
    await this.#write(
      object,
      finalizers.filter((one) => one !== finalizer),
    );
  }

  async #write(object: T, finalizers: string[]): Promise<void> {
    const { client, informer } = this.#options;
    const next = { ...object, metadata: { ...object.metadata, finalizers } };
    const written = await client.update(informer.resource, next);
    await informer.sees(written.metadata.resourceVersion);
  }
}
