import { type FieldError, invalidField } from "../../../base/api/field-error.ts";
import type { KubeObject } from "../../../base/api/object.ts";
import { quote } from "../../../base/go/quote.ts";

const SUFFIX = ".static.k8s.io";
const TEXT = `names ending with ${quote(SUFFIX)} are reserved for static manifest-based configurations and cannot be managed via the API`;

/**
 * Rejects new objects whose names are reserved for webhook configurations and policies of static manifests:
 * "….static.k8s.io".
 */
export function staticNameErrors({ metadata }: KubeObject, previous: KubeObject | undefined): FieldError[] {
  const { name = "" } = metadata;
  return previous || !name.endsWith(SUFFIX) ? [] : [invalidField("metadata.name", name, TEXT)];
}

/** Warns about an existing object whose name ends in ".static.k8s.io". */
export function staticNameWarnings({ metadata }: KubeObject, previous: KubeObject | undefined): string[] {
  return previous && metadata.name?.endsWith(SUFFIX) ? [`metadata.name: ${TEXT}`] : [];
}
