import { duplicateField, type FieldError, requiredField } from "../../../base/api/field-error.ts";
import type { KubeObject } from "../../../base/api/object.ts";
import type { Condition } from "../shared-rules/conditions.ts";

/** Validates `status.conditions` of a FlowSchema or PriorityLevelConfiguration: types must be unique. */
export function flowConditionErrors(object: KubeObject): FieldError[] {
  const { conditions = [] } = (object.status as { conditions?: Condition[] } | undefined) ?? {};
  const seen = new Set<string>();
  return conditions.flatMap(({ type = "" }, index) => {
    const path = `status.conditions[${index}].type`;
    const errors = seen.has(type) ? [duplicateField(path, type)] : [];
    seen.add(type);
    return type === "" ? [...errors, requiredField(path)] : errors;
  });
}
