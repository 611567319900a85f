import type { JsonObject, KubeObject } from "../base/api/object.ts";
import type { ServedResource } from "./model/catalog.ts";
import type { ObjectKey } from "./model/keys.ts";

/** Options of all writes. */
export interface ClientWriteOptions {
  /** Field manager. Optional. If omitted, derived from the client's user agent. */
  readonly fieldManager?: string;
  /** Optional. If omitted, the object itself is written. */
  readonly subresource?: string;
}

/** Options of patches. */
export interface ClientPatchOptions {
  /** Applies a strategic merge patch. */
  readonly isStrategic?: boolean;
  /** Optional. If omitted, the object itself is written. */
  readonly subresource?: string;
}

/** The DeleteOptions that the server's own controllers need. */
export interface ClientDeleteOptions {
  readonly propagationPolicy?: "Background" | "Foreground" | "Orphan";
  readonly gracePeriodSeconds?: number;
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string };
}

/**
 * Writes objects like an API client: all stages between a request and the store see the write and the client's user.
 * All methods throw ApiError. Arguments must not be used afterwards; results are shared and must not be changed.
 * Namespace and name are taken from the object's metadata.
 */
export interface ObjectClient {
  create(resource: ServedResource, object: KubeObject, options?: ClientWriteOptions): Promise<KubeObject>;
  /** Replaces an object. Throws Conflict if uid or resourceVersion do not match. */
  update(resource: ServedResource, object: KubeObject, options?: ClientWriteOptions): Promise<KubeObject>;
  /**
   * Applies a JSON merge patch, unless the options ask for another one. A uid or resourceVersion in its metadata is a
   * precondition. A list is a JSON patch.
   */
  patch(
    resource: ServedResource,
    key: ObjectKey,
    patch: JsonObject | JsonObject[],
    options?: ClientPatchOptions,
  ): Promise<KubeObject>;
  /** Server-side apply with force. */
  apply(
    resource: ServedResource,
    object: KubeObject,
    options: ClientWriteOptions & { readonly fieldManager: string },
  ): Promise<KubeObject>;
  delete(resource: ServedResource, key: ObjectKey, options?: ClientDeleteOptions): Promise<void>;
  /** Reads a path, such as a subresource or an API of an extension server. Throws ApiError if there is no JSON object. */
  read(path: string, query?: Readonly<Record<string, string>>): Promise<JsonObject>;
}
