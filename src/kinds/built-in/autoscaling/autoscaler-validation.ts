import {
  type FieldError,
  forbiddenField,
  invalidField,
  notSupportedField,
  requiredField,
} from "../../../base/api/field-error.ts";
import { pathSegment } from "../../../base/api/names.ts";
import { isObject, type JsonObject, type KubeObject } from "../../../base/api/object.ts";
import { parseQuantity } from "../../../base/api/quantity.ts";
import { addAll } from "../../../base/util/add-all.ts";
import { getMember } from "../../../base/util/members.ts";
import { read, readNumber, readObjects, readText } from "../cells.ts";
import { labelName } from "../shared-rules/formats.ts";
import { NOT_NEGATIVE, nonNegative } from "../shared-rules/numbers.ts";
import { pushContainerResourceNameErrors } from "../shared-rules/resource-names.ts";

/** What validation tolerates because the stored object has it. */
interface ReferenceOptions {
  readonly allowsAnyVersion: boolean;
  readonly allowsNoGroup: boolean;
}

const NO_GROUP = "apiVersion must specify API group";

/** Validates the spec of a HorizontalPodAutoscaler. */
export function validateAutoscaler(next: KubeObject, previous: KubeObject | undefined): FieldError[] {
  const minReplicas = read(next, ".spec.minReplicas");
  const maxReplicas = readNumber(next, ".spec.maxReplicas");
  const errors: FieldError[] = [];
  if (typeof minReplicas === "number" && maxReplicas < minReplicas) {
    errors.push(invalidField("spec.maxReplicas", maxReplicas, "must be greater than or equal to `minReplicas`"));
  }
  const target = objectAt(next, ".spec.scaleTargetRef");
  addAll(errors, validateReference(target, "spec.scaleTargetRef", targetOptions(target, previous)));
  addAll(errors, validateMetrics(next, previous));
  for (const member of ["scaleUp", "scaleDown"]) {
    const rules = read(next, `.spec.behavior.${member}`);
    if (isObject(rules)) addAll(errors, validateRules(rules, `spec.behavior.${member}`));
  }
  // Compat: declarative validation checks minimum and required of `minReplicas` and `maxReplicas`, after all other
  // errors.
  addAll(errors, nonNegative(minReplicas, "spec.minReplicas"));
  if (maxReplicas === 0) errors.push(requiredField("spec.maxReplicas"));
  else if (maxReplicas < 0) {
    errors.push(invalidField("spec.maxReplicas", maxReplicas, "must be greater than or equal to 1"));
  }
  return errors;
}

function objectAt(object: JsonObject | undefined, path: string): JsonObject {
  const value = read(object, path);
  return isObject(value) ? value : {};
}

function targetOptions(target: JsonObject, previous: KubeObject | undefined): ReferenceOptions {
  const before = objectAt(previous, ".spec.scaleTargetRef");
  const isSame = (before.apiVersion ?? "") === (target.apiVersion ?? "") && before.kind === target.kind;
  return { allowsAnyVersion: previous !== undefined && isSame, allowsNoGroup: target.kind === "ReplicationController" };
}

function validateReference(reference: JsonObject, path: string, options: ReferenceOptions): FieldError[] {
  const errors: FieldError[] = [];
  for (const member of ["kind", "name"]) {
    const text = readText(reference, `.${member}`);
    if (text === "") errors.push(requiredField(`${path}.${member}`));
    else
      addAll(
        errors,
        pathSegment(text).map((problem) => invalidField(`${path}.${member}`, text, problem)),
      );
  }
  const version = readText(reference, ".apiVersion");
  const problem = versionProblem(version, options);
  return problem === undefined ? errors : [...errors, invalidField(`${path}.apiVersion`, version, problem)];
}

function versionProblem(apiVersion: string, options: ReferenceOptions): string | undefined {
  if (options.allowsAnyVersion) return undefined;
  const parts = apiVersion.split("/");
  if (parts.length > 2) return `unexpected GroupVersion string: ${apiVersion}`;
  const group = parts.length === 2 ? parts[0] : "";
  return group === "" && !options.allowsNoGroup ? NO_GROUP : undefined;
}

/**
 * Compat: the types of MetricSpec in the order in which "supported values" lists them, and below in the order of
 * `validateMetricSpec`.
 */
