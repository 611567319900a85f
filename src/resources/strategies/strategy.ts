import type { FieldError } from "../../api/field-error.ts";
import type { JsonObject, KubeObject } from "../../api/object.ts";
import type { Decoded, DecodeOptions } from "../../schema/decode.ts";
import type { Schema } from "../../schema/schema.ts";
import type { ServedResource } from "../model/catalog.ts";
import type { DefaultsContext, ServedVersion } from "../model/definition.ts";

/**
 * What `ResourceDefinition.reading` decides: how bodies become objects, and what follows from that for reads, apply,
 * encoders and OpenAPI. The three are `typed.ts`, `structural.ts` and `open.ts`; `strategyOf` finds the one of a kind.
 */
export interface Strategy {
  /**
   * No Go type stands behind the kind: kube-apiserver holds its objects as unstructured.Unstructured. Compat: there is
   * no protobuf of objects (406, 415) and no strategic merge patch (415); apply takes zeros and nulls for what they are.
   */
  readonly isUnstructured: boolean;
  /** What is stored is served as it is. Otherwise today's schema is applied to whatever is read from the store. */
  readonly servesStoredBytes: boolean;
  /** A body, or the result of a patch, as an object of the kind. Does not change what it is given. */
  decode(value: JsonObject, schema: Schema, options?: DecodeOptions): Decoded;
  /** Fills in what a client left out, in the version of `resource`. Changes `object`. */
  setDefaults(resource: ServedResource, object: KubeObject, context: DefaultsContext): void;
  /**
   * Brings an object that was stored, or comes from a converter, into the form of today's schema; what was stored gets
   * today's defaults, too. Changes `object`.
   */
  coerce(object: KubeObject, schema: Schema, origin: "stored" | "converted"): void;
  /** Makes ready what `validate` needs; undefined: there is nothing to wait for. */
  prepare?(version: ServedVersion): Promise<void> | undefined;
  /**
   * What is wrong with an object of this version by its schema, apart from its metadata. Absent: kinds know that. `warn`
   * gets texts for Warning headers, which are sent even when the object is refused.
   */
  validate?(
    version: ServedVersion,
    next: KubeObject,
    previous: KubeObject | undefined,
    write: { readonly subresource: string; warn(text: string): void },
  ): FieldError[];
  /** Texts for Warning headers about a valid object. */
  warn?(next: KubeObject, previous: KubeObject | undefined, subresource: string): string[];
  /** The schema by which server-side apply and managed fields see an object. */
  applySchema(schema: Schema): Schema;
}
