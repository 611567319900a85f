import { notFound } from "../../base/api/api-error.ts";
import type { ObjectView } from "../../base/api/reply.ts";
import { type Eventually, proceed } from "../../base/util/eventually.ts";
import type { ResourceContext } from "../context.ts";
import type { ServedResource } from "../model/catalog.ts";
import type { ResourceDefinition } from "../model/definition.ts";
import type { Draft } from "../model/draft.ts";
import type { ObjectKey } from "../model/keys.ts";
import type { DeletionRequest, Preconditions } from "../model/write-request.ts";
import { showEntry } from "../read/converted-views.ts";
import { createObject } from "./create-object.ts";
import { deleteObject } from "./delete-object.ts";
import { KindEntries } from "./kind-entries.ts";
import { updateObject } from "./update-object.ts";
import type { Change, UpdateOptions, WriteOptions } from "./write-options.ts";

/** All objects of a kind, with the rules of Kubernetes. Each call names the served version it uses. */
export class Collection {
  readonly definition: ResourceDefinition;
  readonly #entries: KindEntries;

  constructor(definition: ResourceDefinition, context: ResourceContext) {
    this.definition = definition;
    this.#entries = new KindEntries(definition, context);
  }

  /**
   * Reads an object. Throws NotFound. `minRevision` 0 accepts any state. Optional. If omitted, the latest state is
   * read.
   */
  get(resource: ServedResource, key: ObjectKey, minRevision?: number): Eventually<ObjectView> {
    const entries = this.#entries;
    return proceed(entries.read(entries.key(key), "get", minRevision), (entry) => {
      if (!entry) throw notFound(entries.resourceName, key.name);
      return showEntry(entries.context, resource, entry);
    });
  }

  /** Creates an object. Throws AlreadyExists and Invalid. */
  create(resource: ServedResource, draft: Draft, options: WriteOptions): Promise<ObjectView> {
    return createObject(this.#entries, resource, draft, options);
  }

  /** Updates an object, or creates it if that is allowed. Throws NotFound, Conflict and Invalid. */
  update(
    resource: ServedResource,
    key: ObjectKey,
    change: Change,
    options: UpdateOptions,
  ): Promise<{ view: ObjectView; created: boolean }> {
    return updateObject(this.#entries, resource, key, change, options);
  }

  /**
   * Deletes an object, or marks it. `removed` is false while something blocks its removal. Throws NotFound and
   * Conflict.
   */
  delete(
    resource: ServedResource,
    key: ObjectKey,
    request: DeletionRequest & { readonly preconditions?: Preconditions },
    options: WriteOptions,
  ): Promise<{ view: ObjectView; removed: boolean }> {
    return deleteObject(this.#entries, resource, key, request, options);
  }
}
