import { type FieldError, invalidField } from "../../api/field-error.ts";
import type { KubeObject } from "../../api/object.ts";
import { quote } from "../../lib/go/quote.ts";

const SUFFIX = ".static.k8s.io";
const TEXT = `names ending with ${quote(SUFFIX)} are reserved for static manifest-based configurations and cannot be managed via the API`;

/** Refuses to create what is named like a webhook configuration or policy of a static manifest: "….static.k8s.io". */
export function staticNameErrors({ metadata }: KubeObject, previous: KubeObject | undefined): FieldError[] {
  const { name = "" } = metadata;
  return previous || !name.endsWith(SUFFIX) ? [] : [invalidField("metadata.name", name, TEXT)];
}

/** Warns of names that end in ".static.k8s.io" where an object has one already. */
export function staticNameWarnings({ metadata }: KubeObject, previous: KubeObject | undefined): string[] {
  return previous && metadata.name?.endsWith(SUFFIX) ? [`metadata.name: ${TEXT}`] : [];
}
