import {
  type FieldError,
  forbiddenField,
  invalidField,
  requiredField,
  tooLongField,
} from "../../../base/api/field-error.ts";
import { byteLength, qualifiedName } from "../../../base/api/names.ts";
import type { ObjectMeta } from "../../../base/api/object.ts";
import { addAll } from "../../../base/util/add-all.ts";
import { validateLabels } from "../../../resources/write/metadata-validation.ts";
import type { Texts } from "../../types/meta.ts";

const MAX_ANNOTATION_BYTES = 262_144;

/** Validates annotations at a path. Upstream: `ValidateAnnotations`. */
export function pushAnnotationErrors(errors: FieldError[], path: string, annotations: Texts | null | undefined): void {
  let bytes = 0;
  for (const [key, value] of Object.entries(annotations ?? {})) {
    // Compat: `ValidateAnnotations` checks the key in lower case with `IsQualifiedName` and shows it as sent.
    for (const text of qualifiedName(key.toLowerCase())) errors.push(invalidField(path, key, text));
    bytes += byteLength(key) + byteLength(value);
  }
  if (bytes > MAX_ANNOTATION_BYTES) errors.push(tooLongField(path, MAX_ANNOTATION_BYTES));
}

/**
 * Validates `unverifiedUserAnnotations` of a PodCertificateRequest or `userAnnotations` of a projected podCertificate:
 * their keys must have a domain.
 */
export function pushUserAnnotationErrors(errors: FieldError[], path: string, annotations: Texts = {}): void {
  let bytes = 0;
  for (const [key, value] of Object.entries(annotations)) {
    // Compat: user annotations for a PodCertificateRequest are checked, and shown in errors, with keys in lower case.
    const small = key.toLowerCase();
    const texts = qualifiedName(small);
    if (small === "") errors.push(requiredField(path));
    else if (texts.length > 0)
      addAll(
        errors,
        texts.map((text) => invalidField(path, small, text)),
      );
    else if (!small.includes("/")) {
      errors.push(invalidField(path, small, 'must be a domain-prefixed key (such as "acme.io/foo")'));
    }
    bytes += byteLength(key) + byteLength(value);
  }
  if (bytes > MAX_ANNOTATION_BYTES) errors.push(tooLongField(path, MAX_ANNOTATION_BYTES));
}

/** Fields of ObjectMeta that a template cannot set, with their names as errors show them. */
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

/** Validates the metadata of a template: only labels and annotations are allowed. */
export function pushTemplateMetadataErrors(errors: FieldError[], path: string, metadata: ObjectMeta): void {
  pushAnnotationErrors(errors, `${path}.annotations`, metadata.annotations);
  addAll(errors, validateLabels(metadata.labels ?? {}, `${path}.labels`));
  for (const [member, shown] of FOREIGN_TO_TEMPLATES) {
    const value = metadata[member];
    if (value !== undefined && value !== null) errors.push(forbiddenField(`${path}.${shown}`, "cannot be set"));
  }
}
