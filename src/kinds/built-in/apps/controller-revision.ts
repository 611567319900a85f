import { requiredField } from "../../../base/api/field-error.ts";
import { isObject } from "../../../base/api/object.ts";
import type { ResourceHooks } from "../../../resources/model/definition.ts";
import { immutable } from "../shared-rules/immutable.ts";
import { nonNegative } from "../shared-rules/numbers.ts";

/** ControllerRevision: a state of a StatefulSet or DaemonSet to roll back to; `data` is immutable. */
export const controllerRevisionHooks: ResourceHooks = {
  validate(next, previous) {
    const errors = nonNegative(next.revision, "revision");
    if (previous) return [...errors, ...immutable(next.data, previous.data, "data")];
    const { data = null } = next;
    if (data === null) return [...errors, requiredField("data", "data is mandatory")];
    return isObject(data) ? errors : [...errors, requiredField("data", "data must be a valid JSON object")];
  },
};
