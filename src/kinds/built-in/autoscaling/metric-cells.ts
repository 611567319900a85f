import { isObject, type Json, type JsonObject, type KubeObject } from "../../../base/api/object.ts";
import { getMember } from "../../../base/util/members.ts";
import { parseJsonText } from "../../../base/util/parse-json.ts";
import { printFirst, read, readObjects, readText } from "../cells.ts";

const UNKNOWN = "<unknown>";

/** The field of a MetricSpec that has its source. */
const SOURCES: Readonly<Record<string, string>> = {
  Resource: "resource",
  ContainerResource: "containerResource",
  Pods: "pods",
  Object: "object",
  External: "external",
};

function printValue(value: Json | undefined, fallback: string, suffix = ""): string {
  return value === undefined ? fallback : `${value}${suffix}`;
}

function printMetric(metric: JsonObject, status: JsonObject | undefined): string {
  const type = readText(metric, ".type");
  const member = getMember(SOURCES, type);
  if (member === undefined) return "<unknown type>";
  const target = read(metric, `.${member}.target`);
  const current = read(status, `.${member}.current`);
  const average = read(target, ".averageValue");
  if (type === "Resource" || type === "ContainerResource") {
    const name = readText(metric, `.${member}.name`);
    if (average !== undefined) return `${name}: ${printValue(read(current, ".averageValue"), UNKNOWN)}/${average}`;
    const used = printValue(read(current, ".averageUtilization"), UNKNOWN, "%");
    return `${name}: ${used}/${printValue(read(target, ".averageUtilization"), "<auto>", "%")}`;
  }
  if (type === "Pods") return `${printValue(read(current, ".averageValue"), UNKNOWN)}/${printValue(average, "0")}`;
  if (average !== undefined) return `${printValue(read(current, ".averageValue"), UNKNOWN)}/${average} (avg)`;
  return `${printValue(read(current, ".value"), UNKNOWN)}/${printValue(read(target, ".value"), "0")}`;
}

/** The column Targets of a HorizontalPodAutoscaler: targets, and the current value of each metric. */
export function printTargets(metrics: readonly JsonObject[], statuses: readonly JsonObject[]): string {
  if (metrics.length === 0) return "<none>";
  return printFirst(
    metrics.map((metric, index) => printMetric(metric, statuses[index])),
    2,
    ", ",
  );
}

const ANNOTATION = "autoscaling.alpha.kubernetes.io/";

function annotated(autoscaler: KubeObject, name: string): JsonObject[] {
  try {
    const value: unknown = parseJsonText(autoscaler.metadata.annotations?.[`${ANNOTATION}${name}`] ?? "[]");
    return Array.isArray(value) ? value.filter(isObject) : [];
  } catch {
    return [];
  }
}

/** A metric of v1's annotations in the form of v2, as far as it is printed. */
function modernise(metric: JsonObject, side: "target" | "current"): JsonObject {
  const type = readText(metric, ".type");
  const member = getMember(SOURCES, type) ?? "";
  const old = metric[member];
  if (!isObject(old)) return metric;
  const isTarget = side === "target";
  const values: JsonObject = {
    value: old[isTarget ? "targetValue" : "currentValue"],
    averageValue: old[isTarget ? "targetAverageValue" : "currentAverageValue"] ?? old.averageValue,
    averageUtilization: old[isTarget ? "targetAverageUtilization" : "currentAverageUtilization"],
  };
  return { type, [member]: { name: old.name, [side]: values } };
}

function processor(side: "target" | "current", utilization: Json | undefined): JsonObject {
  return { type: "Resource", resource: { name: "cpu", [side]: { averageUtilization: utilization } } };
}

/** The column Targets in version v1, which keeps most of the metrics in annotations. */
export function printTargetsV1(autoscaler: KubeObject): string {
  const metrics = annotated(autoscaler, "metrics").map((metric) => modernise(metric, "target"));
  const statuses = annotated(autoscaler, "current-metrics").map((metric) => modernise(metric, "current"));
  const wanted = read(autoscaler, ".spec.targetCPUUtilizationPercentage");
  if (wanted !== undefined) {
    const used = read(autoscaler, ".status.currentCPUUtilizationPercentage");
    metrics.unshift(processor("target", wanted));
    if (statuses.length === 0 && used !== undefined) statuses.push(processor("current", used));
  }
  return printTargets(metrics, statuses);
}

/** The column Targets in version v2. */
export function printTargetsV2(autoscaler: KubeObject): string {
  return printTargets(readObjects(autoscaler, ".spec.metrics"), readObjects(autoscaler, ".status.currentMetrics"));
}
