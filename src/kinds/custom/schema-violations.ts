import { printFieldError } from "../../base/api/field-error.ts";
import type { Pause } from "../../resources/pace.ts";
import { structuralErrorsInSteps } from "../built-in/apiextensions/structural-rules.ts";
import type { CustomResourceDefinition } from "../types/custom-resource-definition.ts";

/** Problems of the schemas of a definition, as text of the condition; "" if there are none. Pauses between schemas. */
export async function schemaViolations({ spec = {} }: CustomResourceDefinition, pause: Pause): Promise<string> {
  const texts = spec.preserveUnknownFields ? ["spec.preserveUnknownFields: Invalid value: true: must be false"] : [];
  for (const [index, { schema }] of (spec.versions ?? []).entries()) {
    if (!schema?.openAPIV3Schema) continue;
    const path = `spec.versions[${index}].schema.openAPIV3Schema`;
    for (const error of await structuralErrorsInSteps(schema.openAPIV3Schema, path, pause))
      texts.push(printFieldError(error));
  }
  const different = [...new Set(texts)];
  return different.length > 1 ? `[${different.join(", ")}]` : (different[0] ?? "");
}
