import { isObject, type JsonObject, type KubeObject } from "../../../base/api/object.ts";
import { cloneJson } from "../../../base/util/clone.ts";
import type { ResourceHooks } from "../../../resources/model/definition.ts";
import { validateAutoscaler, validateAutoscalerStatus } from "./autoscaler-validation.ts";
import { convertAutoscaler, DEFAULT_UTILIZATION, processorMetric, withoutOwnAnnotations } from "./conversion.ts";

const SCALE_UP: JsonObject = {
  stabilizationWindowSeconds: 0,
  selectPolicy: "Max",
  policies: [
    { type: "Pods", value: 4, periodSeconds: 15 },
    { type: "Percent", value: 100, periodSeconds: 15 },
  ],
};
const SCALE_DOWN: JsonObject = { selectPolicy: "Max", policies: [{ type: "Percent", value: 100, periodSeconds: 15 }] };

/** Sets defaults of `spec.behavior` and `spec.metrics`, which only v2 has. Changes `autoscaler`. */
function setNewDefaults(autoscaler: KubeObject): void {
  const { spec } = autoscaler;
  if (!isObject(spec)) return;
  if (!Array.isArray(spec.metrics) || spec.metrics.length === 0) spec.metrics = [processorMetric(DEFAULT_UTILIZATION)];
  if (!isObject(spec.behavior)) return;
  const { scaleUp, scaleDown } = spec.behavior;
  spec.behavior = { scaleUp: withDefaults(scaleUp, SCALE_UP), scaleDown: withDefaults(scaleDown, SCALE_DOWN) };
}

function withDefaults(rules: JsonObject[string], defaults: JsonObject): JsonObject {
  return { ...cloneJson(defaults), ...(isObject(rules) ? rules : {}) };
}

/** HorizontalPodAutoscaler: sets the replicas of a scale target by metrics. Stored as v2. */
export const autoscalerHooks: ResourceHooks = {
  setDefaults(autoscaler, apiVersion) {
    if (apiVersion === "autoscaling/v1") {
      // Compat: defaults set by the conversion to the stored v2 and back to v1 also belong to the writer in
      // managedFields.
      Object.assign(autoscaler, convertAutoscaler(convertAutoscaler(autoscaler, "autoscaling/v2"), apiVersion));
      return;
    }
    autoscaler.metadata = withoutOwnAnnotations(autoscaler.metadata);
    setNewDefaults(autoscaler);
  },
  prepare(next, _previous, { apiVersion }) {
    // Fields from annotations of v1 are only complete now.
    if (apiVersion === "autoscaling/v1") setNewDefaults(next);
  },
  validate: (next, previous, { subresource }) =>
    subresource === "status" ? validateAutoscalerStatus(next) : validateAutoscaler(next, previous),
  convert: convertAutoscaler,
};
