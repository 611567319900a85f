import { type FieldError, invalidField, tooLongField } from "../../api/field-error.ts";
import { byteLength, qualifiedName } from "../../api/names.ts";
import type { Texts } from "./common-types.ts";

const MAX_ANNOTATION_BYTES = 262_144;

/** Adds what is wrong with annotations at a path. */
export function pushAnnotationErrors(errors: FieldError[], path: string, annotations: Texts | null | undefined): void {
  let bytes = 0;
  for (const [key, value] of Object.entries(annotations ?? {})) {
    // Compat: for the rule, the case of letters does not matter.
    for (const text of qualifiedName(key.toLowerCase())) errors.push(invalidField(path, key, text));
    bytes += byteLength(key) + byteLength(value);
  }
  if (bytes > MAX_ANNOTATION_BYTES) errors.push(tooLongField(path, MAX_ANNOTATION_BYTES));
}