const SOURCES: Readonly<Record<string, string>> = {
  ContainerResource: "containerResource",
  External: "external",
  Object: "object",
  Pods: "pods",
  Resource: "resource",
};
const LOOKED_AT = ["object", "external", "pods", "resource", "containerResource"];

function validateMetrics(next: KubeObject, previous: KubeObject | undefined): FieldError[] {
  const options = { allowsNoGroup: true, allowsAnyVersion: hasBadReference(previous) };
  const metrics = readObjects(next, ".spec.metrics");
  const errors = metrics.flatMap((metric, index) => validateMetric(metric, `spec.metrics[${index}]`, options));
  const isElsewhere = metrics.some(({ type }) => type === "Object" || type === "External");
  if (read(next, ".spec.minReplicas") === 0 && !isElsewhere) {
    const text = "must specify at least one Object or External metric to support scaling to zero replicas";
    errors.push(forbiddenField("spec.metrics", text));
  }
  return errors;
}

function hasBadReference(previous: KubeObject | undefined): boolean {
  const options = { allowsNoGroup: true, allowsAnyVersion: false };
  return readObjects(previous, ".spec.metrics").some((metric) => {
    const version = readText(metric, ".object.describedObject.apiVersion");
    return metric.type === "Object" && versionProblem(version, options) !== undefined;
  });
}

function validateMetric(metric: JsonObject, path: string, options: ReferenceOptions): FieldError[] {
  const type = readText(metric, ".type");
  const expected = getMember(SOURCES, type);
  const errors: FieldError[] = [];
  if (type === "") errors.push(requiredField(`${path}.type`, "must specify a metric source type"));
  if (expected === undefined) errors.push(notSupportedField(`${path}.type`, type, Object.keys(SOURCES)));
  const present = LOOKED_AT.filter((member) => isObject(metric[member]));
  const [first] = present;
  if (first !== undefined)
    addAll(errors, validateSource(first, objectAt(metric, `.${first}`), `${path}.${first}`, options));
  if (expected !== undefined && !present.includes(expected)) {
    errors.push(requiredField(`${path}.${expected}`, "must populate information for the given metric source"));
  }
  if (present.length !== 1) {
    const others = present.filter((member) => member !== expected);
    addAll(
      errors,
      others.map((member) => forbiddenField(`${path}.${member}`, "must populate the given metric source only")),
    );
  }
  return errors;
}

function validateSource(member: string, source: JsonObject, path: string, options: ReferenceOptions): FieldError[] {
  const errors: FieldError[] = [];
  if (member === "object") {
    addAll(errors, validateReference(objectAt(source, ".describedObject"), `${path}.describedObject`, options));
  }
  if (member === "resource" || member === "containerResource") addAll(errors, validateNames(member, source, path));
  else addAll(errors, validateIdentifier(readText(source, ".metric.name"), `${path}.metric.name`));
  const target = objectAt(source, ".target");
  return [...errors, ...validateTarget(target, `${path}.target`), ...validateValues(member, target, `${path}.target`)];
}

function validateNames(member: string, source: JsonObject, path: string): FieldError[] {
  const errors: FieldError[] = [];
  const name = readText(source, ".name");
  if (name === "") errors.push(requiredField(`${path}.name`, "must specify a resource name"));
  if (member === "resource") return errors;
  if (name !== "") pushContainerResourceNameErrors(errors, `${path}.name`, name);
  const container = readText(source, ".container");
  if (container === "") return [...errors, requiredField(`${path}.container`, "must specify a container")];
  return [...errors, ...labelName(container).map((text) => invalidField(`${path}.container`, container, text))];
}

function validateIdentifier(name: string, path: string): FieldError[] {
  if (name === "") return [requiredField(path, "must specify a metric name")];
  return pathSegment(name).map((text) => invalidField(path, name, text));
}

const TARGET_TYPES = ["Utilization", "Value", "AverageValue"];

function validateTarget(target: JsonObject, path: string): FieldError[] {
  const type = readText(target, ".type");
  const errors: FieldError[] = [];
  if (type === "") errors.push(requiredField(`${path}.type`, "must specify a metric target type"));
  if (!TARGET_TYPES.includes(type)) {
    errors.push(invalidField(`${path}.type`, type, "must be either Utilization, Value, or AverageValue"));
  }
  for (const member of ["value", "averageValue"]) {
    const amount = target[member];
    if (typeof amount === "string" && parseQuantity(amount).mantissa <= 0n) {
      errors.push(invalidField(`${path}.${member}`, amount, "must be positive"));
    }
  }
  const { averageUtilization } = target;
  if (typeof averageUtilization === "number" && averageUtilization < 1) {
    errors.push(invalidField(`${path}.averageUtilization`, averageUtilization, "must be greater than 0"));
  }
  return errors;
}

