import type { FieldError } from "../../base/api/field-error.ts";
import type { JsonObject, KubeObject } from "../../base/api/object.ts";
import type { Decoded, DecodeOptions } from "../../data/schema/decode.ts";
import type { Schema } from "../../data/schema/schema.ts";
import type { ServedResource } from "../model/catalog.ts";
import type { DefaultsContext, ServedVersion } from "../model/definition.ts";

/**
 * The behaviour selected by `ResourceDefinition.reading`: how bodies are decoded, and the consequences for reads,
 * apply, encoders and OpenAPI. There are three: `typed.ts`, `structural.ts` and `open.ts`. `strategyOf` selects one.
 */
export interface Strategy {
  /**
   * The kind has no Go type: kube-apiserver represents its objects as unstructured.Unstructured. Compat: there is no
   * protobuf (406, 415) and no strategic merge patch (415); apply preserves zeros and nulls.
   */
  readonly isUnstructured: boolean;
  /** Stored bytes are served unchanged. Otherwise the current schema is applied to everything read from the store. */
  readonly servesStoredBytes: boolean;
  /** Decodes a body or the result of a patch as an object of the kind. Does not change its argument. */
  decode(value: JsonObject, schema: Schema, options?: DecodeOptions): Decoded;
  /** Sets defaults in the version of `resource`. Changes `object`. */
  setDefaults(resource: ServedResource, object: KubeObject, context: DefaultsContext): void;
  /**
   * Applies the current schema to a stored or converted object. Stored objects also get the current defaults. Changes
   * `object`.
   */
  coerce(object: KubeObject, schema: Schema, origin: "stored" | "converted"): void;
  /** Prepares what `validate` needs. Undefined if there is nothing to wait for. */
  prepare?(version: ServedVersion): Promise<void> | undefined;
  /**
   * Validates an object against the schema of this version, except for its metadata. Optional. If omitted, the kind's
   * hooks validate. `warn` receives texts for Warning headers, which are sent even if the object is rejected.
   */
  validate?(
    version: ServedVersion,
    next: KubeObject,
    previous: KubeObject | undefined,
    write: { readonly subresource: string; warn(text: string): void },
  ): FieldError[];
  /** Texts for Warning headers about a valid object. */
  warn?(next: KubeObject, previous: KubeObject | undefined, subresource: string): string[];
  /** The schema that server-side apply and managed fields use. */
  applySchema(schema: Schema): Schema;
}
