import { isObject, type Json, type JsonObject, type KubeObject, type ObjectMeta } from "../../../base/api/object.ts";
import { printGoJson } from "../../../base/go/go-json.ts";
import { parseJsonText } from "../../../base/util/parse-json.ts";
import { read, readObjects } from "../cells.ts";
import { asGo, type GoShape } from "../shared-rules/go-print.ts";
import { AnnotationError, memberOf, SPEC_TABLE, STATUS_TABLE, toNewMetric, toOldMetric } from "./metric-map.ts";

/** The default of targetCPUUtilizationPercentage: `DefaultCPUUtilization`. */
export const DEFAULT_UTILIZATION = 80;

const PREFIX = "autoscaling.alpha.kubernetes.io/";
const METRICS = `${PREFIX}metrics`;
const CURRENT_METRICS = `${PREFIX}current-metrics`;
const CONDITIONS = `${PREFIX}conditions`;
const BEHAVIOR = `${PREFIX}behavior`;
const OWN_ANNOTATIONS = [
  METRICS,
  CURRENT_METRICS,
  CONDITIONS,
  BEHAVIOR,
  `${PREFIX}scale-down-tolerance`,
  `${PREFIX}scale-up-tolerance`,
];

const RULES: GoShape = [
  ["StabilizationWindowSeconds", "stabilizationWindowSeconds"],
  ["SelectPolicy", "selectPolicy"],
  [
    "Policies",
    "policies",
    null,
    [
      ["Type", "type", ""],
      ["Value", "value", 0],
      ["PeriodSeconds", "periodSeconds", 0],
    ],
  ],
  ["Tolerance", "tolerance"],
];
const BEHAVIOR_SHAPE: GoShape = [
  ["ScaleUp", "scaleUp", null, RULES],
  ["ScaleDown", "scaleDown", null, RULES],
];

/** A MetricSpec of type Resource for the average utilization of cpu. */
export function processorMetric(averageUtilization: Json): JsonObject {
  const target = { type: "Utilization", averageUtilization };
  return { type: "Resource", resource: { name: "cpu", target } };
}

/**
 * Converts a HorizontalPodAutoscaler between v1 and v2. Compat: v1 has fields that it lacks in annotations such as
 * `autoscaling.alpha.kubernetes.io/metrics`.
 */
export function convertAutoscaler(autoscaler: KubeObject, toApiVersion: string): KubeObject {
  return toApiVersion === "autoscaling/v1" ? toV1(autoscaler) : toV2(autoscaler, toApiVersion);
}

/**
 * Metadata without the autoscaling.alpha.kubernetes.io annotations that carry fields between versions. Shares values
 * with the argument.
 */
export function withoutOwnAnnotations(metadata: ObjectMeta): ObjectMeta {
  const { annotations } = metadata;
  if (!annotations || !OWN_ANNOTATIONS.some((key) => Object.hasOwn(annotations, key))) return metadata;
  const kept = Object.entries(annotations).filter(([key]) => !OWN_ANNOTATIONS.includes(key));
  const { annotations: _, ...rest } = metadata;
  return kept.length === 0 ? rest : { ...rest, annotations: Object.fromEntries(kept) };
}

function isProcessorUtilization(metric: JsonObject, member: "target" | "current"): boolean {
  const utilization = read(metric, `.resource.${member}.averageUtilization`);
  return metric.type === "Resource" && read(metric, ".resource.name") === "cpu" && utilization !== undefined;
}

function toV1(autoscaler: KubeObject): KubeObject {
  const { kind, metadata, spec, status, ...rest } = autoscaler;
  return {
    ...rest,
    kind,
    apiVersion: "autoscaling/v1",
    metadata: annotated(withoutOwnAnnotations(metadata), annotationsOf(autoscaler)),
    ...(isObject(spec) ? { spec: specToV1(spec) } : {}),
    ...(isObject(status) ? { status: statusToV1(status) } : {}),
  };
}

function annotated(metadata: ObjectMeta, added: { readonly [key: string]: string }): ObjectMeta {
  if (Object.keys(added).length === 0) return metadata;
  return { ...metadata, annotations: { ...metadata.annotations, ...added } };
}

/** The autoscaling.alpha.kubernetes.io annotations in which v1 keeps fields that it lacks. */
function annotationsOf(autoscaler: KubeObject): { [key: string]: string } {
  const out: { [key: string]: string } = {};
  const metrics = readObjects(autoscaler, ".spec.metrics").filter(
    (metric) => !isProcessorUtilization(metric, "target"),
  );
  const current = readObjects(autoscaler, ".status.currentMetrics");
  const conditions = readObjects(autoscaler, ".status.conditions");
  const behavior = read(autoscaler, ".spec.behavior");
  if (metrics.length > 0) out[METRICS] = printGoJson(metrics.map((metric) => toOldMetric(metric, SPEC_TABLE)));
  if (current.length > 0) out[CURRENT_METRICS] = printGoJson(current.map((one) => toOldMetric(one, STATUS_TABLE)));
  // Compat: `BehaviorSpecsAnnotation` has the internal Go struct as JSON, with capital letters; the other annotations
  // have v1's form.
  if (isObject(behavior)) out[BEHAVIOR] = printGoJson(asGo(behavior, BEHAVIOR_SHAPE));
  if (conditions.length > 0) out[CONDITIONS] = printGoJson(conditions.map(conditionInOrder));
  return out;
}

