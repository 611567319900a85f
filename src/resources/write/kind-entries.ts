import type { ResourceName } from "../../base/api/api-error.ts";
import type { KubeObject } from "../../base/api/object.ts";
import type { ObjectView } from "../../base/api/reply.ts";
import type { Eventually } from "../../base/util/eventually.ts";
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

/** The result of one attempt at a write, or the entry that a competing writer has stored in the meantime. */
export type Attempt<T> = T | { current: Entry | undefined };

/** The store entries of a kind. Store errors are converted to ApiErrors. */
export class KindEntries {
  readonly definition: ResourceDefinition;
  readonly context: ResourceContext;

  constructor(definition: ResourceDefinition, context: ResourceContext) {
    this.definition = definition;
    this.context = context;
  }

  /** The resource name in errors. */
  get resourceName(): ResourceName {
    const { group, plural } = this.definition;
    return { group, resource: plural };
  }

  /** The store key of an object. */
  keyOf({ metadata }: KubeObject): string {
    return this.key({ namespace: metadata.namespace ?? "", name: metadata.name ?? "" });
  }

  /** The store key for a namespace and name. */
  key(key: ObjectKey): string {
    return this.context.keys.key(this.definition, key);
  }

  /**
   * Reads an entry. `minRevision` 0 accepts any state; if omitted, the latest is read. `operation` is used in errors.
   */
  read(key: string, operation: StoreOperation["operation"], minRevision?: number): Eventually<Entry | undefined> {
    const fail = (error: unknown): never => {
      throw translateStoreError(error, { target: this.resourceName, operation, revision: minRevision });
    };
    try {
      const reading = this.context.store.get(key, minRevision === undefined ? undefined : { minRevision });
      return reading instanceof Promise ? reading.catch(fail) : reading;
    } catch (error) {
      return fail(error);
    }
  }

  /** Decodes the object that a write starts from. The caller owns it. */
  decode(entry: Entry): Eventually<KubeObject> {
    return toCurrent(this.definition, this.context.codec.read(entry));
  }

  /**
   * Decodes the object in the version of a request, in which custom resources are written. Compat: each version has its
   * own `customResourceStrategy`, which prepares, validates and admits.
   */
  decodeAs(entry: Entry, { apiVersion }: ServedResource): Eventually<KubeObject> {
    const { definition, context } = this;
    return convertEventually(definition, coerceStored(definition, context.codec.read(entry)), apiVersion);
  }

  /** Writes an entry if its revision is `expected`; 0: the entry must not exist. */
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

  /** Removes an entry unless it has changed. */
  async remove(entry: Entry): Promise<WriteResult> {
    try {
      return await this.context.store.delete(entry.key, entry.modRevision);
    } catch (error) {
      throw translateStoreError(error, { target: this.resourceName, operation: "delete" });
    }
  }

  /** Returns a view of the entry just written. */
  view(
    resource: ServedResource,
    written: { readonly key: string; readonly value: Uint8Array; readonly createRevision: number },
    modRevision: number,
  ): Eventually<ObjectView> {
    const { key, value, createRevision } = written;
    return showEntry(this.context, resource, { key, value, createRevision, modRevision });
  }

  /** The context of a write for hooks. */
  writeContext(
    { apiVersion }: ServedResource,
    draft: Draft,
    { user, subresource = "" }: WriteOptions & { readonly subresource?: string },
  ): WriteContext {
    const { clock, features } = this.context;
    return { subresource, apiVersion, user, now: clock.now(), features, draft };
  }
}
