import {
  duplicateField,
  type FieldError,
  invalidField,
  notSupportedField,
  requiredField,
  tooLongField,
} from "../../../base/api/field-error.ts";
import { byteLength, qualifiedName, regexMessage } from "../../../base/api/names.ts";
import type { Json, JsonObject } from "../../../base/api/object.ts";
import { addAll } from "../../../base/util/add-all.ts";
import { seenBefore } from "../../../base/util/seen-before.ts";

/** Condition of meta/v1. */
export interface Condition extends JsonObject {
  type?: string;
  status?: string;
  observedGeneration?: number;
  lastTransitionTime?: string | null;
  reason?: string;
  message?: string;
}

const STATUSES = ["False", "True", "Unknown"];
const REASON_PATTERN = "[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?";
const REASON = new RegExp(`^${REASON_PATTERN}$`);
const REASON_RULE =
  "a condition reason must start with alphabetic character, optionally followed by a string of alphanumeric characters or '_,:', and must end with an alphanumeric character or '_'";
const MAX_REASON = 1024;
const MAX_MESSAGE = 32_768;

/** Validates the `reason` of a Condition, its length apart. */
export function conditionReason(reason: string): string[] {
  if (REASON.test(reason)) return [];
  const examples = ["my_name", "MY_NAME", "MyName", "ReasonA,ReasonB", "ReasonA:ReasonB"];
  return [regexMessage(REASON_RULE, REASON_PATTERN, ...examples)];
}

/** Validates conditions of meta/v1. Upstream: `ValidateConditions`. */
export function validateConditions(conditions: Json | undefined, path: string): FieldError[] {
  const list = (Array.isArray(conditions) ? conditions : []) as Condition[];
  const isSecond = seenBefore<string>();
  return list.flatMap((condition, index) => {
    const { type = "" } = condition;
    return [
      ...(isSecond(type) ? [duplicateField(`${path}[${index}]`, type)] : []),
      ...validateCondition(condition, `${path}[${index}]`),
    ];
  });
}

function validateCondition(condition: Condition, path: string): FieldError[] {
  const { type = "", status = "", observedGeneration = 0, lastTransitionTime, reason = "", message = "" } = condition;
  const errors: FieldError[] = [];
  if (type === "") errors.push(requiredField(`${path}.type`, "is required"));
  else
    addAll(
      errors,
      qualifiedName(type).map((text) => invalidField(`${path}.type`, type, text)),
    );
  if (status === "") errors.push(requiredField(`${path}.status`));
  else if (!STATUSES.includes(status)) errors.push(notSupportedField(`${path}.status`, status, STATUSES));
  if (observedGeneration < 0) {
    const text = "must be greater than or equal to zero";
    errors.push(invalidField(`${path}.observedGeneration`, observedGeneration, text));
  }
  if (!lastTransitionTime) errors.push(requiredField(`${path}.lastTransitionTime`));
  if (reason === "") errors.push(requiredField(`${path}.reason`));
  else {
    addAll(
      errors,
      conditionReason(reason).map((text) => invalidField(`${path}.reason`, reason, text)),
    );
    if (byteLength(reason) > MAX_REASON) errors.push(tooLongField(`${path}.reason`, MAX_REASON));
  }
  if (byteLength(message) > MAX_MESSAGE) errors.push(tooLongField(`${path}.message`, MAX_MESSAGE));
  return errors;
}