function conditionInOrder({ type = "", status = "", lastTransitionTime = null, ...rest }: JsonObject): JsonObject {
  const { reason, message, observedGeneration } = rest;
  return {
    type,
    status,
    lastTransitionTime,
    ...(reason ? { reason } : {}),
    ...(message ? { message } : {}),
    ...(observedGeneration === undefined ? {} : { observedGeneration }),
  };
}

function specToV1({ metrics, behavior: _, ...spec }: JsonObject): JsonObject {
  const processor = (Array.isArray(metrics) ? metrics.filter(isObject) : []).find((metric) =>
    isProcessorUtilization(metric, "target"),
  );
  const utilization = read(processor, ".resource.target.averageUtilization");
  return { ...spec, ...(utilization === undefined ? {} : { targetCPUUtilizationPercentage: utilization }) };
}

function statusToV1({ currentMetrics, conditions: _, ...status }: JsonObject): JsonObject {
  const processors = (Array.isArray(currentMetrics) ? currentMetrics.filter(isObject) : []).filter((metric) =>
    isProcessorUtilization(metric, "current"),
  );
  const utilization = read(processors.at(-1), ".resource.current.averageUtilization");
  const { currentReplicas = 0, desiredReplicas = 0 } = status;
  return {
    ...status,
    currentReplicas,
    desiredReplicas,
    ...(utilization === undefined ? {} : { currentCPUUtilizationPercentage: utilization }),
  };
}

function toV2(autoscaler: KubeObject, apiVersion: string): KubeObject {
  const { kind, metadata, spec, status, ...rest } = autoscaler;
  const { annotations = {} } = metadata;
  return {
    ...rest,
    kind,
    apiVersion,
    metadata: withoutOwnAnnotations(metadata),
    ...(isObject(spec) ? { spec: specToV2(spec, annotations) } : {}),
    ...(isObject(status) ? { status: statusToV2(status, annotations) } : {}),
  };
}

function specToV2(old: JsonObject, annotations: { readonly [key: string]: string }): JsonObject {
  const { targetCPUUtilizationPercentage: utilization, ...spec } = old;
  const others = readAnnotation(annotations[METRICS], (value) => listOf(value, (one) => toNewMetric(one, SPEC_TABLE)));
  const metrics = [...(others ?? []), ...(utilization === undefined ? [] : [processorMetric(utilization)])];
  const behavior = readAnnotation(annotations[BEHAVIOR], (value) => fromGo(value, BEHAVIOR_SHAPE));
  const hasBehavior = isObject(behavior) && Object.keys(behavior).length > 0;
  return {
    ...spec,
    metrics: metrics.length > 0 ? metrics : [processorMetric(DEFAULT_UTILIZATION)],
    ...(hasBehavior ? { behavior } : {}),
  };
}

function statusToV2(old: JsonObject, annotations: { readonly [key: string]: string }): JsonObject {
  const { currentCPUUtilizationPercentage: utilization, currentReplicas, ...status } = old;
  const known = utilization === undefined ? null : [currentProcessor(utilization)];
  const current = readAnnotation(annotations[CURRENT_METRICS], (value) =>
    listOf(value, (one) => toNewMetric(one, STATUS_TABLE)),
  );
  if (current?.length === 1) dropUnknownAverage(current[0], utilization);
  const conditions = readAnnotation(annotations[CONDITIONS], (value) => listOf(value, readCondition));
  return {
    ...status,
    ...(currentReplicas ? { currentReplicas } : {}),
    currentMetrics: current ? (current.length > 0 ? current : null) : known,
    ...(conditions && conditions.length > 0 ? { conditions } : {}),
  };
}

/** Removes an averageValue of zero next to `currentCPUUtilizationPercentage`, v1's own field: it was never measured. */
function dropUnknownAverage(metric: JsonObject | undefined, utilization: Json | undefined): void {
  const current = read(metric, ".resource.current");
  if (!isObject(current) || read(metric, ".resource.name") !== "cpu" || current.averageValue !== "0") return;
  if (utilization !== undefined && current.averageUtilization === utilization) delete current.averageValue;
}

function currentProcessor(averageUtilization: Json): JsonObject {
  return { type: "Resource", resource: { name: "cpu", current: { averageUtilization } } };
}

function readCondition(value: Json): JsonObject {
  if (!isObject(value)) throw new AnnotationError("a condition is no object");
  for (const member of ["type", "status", "reason", "message", "lastTransitionTime"]) {
    const found = value[member] ?? "";
    if (typeof found !== "string") throw new AnnotationError(`${member} is no text`);
  }
  return conditionInOrder(value);
}

/** The decoded value of an annotation; undefined if it is missing or malformed. */
function readAnnotation<T>(text: string | undefined, decode: (value: Json) => T): T | undefined {
  if (text === undefined) return undefined;
  try {
    return decode(parseJsonText(text) as Json);
  } catch (error) {
    if (error instanceof AnnotationError || error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function listOf(value: Json, decode: (item: Json) => JsonObject): JsonObject[] {
  if (value === null) return [];
  if (!Array.isArray(value)) throw new AnnotationError("no list");
  return value.map(decode);
}

/** The opposite of `asGo`. */
function fromGo(value: Json, shape: GoShape): Json {
  if (Array.isArray(value)) return value.map((item) => fromGo(item, shape));
  if (!isObject(value)) throw new AnnotationError("no object");
  const entries = shape.flatMap(([name, member, absent = null, inner]) => {
    const found = memberOf(value, name) ?? absent;
    if (found === null) return [];
    return [[member, inner ? fromGo(found, inner) : found] as const];
  });
  return Object.fromEntries(entries);
}
