import { printFieldError } from "../api/field-error.ts";
import { structuralErrors } from "../kinds/apiextensions/structural-rules.ts";
import type { CustomResourceDefinition } from "../types/custom-resource-definition.ts";

/** What is wrong with the schemas of a definition, as the condition says it; "" when nothing is. */
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
