import { type FieldError, forbiddenField, invalidField, requiredField, tooLongField } from "../../api/field-error.ts";
import { byteLength, qualifiedName } from "../../api/names.ts";
import type { ObjectMeta } from "../../api/object.ts";
import { validateLabels } from "../../resources/write/metadata-validation.ts";
import type { Texts } from "../../types/meta.ts";

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

/** Adds what is wrong with annotations that pass through the server to a signer: their keys have a domain. */
export function pushUserAnnotationErrors(errors: FieldError[], path: string, annotations: Texts = {}): void {
  let bytes = 0;
  for (const [key, value] of Object.entries(annotations)) {
    // Compat: for the rule, the case of letters does not matter, and the small ones are shown.
    const small = key.toLowerCase();
    const texts = qualifiedName(small);
    if (small === "") errors.push(requiredField(path));
    else if (texts.length > 0) errors.push(...texts.map((text) => invalidField(path, small, text)));
    else if (!small.includes("/")) {
      errors.push(invalidField(path, small, 'must be a domain-prefixed key (such as "acme.io/foo")'));
    }
    bytes += byteLength(key) + byteLength(value);
  }
  if (bytes > MAX_ANNOTATION_BYTES) errors.push(tooLongField(path, MAX_ANNOTATION_BYTES));
}

/** Members of the metadata of a template that cannot be set, with their names as the real server tells them. */
const FOREIGN_TO_TEMPLATES: readonly (readonly [member: string, shown: string])[] = [
  ["name", "name"],
  ["generateName", "generateName"],
  ["namespace", "namespace"],
  ["selfLink", "selfLink"],
  ["uid", "uID"],
  ["resourceVersion", "resourceVersion"],
  ["generation", "generation"],
  ["creationTimestamp", "creationTimestamp"],
  ["deletionTimestamp", "deletionTimestamp"],
  ["deletionGracePeriodSeconds", "deletionGracePeriodSeconds"],
  ["ownerReferences", "ownerReferences"],
  ["finalizers", "finalizers"],
  ["managedFields", "managedFields"],
];

/** Adds what is wrong with the metadata of a template: it has labels and annotations and nothing else. */
export function pushTemplateMetadataErrors(errors: FieldError[], path: string, metadata: ObjectMeta): void {
  pushAnnotationErrors(errors, `${path}.annotations`, metadata.annotations);
  errors.push(...validateLabels(metadata.labels ?? {}, `${path}.labels`));
  for (const [member, shown] of FOREIGN_TO_TEMPLATES) {
    const value = metadata[member];
    if (value !== undefined && value !== null) errors.push(forbiddenField(`${path}.${shown}`, "cannot be set"));
  }
}
