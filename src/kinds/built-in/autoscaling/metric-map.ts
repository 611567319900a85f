import { isObject, type Json, type JsonObject } from "../../../base/api/object.ts";
import { canonicalQuantity, parseQuantity, QuantityError } from "../../../base/api/quantity.ts";
import { orderedSelector } from "../shared-rules/label-selector.ts";

/** An annotation of autoscaling/v1 that cannot be decoded; it is ignored. */
export class AnnotationError extends Error {}

type FieldKind = "text" | "integer" | "quantity" | "selector" | "reference";

/** A field of a metric in v1, and its path in v2. `always`: it is written even if it has no value. */
type FieldRow = readonly [old: string, path: string, kind: FieldKind, always?: "always"];

/** By the field that has the source of a metric, in wire order. */
type SourceTable = Readonly<Record<string, readonly FieldRow[]>>;

/** The fields of MetricSpec. */
export const SPEC_TABLE: SourceTable = {
  object: [
    ["target", "describedObject", "reference", "always"],
    ["metricName", "metric.name", "text", "always"],
    ["targetValue", "target.value", "quantity", "always"],
    ["selector", "metric.selector", "selector"],
    ["averageValue", "target.averageValue", "quantity"],
  ],
  pods: [
    ["metricName", "metric.name", "text", "always"],
    ["targetAverageValue", "target.averageValue", "quantity", "always"],
    ["selector", "metric.selector", "selector"],
  ],
  resource: [
    ["name", "name", "text", "always"],
    ["targetAverageUtilization", "target.averageUtilization", "integer"],
    ["targetAverageValue", "target.averageValue", "quantity"],
  ],
  containerResource: [
    ["name", "name", "text", "always"],
    ["targetAverageUtilization", "target.averageUtilization", "integer"],
    ["targetAverageValue", "target.averageValue", "quantity"],
    ["container", "container", "text", "always"],
  ],
  external: [
    ["metricName", "metric.name", "text", "always"],
    ["metricSelector", "metric.selector", "selector"],
    ["targetValue", "target.value", "quantity"],
    ["targetAverageValue", "target.averageValue", "quantity"],
  ],
};

/** The fields of MetricStatus. */
export const STATUS_TABLE: SourceTable = {
  object: [
    ["target", "describedObject", "reference", "always"],
    ["metricName", "metric.name", "text", "always"],
    ["currentValue", "current.value", "quantity", "always"],
    ["selector", "metric.selector", "selector"],
    ["averageValue", "current.averageValue", "quantity"],
  ],
  pods: [
    ["metricName", "metric.name", "text", "always"],
    ["currentAverageValue", "current.averageValue", "quantity", "always"],
    ["selector", "metric.selector", "selector"],
  ],
  resource: [
    ["name", "name", "text", "always"],
    ["currentAverageUtilization", "current.averageUtilization", "integer"],
    ["currentAverageValue", "current.averageValue", "quantity", "always"],
  ],
  containerResource: [
    ["name", "name", "text", "always"],
    ["currentAverageUtilization", "current.averageUtilization", "integer"],
    ["currentAverageValue", "current.averageValue", "quantity", "always"],
    ["container", "container", "text", "always"],
  ],
  external: [
    ["metricName", "metric.name", "text", "always"],
    ["metricSelector", "metric.selector", "selector"],
    ["currentValue", "current.value", "quantity", "always"],
    ["currentAverageValue", "current.averageValue", "quantity"],
  ],
};

const ZERO: Readonly<Record<FieldKind, () => Json>> = {
  text: () => "",
  integer: () => 0,
  quantity: () => "0",
  selector: () => ({}),
  reference: () => ({ kind: "", name: "" }),
};

/** A metric of v2 in the form of v1's annotations. Fields that v1 lacks are lost. */
export function toOldMetric(metric: JsonObject, table: SourceTable): JsonObject {
  const out: JsonObject = { type: metric.type ?? "" };
  for (const [source, rows] of Object.entries(table)) {
    const found = metric[source];
    if (!isObject(found)) continue;
    const old: JsonObject = {};
    for (const [name, path, kind, always] of rows) {
      const value = valueAt(found, path);
      if (value !== undefined) old[name] = inOrder(value, kind);
      else if (always) old[name] = ZERO[kind]();
    }
    out[source] = old;
  }
  return out;
}

