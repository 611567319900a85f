import { type FieldError, forbiddenField, notSupportedField, requiredField } from "../../../base/api/field-error.ts";
import type { KubeObject } from "../../../base/api/object.ts";
import type { ResourceHooks } from "../../../resources/model/definition.ts";
import { immutable } from "../shared-rules/immutable.ts";

interface PriorityClass extends KubeObject {
  value?: number;
  globalDefault?: boolean;
  preemptionPolicy?: string;
}

const SYSTEM_PREFIX = "system-";
const SYSTEM_CLASSES: Readonly<Record<string, number>> = {
  "system-node-critical": 2_000_001_000,
  "system-cluster-critical": 2_000_000_000,
};
const HIGHEST_OWN = 1_000_000_000;
const POLICIES = ["PreemptLowerPriority", "Never"];

/** Why a name with the prefix "system-" is not allowed; undefined for a built-in PriorityClass. */
function systemProblem(name: string, { value = 0, globalDefault = false }: PriorityClass): string | undefined {
  const wanted = Object.hasOwn(SYSTEM_CLASSES, name) ? SYSTEM_CLASSES[name] : undefined;
  if (wanted === undefined) return `${name} is not a known system priority class`;
  if (value !== wanted) return `value of ${name} PriorityClass must be ${wanted}`;
  return globalDefault ? `globalDefault of ${name} PriorityClass must be false` : undefined;
}

function newErrors(priorityClass: PriorityClass): FieldError[] {
  const { value = 0, preemptionPolicy: policy } = priorityClass;
  const { name = "" } = priorityClass.metadata;
  const errors: FieldError[] = [];
  if (name.startsWith(SYSTEM_PREFIX)) {
    const problem = systemProblem(name, priorityClass);
    const text = `priority class names with '${SYSTEM_PREFIX}' prefix are reserved for system use only. error: ${problem}`;
    if (problem !== undefined) errors.push(forbiddenField("metadata.name", text));
  } else if (value > HIGHEST_OWN) {
    errors.push(forbiddenField("value", `maximum allowed value of a user defined priority is ${HIGHEST_OWN}`));
  }
  if (policy === "") errors.push(requiredField("preemptionPolicy"));
  else if (policy !== undefined && !POLICIES.includes(policy)) {
    errors.push(notSupportedField("preemptionPolicy", policy, POLICIES));
  }
  return errors;
}

/** PriorityClass: a name for a `value`, which is immutable, and so is `preemptionPolicy`. */
export const priorityClassHooks: ResourceHooks = {
  validate(next, previous) {
    const [now, before] = [next as PriorityClass, previous as PriorityClass | undefined];
    if (!before) return newErrors(now);
    const isChanged = (now.value ?? 0) !== (before.value ?? 0);
    return [
      ...(isChanged ? [forbiddenField("value", "may not be changed in an update.")] : []),
      ...immutable(now.preemptionPolicy, before.preemptionPolicy, "preemptionPolicy"),
    ];
  },
};
