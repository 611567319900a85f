import { type FieldError, invalidField, requiredField } from "../../../base/api/field-error.ts";
import { byteLength, qualifiedName } from "../../../base/api/names.ts";
import { isObject, type Json, type JsonObject, type KubeObject } from "../../../base/api/object.ts";
import { addAll } from "../../../base/util/add-all.ts";
import type { ResourceHooks } from "../../../resources/model/definition.ts";
import { pushInvalid } from "../shared-rules/formats.ts";
import { asGo, type GoShape } from "../shared-rules/go-print.ts";
import { immutable, sameValue } from "../shared-rules/immutable.ts";
import { convertEvent } from "./event-conversion.ts";

const CORE = "v1";
const MAX_TEXT = 128;
const MAX_MESSAGE = 1024;

const REFERENCE: GoShape = [
  ["Kind", "kind", ""],
  ["Namespace", "namespace", ""],
  ["Name", "name", ""],
  ["UID", "uid", ""],
  ["APIVersion", "apiVersion", ""],
  ["ResourceVersion", "resourceVersion", ""],
  ["FieldPath", "fieldPath", ""],
];
const SOURCE: GoShape = [
  ["Component", "component", ""],
  ["Host", "host", ""],
];

const textOf = (value: Json | undefined): string => (typeof value === "string" ? value : "");
const objectOf = (value: Json | undefined): JsonObject => (isObject(value) ? value : {});

/**
 * Validates any Event. One with `eventTime` also needs `reportingController`, `reportingInstance`, `action` and
 * `reason`.
 */
function commonErrors(event: KubeObject, controllerField: string): FieldError[] {
  const { namespace: own = "" } = event.metadata;
  const namespace = textOf(objectOf(event.involvedObject).namespace);
  const path = "involvedObject.namespace";
  const mismatch = invalidField(path, namespace, "does not match event.namespace");
  if (!event.eventTime) {
    const isRight = namespace === "" ? own === "" || own === "default" : namespace === own;
    return isRight ? [] : [mismatch];
  }
  const errors = namespace === "" && own !== "default" && own !== "kube-system" ? [mismatch] : [];
  const controller = textOf(event.reportingComponent);
  if (controller === "") errors.push(requiredField(controllerField));
  pushInvalid(errors, controllerField, controller, qualifiedName(controller));
  for (const member of ["reportingInstance", "action", "reason"]) {
    const text = textOf(event[member]);
    if (text === "") errors.push(requiredField(member));
    if (byteLength(text) > MAX_TEXT) errors.push(invalidField(member, "", `can have at most ${MAX_TEXT} characters`));
  }
  if (byteLength(textOf(event.message)) > MAX_MESSAGE) {
    errors.push(invalidField("message", "", `can have at most ${MAX_MESSAGE} characters`));
  }
  return errors;
}

function seriesErrors({ series }: KubeObject): FieldError[] {
  if (!isObject(series)) return [];
  const errors: FieldError[] = [];
  if (Number(series.count ?? 0) < 2) errors.push(invalidField("series.count", "", "should be at least 2"));
  if (!series.lastObservedTime) errors.push(requiredField("series.lastObservedTime"));
  return errors;
}

/** Validates an Event that is created through events.k8s.io/v1. */
function newErrors(event: KubeObject): FieldError[] {
  const errors = seriesErrors(event);
  if (!event.eventTime) errors.push(requiredField("eventTime"));
  const type = textOf(event.type);
  if (type !== "Normal" && type !== "Warning") errors.push(invalidField("type", "", `has invalid value: ${type}`));
  for (const member of ["firstTimestamp", "lastTimestamp", "count"]) {
    if (event[member]) errors.push(invalidField(member, "", "needs to be unset"));
  }
  const source = objectOf(event.source);
  if (source.component || source.host) errors.push(invalidField("source", "", "needs to be unset"));
  return errors;
}

/** Rejects changes by updates through events.k8s.io/v1, except of metadata and `series`. */
function changeErrors(next: KubeObject, previous: KubeObject): FieldError[] {
  const errors = sameValue(next.series, previous.series) ? [] : seriesErrors(next);
  const fixed = (member: string, absent: Json, shape?: GoShape, shown = member) => {
    const print = (value: Json | undefined) => (shape ? asGo(value, shape) : (value ?? absent));
    addAll(errors, immutable(next[member] ?? absent, previous[member] ?? absent, shown, print));
  };
  fixed("involvedObject", {}, REFERENCE);
  for (const member of ["reason", "message"]) fixed(member, "");
  fixed("source", {}, SOURCE);
  fixed("firstTimestamp", null);
  fixed("lastTimestamp", null);
  fixed("count", 0);
  fixed("type", "");
  fixed("eventTime", null);
  fixed("action", "");
  fixed("related", null, REFERENCE);
  fixed("reportingComponent", "", undefined, "reportingController");
  fixed("reportingInstance", "");
  return errors;
}

/** Event: validation is stricter in events.k8s.io/v1 than in v1. */
export const eventHooks: ResourceHooks = {
  convert: convertEvent,
  validate(next, previous, { apiVersion }) {
    if (apiVersion === CORE) return commonErrors(next, "reportingComponent");
    const errors = commonErrors(next, "reportingController");
    return [...errors, ...(previous ? changeErrors(next, previous) : newErrors(next))];
  },
};