/** A metric of v1's annotations in the form of v2. Throws AnnotationError if it is malformed. */
export function toNewMetric(metric: Json, table: SourceTable): JsonObject {
  if (!isObject(metric)) throw new AnnotationError("a metric is no object");
  const out: JsonObject = { type: decode(memberOf(metric, "type"), "text") ?? "" };
  for (const [source, rows] of Object.entries(table)) {
    const found = memberOf(metric, source);
    if (found === undefined || found === null) continue;
    if (!isObject(found)) throw new AnnotationError("a source is no object");
    out[source] = toNewSource(found, rows);
    if (table === SPEC_TABLE) setTargetType(source, out[source]);
  }
  return out;
}

function toNewSource(old: JsonObject, rows: readonly FieldRow[]): JsonObject {
  const source: JsonObject = {};
  for (const [name, path, kind, always] of rows) {
    const value = decode(memberOf(old, name), kind) ?? (always && ZERO[kind]());
    if (value !== undefined) write(source, path.split("."), value);
  }
  return source;
}

/** MetricTarget has no `type` in v1; it follows from which of its values are set. */
function setTargetType(source: string, metric: JsonObject): void {
  const target = isObject(metric.target) ? metric.target : {};
  const { value, averageValue, averageUtilization, ...rest } = target;
  let type = averageUtilization === undefined ? "AverageValue" : "Utilization";
  let kept = value;
  if (source === "object") {
    type = averageValue === undefined ? "Value" : "AverageValue";
    // Compat: `targetValue` of v1's ObjectMetricSource is not a pointer, so it is zero next to averageValue, and v2
    // rejects a `value` of zero.
    if (averageValue !== undefined && parseQuantity(String(value)).mantissa === 0n) kept = undefined;
  } else if (source === "external") {
    type = value === undefined ? "AverageValue" : "Value";
  } else if (source === "pods") {
    type = "AverageValue";
  }
  metric.target = {
    type,
    ...(kept === undefined ? {} : { value: kept }),
    ...(averageValue === undefined ? {} : { averageValue }),
    ...(averageUtilization === undefined ? {} : { averageUtilization }),
    ...rest,
  };
}

/** Compat: Go's `encoding/json`, which decodes these annotations, accepts field names in any case. */
export function memberOf(object: JsonObject, name: string): Json | undefined {
  if (Object.hasOwn(object, name)) return object[name];
  const wanted = name.toLowerCase();
  const key = Object.keys(object).find((member) => member.toLowerCase() === wanted);
  return key === undefined ? undefined : object[key];
}

function decode(value: Json | undefined, kind: FieldKind): Json | undefined {
  if (value === undefined || value === null) return undefined;
  switch (kind) {
    case "text":
      if (typeof value === "string") return value;
      break;
    case "integer":
      if (typeof value === "number" && Number.isInteger(value)) return value;
      break;
    case "quantity":
      return decodeQuantity(value);
    case "selector":
      if (isObject(value)) return orderedSelector(value);
      break;
    case "reference":
      if (isObject(value)) return decodeReference(value);
  }
  throw new AnnotationError(`no ${kind}`);
}

function decodeQuantity(value: Json): string {
  try {
    return canonicalQuantity(String(value));
  } catch (error) {
    if (error instanceof QuantityError) throw new AnnotationError(error.message);
    throw error;
  }
}

function decodeReference(value: JsonObject): JsonObject {
  const apiVersion = decode(memberOf(value, "apiVersion"), "text") ?? "";
  return {
    kind: decode(memberOf(value, "kind"), "text") ?? "",
    name: decode(memberOf(value, "name"), "text") ?? "",
    ...(apiVersion === "" ? {} : { apiVersion }),
  };
}

function inOrder(value: Json, kind: FieldKind): Json {
  if (kind === "selector") return orderedSelector(value) ?? {};
  return kind === "reference" && isObject(value) ? decodeReference(value) : value;
}

function valueAt(object: JsonObject, path: string): Json | undefined {
  return path
    .split(".")
    .reduce<Json | undefined>((value, member) => (isObject(value) ? (value[member] ?? undefined) : undefined), object);
}

function write(object: JsonObject, [member = "", ...rest]: readonly string[], value: Json): void {
  if (rest.length === 0) {
    object[member] = value;
    return;
  }
  const inner = object[member];
  const next: JsonObject = isObject(inner) ? inner : {};
  object[member] = next;
  write(next, rest, value);
}