/** Validates which of value, averageValue and averageUtilization a MetricTarget has. */
function validateValues(member: string, target: JsonObject, path: string): FieldError[] {
  const { value, averageValue, averageUtilization } = target;
  const hasNone = value === undefined && averageValue === undefined;
  if (member === "pods") {
    if (averageValue !== undefined) return [];
    return [requiredField(`${path}.averageValue`, "must specify a positive target averageValue")];
  }
  if (member === "object") {
    return hasNone ? [requiredField(`${path}.averageValue`, "must set either a target value or averageValue")] : [];
  }
  if (member === "external") {
    const both = "may not set both a target value for metric and a per-pod target";
    if (value !== undefined && averageValue !== undefined) return [forbiddenField(`${path}.value`, both)];
    const none = "must set either a target value for metric or a per-pod target";
    return hasNone ? [requiredField(`${path}.averageValue`, none)] : [];
  }
  if (averageUtilization === undefined && averageValue === undefined) {
    const text = "must set either a target raw value or a target utilization";
    return [requiredField(`${path}.averageUtilization`, text)];
  }
  if (averageUtilization === undefined || averageValue === undefined) return [];
  return [forbiddenField(`${path}.averageValue`, "may not set both a target raw value and a target utilization")];
}

const SELECT_POLICIES = ["Disabled", "Max", "Min"];
const POLICY_TYPES = ["Percent", "Pods"];
const MAX_WINDOW_SECONDS = 3600;
const MAX_PERIOD_SECONDS = 1800;

function validateRules(rules: JsonObject, path: string): FieldError[] {
  const { stabilizationWindowSeconds: window, selectPolicy, tolerance } = rules;
  const errors: FieldError[] = [];
  const field = `${path}.stabilizationWindowSeconds`;
  if (typeof window === "number" && window < 0) {
    errors.push(invalidField(field, window, "must be greater than or equal to zero"));
  }
  if (typeof window === "number" && window > MAX_WINDOW_SECONDS) {
    errors.push(invalidField(field, window, `must be less than or equal to ${MAX_WINDOW_SECONDS}`));
  }
  if (selectPolicy !== undefined && !SELECT_POLICIES.includes(String(selectPolicy))) {
    errors.push(notSupportedField(`${path}.selectPolicy`, selectPolicy, SELECT_POLICIES));
  }
  const policies = readObjects(rules, ".policies");
  if (policies.length === 0) errors.push(requiredField(`${path}.policies`, "must specify at least one Policy"));
  for (const [index, policy] of policies.entries()) {
    addAll(errors, validatePolicy(policy, `${path}.policies[${index}]`));
  }
  if (typeof tolerance === "string" && parseQuantity(tolerance).mantissa < 0n) {
    errors.push(invalidField(`${path}.tolerance`, tolerance, NOT_NEGATIVE));
  }
  return errors;
}

function validatePolicy(policy: JsonObject, path: string): FieldError[] {
  const errors: FieldError[] = [];
  const type = readText(policy, ".type");
  if (!POLICY_TYPES.includes(type)) errors.push(notSupportedField(`${path}.type`, type, POLICY_TYPES));
  for (const member of ["value", "periodSeconds"]) {
    const number = readNumber(policy, `.${member}`);
    if (number <= 0) errors.push(invalidField(`${path}.${member}`, number, "must be greater than zero"));
  }
  const period = readNumber(policy, ".periodSeconds");
  if (period > MAX_PERIOD_SECONDS) {
    errors.push(invalidField(`${path}.periodSeconds`, period, `must be less than or equal to ${MAX_PERIOD_SECONDS}`));
  }
  return errors;
}

/** Validates the status of a HorizontalPodAutoscaler. */
export function validateAutoscalerStatus(next: KubeObject): FieldError[] {
  const conditions = readObjects(next, ".status.conditions");
  return [
    ...conditions.flatMap(({ observedGeneration }, index) =>
      nonNegative(observedGeneration, `status.conditions[${index}].observedGeneration`),
    ),
    ...["currentReplicas", "desiredReplicas"].flatMap((member) =>
      nonNegative(read(next, `.status.${member}`), `status.${member}`),
    ),
  ];
}
