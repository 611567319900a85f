import { type FieldError, tooManyField } from "../../../base/api/field-error.ts";
import { isObject, type Json, type JsonObject, type KubeObject } from "../../../base/api/object.ts";
import type { ResourceHooks } from "../../../resources/model/definition.ts";
import { printTime } from "../../../resources/write/metadata.ts";
import { validateConditions } from "../shared-rules/conditions.ts";
import { declaredHook } from "../shared-rules/declared.ts";
import { immutable } from "../shared-rules/immutable.ts";
import { resourceRules } from "./declared-rules.ts";
import { setTaintTime } from "./defaults.ts";
import { driverErrors, labelErrors, poolErrors } from "./device-names.ts";
import { taintErrors } from "./slices.ts";
import type { DeviceTaint } from "./types.ts";

interface TaintRuleSpec extends JsonObject {
  deviceSelector?: { driver?: string; pool?: string; device?: string };
  taint?: DeviceTaint;
}

const MAX_CONDITIONS = 8;
const DEFAULT_LIMIT = 100;

const specOf = ({ spec }: KubeObject) => (isObject(spec) ? spec : {}) as TaintRuleSpec;
const statusOf = ({ status }: KubeObject) => (isObject(status) ? status : {}) as { conditions?: Json[] };

const taintRuleDeclared = declaredHook(resourceRules, (version) => `io.k8s.api.resource.${version}.DeviceTaintRule`);

function specErrors({ deviceSelector: { driver, pool, device } = {}, taint = {} }: TaintRuleSpec): FieldError[] {
  const path = "spec.deviceSelector";
  return [
    ...(driver === undefined ? [] : driverErrors(driver, `${path}.driver`)),
    ...(pool === undefined ? [] : poolErrors(pool, `${path}.pool`)),
    ...(device === undefined ? [] : labelErrors(device, `${path}.device`)),
    ...taintErrors(taint, "spec.taint"),
  ];
}

/** DeviceTaintRule: a DeviceTaint on all devices that the rule selects. */
export const deviceTaintRuleHooks: ResourceHooks = {
  setDefaults: ({ spec }, _apiVersion, context) => setTaintTime(isObject(spec) ? spec.taint : undefined, context),
  prepare(next, previous, { subresource, now }) {
    const [taint, before] = [specOf(next).taint, previous && specOf(previous).taint];
    if (subresource !== "" || !taint || !before) return;
    const keepsTime = taint.timeAdded === before.timeAdded;
    if (keepsTime && (taint.effect ?? "") !== (before.effect ?? "")) taint.timeAdded = printTime(now);
  },
  validate(next, previous, context) {
    if (previous && context.subresource === "status") {
      const { conditions = [] } = statusOf(next);
      const errors = validateConditions(conditions, "status.conditions");
      if (conditions.length > MAX_CONDITIONS) {
        errors.push(tooManyField("status.conditions", conditions.length, MAX_CONDITIONS));
      }
      return errors;
    }
    return [...specErrors(specOf(next)), ...taintRuleDeclared(next, previous, context)];
  },
};

const poolStatusDeclared = declaredHook(
  resourceRules,
  (version) => `io.k8s.api.resource.${version}.ResourcePoolStatusRequest`,
);

/** ResourcePoolStatusRequest: a request for the status of resource pools, answered once in its status. */
export const poolStatusRequestHooks: ResourceHooks = {
  setDefaults({ spec }) {
    if (isObject(spec)) spec.limit ??= DEFAULT_LIMIT;
  },
  prepare(next, _previous, { features }) {
    if (features.enabled("DRAPartitionableDevicesType")) return;
    if (isObject(next.spec)) delete next.spec.defaultPartitionTypeAttribute;
  },
  validate(next, previous, context) {
    const declared = poolStatusDeclared(next, previous, context);
    if (!previous || context.subresource !== "status") return declared;
    if (previous.status !== undefined) return [...immutable(next.status, previous.status, "status"), ...declared];
    return [...validateConditions(statusOf(next).conditions, "status.conditions"), ...declared];
  },
};
