import type { ResourceName } from "../../api/api-error.ts";
import type { KubeObject } from "../../api/object.ts";
import type { ObjectView } from "../../api/reply.ts";
import type { Eventually } from "../../lib/eventually.ts";
import type { Entry, WriteResult } from "../../storage/store.ts";
import type { ResourceContext } from "../context.ts";
import type { ServedResource } from "../model/catalog.ts";
import { coerceStored, convertEventually, toCurrent } from "../model/conversion.ts";
import type { ResourceDefinition, WriteContext } from "../model/definition.ts";
import type { Draft } from "../model/draft.ts";
import type { ObjectKey } from "../model/keys.ts";
import { type StoreOperation, translateStoreError } from "../model/store-errors.ts";
import { showEntry } from "../read/converted-views.ts";
import type { WriteOptions } from "./write-options.ts";

/** What came of one attempt at a write: the result, or what somebody else has written in the meantime. */
export type Attempt<T> = T | { current: Entry | undefined };

/** The entries that the store has of one kind, with errors of the store in the words of the API. */
export class KindEntries {
  readonly definition: ResourceDefinition;
  readonly context: ResourceContext;

  constructor(definition: ResourceDefinition, context: ResourceContext) {
    this.definition = definition;
    this.context = context;
  }

  /** What errors call the kind. */
  get resourceName(): ResourceName {
    const { group, plural } = this.definition;
    return { group, resource: plural };
  }

  /** Where an object lies in the store. */
  keyOf({ metadata }: KubeObject): string {
    return this.key({ namespace: metadata.namespace ?? "", name: metadata.name ?? "" });
  }

  /** Where the object of a name lies in the store. */
  key(key: ObjectKey): string {
    return this.context.keys.key(this.definition, key);
  }

  /** `minRevision` 0 accepts any state; absent means the newest. A failure is told as one of `operation`. */
  async read(key: string, operation: StoreOperation["operation"], minRevision?: number): Promise<Entry | undefined> {
    try {
      return await this.context.store.get(key, { minRevision });
    } catch (error) {
      throw translateStoreError(error, { target: this.resourceName, operation, revision: minRevision });
    }
  }

  /** The object of an entry, as a write begins with it. The caller owns it. */
  decode(entry: Entry): Eventually<KubeObject> {
    return toCurrent(this.definition, this.context.codec.read(entry));
  }

  /**
   * The same in the version of a request, in which custom resources are written. Compat: each version has a
   * `customResourceStrategy` of its own, which prepares, validates and admits.
   */
  decodeAs(entry: Entry, { apiVersion }: ServedResource): Eventually<KubeObject> {
    const { definition, context } = this;
    return convertEventually(definition, coerceStored(definition, context.codec.read(entry)), apiVersion);
  }

  /** Writes unless the entry has another revision than `expected`; 0: it must not be there. */
  async put(
    key: string,
    value: Uint8Array,
    expected: number,
    operation: "create" | "update" | "delete",
  ): Promise<WriteResult> {
    try {
      return await this.context.store.put(key, value, expected, { ttlSeconds: this.definition.rules.ttlSeconds });
    } catch (error) {
      throw translateStoreError(error, { target: this.resourceName, operation });
    }
  }

  /** Removes unless the entry has changed. */
  async remove(entry: Entry): Promise<WriteResult> {
    try {
      return await this.context.store.delete(entry.key, entry.modRevision);
    } catch (error) {
      throw translateStoreError(error, { target: this.resourceName, operation: "delete" });
    }
  }

  /** Shows what has just been written. */
  view(
    resource: ServedResource,
    written: { readonly key: string; readonly value: Uint8Array; readonly createRevision: number },
    modRevision: number,
  ): Eventually<ObjectView> {
    const { key, value, createRevision } = written;
    return showEntry(this.context, resource, { key, value, createRevision, modRevision });
  }

  /** What hooks are told about a write. */
  writeContext(
    { apiVersion }: ServedResource,
    draft: Draft,
    { user, subresource = "" }: WriteOptions & { readonly subresource?: string },
  ): WriteContext {
    const { clock, features } = this.context;
    return { subresource, apiVersion, user, now: clock.now(), features, draft };
  }
}
