import type { JsonObject, KubeObject } from "../api/object.ts";
import type { ServedResource } from "./model/catalog.ts";
import type { ObjectKey } from "./model/keys.ts";

/** What every write may be told. */
export interface ClientWriteOptions {
  /** Who owns the written fields; absent: the program that the client says it is. */
  readonly fieldManager?: string;
  /** Absent: the object itself. */
  readonly subresource?: string;
}

/** The DeleteOptions that the server's own loops need. */
export interface ClientDeleteOptions {
  readonly propagationPolicy?: "Background" | "Foreground" | "Orphan";
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string };
}

/**
 * Writes objects as a client of the API does: whatever stands between a request and the store sees the write, and the user
 * that the client acts as. All methods throw ApiError. What they are given is given away; what they answer is shared and
 * must not be changed. Namespace and name are those of the object's metadata.
 */
export interface ObjectClient {
  create(resource: ServedResource, object: KubeObject, options?: ClientWriteOptions): Promise<KubeObject>;
  /** Replaces an object. Throws Conflict when it no longer has the given uid or resourceVersion. */
  update(resource: ServedResource, object: KubeObject, options?: ClientWriteOptions): Promise<KubeObject>;
  /** Changes an object by a JSON merge patch; a resourceVersion in its metadata is a precondition. */
  patch(resource: ServedResource, key: ObjectKey, patch: JsonObject): Promise<KubeObject>;
  /** Server-side apply with force. */
  apply(
    resource: ServedResource,
    object: KubeObject,
    options: ClientWriteOptions & { readonly fieldManager: string },
  ): Promise<KubeObject>;
  delete(resource: ServedResource, key: ObjectKey, options?: ClientDeleteOptions): Promise<void>;
}
