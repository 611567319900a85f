import { printFieldError } from "../../base/api/field-error.ts";
import { structuralErrors } from "../built-in/apiextensions/structural-rules.ts";
import type { CustomResourceDefinition } from "../types/custom-resource-definition.ts";

/** Problems of the schemas of a definition, as text of the condition; "" if there are none. */
export function schemaViolations({ spec = {} }: CustomResourceDefinition): string {
  const texts = spec.preserveUnknownFields ? ["spec.preserveUnknownFields: Invalid value: true: must be false"] : [];
  for (const [index, { schema }] of (spec.versions ?? []).entries()) {
    if (!schema?.openAPIV3Schema) continue;
    const path = `spec.versions[${index}].schema.openAPIV3Schema`;
    for (const error of structuralErrors(schema.openAPIV3Schema, path)) texts.push(printFieldError(error));
  }
  const different = [...new Set(texts)];
  return different.length > 1 ? `[${different.join(", ")}]` : (different[0] ?? "");
}
