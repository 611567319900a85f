import type { FeatureGateName, FeatureGates } from "../../../base/api/feature-gates.ts";
import {
  type FieldError,
  invalidField,
  requiredField,
  tooLongField,
  tooManyField,
} from "../../../base/api/field-error.ts";
import { byteLength, labelValue, qualifiedName } from "../../../base/api/names.ts";
import { isObject, type Json, type KubeObject } from "../../../base/api/object.ts";
import { addAll } from "../../../base/util/add-all.ts";
import { seenBefore } from "../../../base/util/seen-before.ts";
import { findSemanticVersion } from "../../../base/util/semver.ts";
import type { ResourceHooks } from "../../../resources/model/definition.ts";
import { validateNodeSelector } from "../core/pod/affinity-validation.ts";
import { declaredHook } from "../shared-rules/declared.ts";
import { asSent } from "../shared-rules/empties.ts";
import { subdomainName } from "../shared-rules/formats.ts";
import { asGo, type GoShape } from "../shared-rules/go-print.ts";
import { immutable, sameValue } from "../shared-rules/immutable.ts";
import { capacityErrors } from "./capacity-policy.ts";
import { bindingErrors } from "./claim-status.ts";
import { convertResource } from "./conversion.ts";
import { resourceRules } from "./declared-rules.ts";
import { setSliceDefaults } from "./defaults.ts";
import { attributeNameErrors, driverErrors, labelErrors, poolErrors } from "./device-names.ts";
import type { Device, DeviceAttribute, DeviceTaint, Placement, SliceSpec } from "./types.ts";

const MAX_DEVICES = 128;
const MAX_SPECIAL_DEVICES = 64;
const MAX_PROPERTIES = 32;
const MAX_ATTRIBUTES = 48;
const MAX_COUNTERS = 32;
const MAX_COUNTER_SETS = 8;
const MAX_CONSUMPTIONS = 2;
const MAX_TAINTS = 16;
const MAX_VALUE = 64;
const MAX_SHOWN_KEY = 96;
/** Fields of DeviceAttribute that need the feature gate DRAListTypeAttributes. */
const LIST_ATTRIBUTES = ["bools", "ints", "strings", "versions"];

const REQUIREMENT: GoShape = [
  ["Key", "key", ""],
  ["Operator", "operator", ""],
  ["Values", "values"],
];
const TERM: GoShape = [
  ["MatchExpressions", "matchExpressions", null, REQUIREMENT],
  ["MatchFields", "matchFields", null, REQUIREMENT],
];

const declaredErrors = declaredHook(
  resourceRules,
  (version) => `io.k8s.api.resource.${version}.ResourceSlice`,
  convertResource,
);

const specOf = ({ spec }: KubeObject) => (isObject(spec) ? spec : {}) as SliceSpec;

/** Upstream: `dropDisabledFields` of the ResourceSlice strategy. */
function dropDisabled(spec: SliceSpec, features: FeatureGates): void {
  const isOff = (gate: FeatureGateName) => !features.enabled(gate);
  if (isOff("DRAPartitionableDevicesType")) delete spec.partitionTypeAttribute;
  if (isOff("DRAOptionalNodeOperations")) delete spec.skipNodeOperations;
  for (const device of spec.devices ?? []) {
    if (isOff("DRANodeAllocatableResources")) delete device.nodeAllocatableResources;
    if (isOff("DRADeviceCompatibilityGroups")) {
      for (const consumption of device.consumesCounters ?? []) delete consumption.compatibilityGroups;
    }
    if (!isOff("DRAListTypeAttributes")) continue;
    for (const attribute of Object.values(device.attributes ?? {})) {
      for (const member of LIST_ATTRIBUTES) delete attribute[member];
    }
  }
}

function nodeNameErrors(name: string, path: string): FieldError[] {
  return subdomainName(name).map((text) => invalidField(path, name, text));
}

/** A key of a map as shown in paths. Upstream: `truncateIfTooLong`. */
function shownKey(key: string): string {
  if (byteLength(key) <= MAX_SHOWN_KEY) return key;
  const rest = MAX_SHOWN_KEY - 3;
  return `${key.slice(0, Math.ceil(rest / 2))}...${key.slice(key.length - Math.floor(rest / 2))}`;
}

const ATTRIBUTE: GoShape = [
  ["IntValue", "int"],
  ["BoolValue", "bool"],
  ["StringValue", "string"],
  ["VersionValue", "version"],
  ["IntValues", "ints"],
  ["BoolValues", "bools"],
  ["StringValues", "strings"],
  ["VersionValues", "versions"],
];

/**
 * Compat: with `truncateIfTooLong` a long attribute key has another path than in declarative validation, so "exactly
 * one value must be specified" is reported twice.
 */
function attributeCountErrors({ int, bool, string, version }: DeviceAttribute, path: string): FieldError[] {
  const count = [int, bool, string, version].filter((value) => value !== undefined).length;
  if (count === 1) return [];
  const shown = count === 0 ? "" : asGo({ int, bool, string, version }, ATTRIBUTE);
  return [invalidField(path, shown, "exactly one value must be specified")];
}

function attributeErrors({ string, version }: DeviceAttribute, path: string): FieldError[] {
  const errors: FieldError[] = [];
  if (byteLength(string ?? "") > MAX_VALUE) errors.push(tooLongField(`${path}.string`, MAX_VALUE));
  if (version === undefined) return errors;
  if (!findSemanticVersion(version)) {
    const text = "must be a string compatible with semver.org spec 2.0.0";
    errors.push(invalidField(`${path}.version`, version, text));
  }
  if (byteLength(version) > MAX_VALUE) errors.push(tooLongField(`${path}.version`, MAX_VALUE));
  return errors;
}

/** Validates a DeviceTaint, except its effect. */
export function taintErrors({ key = "", value = "" }: DeviceTaint, path: string): FieldError[] {
  return [
    ...qualifiedName(key).map((text) => invalidField(`${path}.key`, key, text)),
    ...labelValue(value).map((text) => invalidField(`${path}.value`, value, text)),
  ];
}

const ONE_PLACE =
  "exactly one of `nodeName`, `nodeSelector`, or `allNodes` is required when `perDeviceNodeSelection` is set to true in the ResourceSlice spec";

function devicePlaceErrors(device: Device, path: string, isPerDevice: boolean): FieldError[] {
  const { nodeName, nodeSelector, allNodes } = device;
  const isPlaced = nodeName !== undefined || nodeSelector !== undefined || allNodes !== undefined;
  if (!isPerDevice) {
    const text =
      "`nodeName`, `nodeSelector` and `allNodes` can only be set if `perDeviceNodeSelection` is set to true in the ResourceSlice spec";
    return isPlaced ? [invalidField(path, null, text)] : [];
  }
  const { errors, set } = placeErrors(device, path, "must not be empty");
  if (set.length === 0) errors.push(requiredField(path, ONE_PLACE));
  if (set.length > 1) errors.push(invalidField(path, `{${set.join(", ")}}`, ONE_PLACE));
  return errors;
}

/** Validates `nodeName`, `nodeSelector` and `allNodes`, exactly one of which defines where devices can be used. */
function placeErrors({ nodeName, nodeSelector, allNodes }: Placement, path: string, emptyName: string) {
  const errors: FieldError[] = [];
  const set: string[] = [];
  if (nodeName === "") errors.push(invalidField(`${path}.nodeName`, "", emptyName));
  else if (nodeName !== undefined) {
    set.push("`nodeName`");
    addAll(errors, nodeNameErrors(nodeName, `${path}.nodeName`));
  }
  if (nodeSelector) {
    set.push("`nodeSelector`");
    validateNodeSelector(errors, nodeSelector, `${path}.nodeSelector`);
  }
  if (allNodes) set.push("`allNodes`");
  return { errors: [...errors, ...orTrueErrors(allNodes, `${path}.allNodes`)], set };
}

function orTrueErrors(value: boolean | undefined, path: string): FieldError[] {
  return value === false ? [invalidField(path, false, "must be either unset or set to true")] : [];
}

function deviceErrors(device: Device, old: Device | undefined, path: string, isPerDevice: boolean): FieldError[] {
  const { name = "", attributes = {}, capacity = {}, taints = [], consumesCounters = [] } = device;
  const errors = labelErrors(name, `${path}.name`);
  const limit = (count: number, most: number, what: string) => {
    if (count > most) errors.push(invalidField(path, count, `the total number of ${what} must not exceed ${most}`));
  };
  const attributeCount = Object.keys(attributes).length;
  limit(attributeCount + Object.keys(capacity).length, MAX_PROPERTIES, "attributes and capacities");
  limit(attributeCount, MAX_ATTRIBUTES, "attribute values");
  for (const [key, attribute] of Object.entries(attributes)) {
    addAll(errors, attributeNameErrors(key, `${path}.attributes`));
    const shown = shownKey(key);
    addAll(errors, attributeErrors(attribute, `${path}.attributes[${shown}]`));
    if (shown !== key) addAll(errors, attributeCountErrors(attribute, `${path}.attributes[${shown}]`));
  }
  for (const [key, amount] of old && sameValue(old.capacity, device.capacity) ? [] : Object.entries(capacity)) {
    addAll(errors, attributeNameErrors(key, `${path}.capacity`));
    const isShared = device.allowMultipleAllocations === true;
    addAll(errors, capacityErrors(amount, `${path}.capacity[${shownKey(key)}]`, isShared));
  }
  if (!old || !sameValue(old.taints, device.taints)) {
    if (taints.length > MAX_TAINTS) errors.push(tooManyField(`${path}.taints`, taints.length, MAX_TAINTS));
    else
      addAll(
        errors,
        taints.flatMap((taint, index) => taintErrors(taint, `${path}.taints[${index}]`)),
      );
  }
  if (consumesCounters.length <= MAX_CONSUMPTIONS) {
    addAll(errors, counterErrors(consumesCounters, `${path}.consumesCounters`));
  }
  addAll(errors, devicePlaceErrors(device, path, isPerDevice));
  return [...errors, ...bindingErrors(device, path)];
}

function counterErrors(sets: readonly { readonly counters?: object }[], path: string): FieldError[] {
  return sets.flatMap(({ counters = {} }, index) => {
    const count = Object.keys(counters).length;
    return count > MAX_COUNTERS ? [tooManyField(`${path}[${index}].counters`, count, MAX_COUNTERS)] : [];
  });
}

function devicesErrors(spec: SliceSpec, old: SliceSpec | undefined): FieldError[] {
  const { devices = [] } = spec;
  const isSpecial = devices.some(
    ({ taints = [], consumesCounters = [] }) => taints.length > 0 || consumesCounters.length > 0,
  );
  const most = isSpecial ? MAX_SPECIAL_DEVICES : MAX_DEVICES;
  if (devices.length > most) return [tooManyField("spec.devices", devices.length, most)];
  const errors = devices.flatMap((device, index) => {
    const before = old?.devices?.find(({ name }) => name === device.name);
    return deviceErrors(device, before, `spec.devices[${index}]`, spec.perDeviceNodeSelection === true);
  });
  const isSecond = seenBefore<string>();
  for (const [index, { name = "" }] of devices.entries()) {
    if (isSecond(name)) {
      const message = `Duplicate value: ${JSON.stringify(name)}`;
      errors.push({ type: "FieldValueDuplicate", field: `spec.devices[${index}]`, message });
    }
  }
  return errors;
}

function poolPartErrors({ name = "", resourceSliceCount = 0, generation = 0 }: NonNullable<SliceSpec["pool"]>) {
  const errors = poolErrors(name, "spec.pool.name");
  if (resourceSliceCount <= 0) {
    errors.push(invalidField("spec.pool.resourceSliceCount", resourceSliceCount, "must be greater than zero"));
  }
  if (generation < 0) {
    errors.push(invalidField("spec.pool.generation", generation, "must be greater than or equal to zero"));
  }
  return errors;
}

function slicePlaceErrors(spec: SliceSpec): FieldError[] {
  const { nodeSelector, perDeviceNodeSelection } = spec;
  const emptyName = "must be either unset or set to a non-empty string";
  const { errors, set } = placeErrors({ ...spec, allNodes: undefined }, "spec", emptyName);
  const terms = nodeSelector?.nodeSelectorTerms ?? [];
  if (nodeSelector && terms.length !== 1) {
    const shown = asGo(nodeSelector.nodeSelectorTerms as Json | undefined, TERM);
    const path = "spec.nodeSelector.nodeSelectorTerms";
    errors.push(invalidField(path, shown, "must have exactly one node selector term"));
  }
  if (spec.allNodes) set.push("`allNodes`");
  addAll(errors, orTrueErrors(spec.allNodes, "spec.allNodes"));
  if (perDeviceNodeSelection) set.push("`perDeviceNodeSelection`");
  addAll(errors, orTrueErrors(perDeviceNodeSelection, "spec.perDeviceNodeSelection"));
  const rule = "exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required";
  if (set.length === 0) errors.push(requiredField("spec", rule));
  if (set.length > 1) {
    errors.push(invalidField("spec", `{${set.join(", ")}}`, `${rule}, but multiple fields are set`));
  }
  return errors;
}

function specErrors(spec: SliceSpec, old: SliceSpec | undefined): FieldError[] {
  const { driver = "", pool = {}, sharedCounters } = spec;
  const errors = [...driverErrors(driver, "spec.driver"), ...poolPartErrors(pool)];
  if (old) {
    addAll(errors, immutable(pool.name ?? "", old.pool?.name ?? "", "spec.pool.name"));
    addAll(errors, immutable(driver, old.driver ?? "", "spec.driver"));
    addAll(errors, immutable(spec.nodeName, old.nodeName, "spec.nodeName"));
  }
  addAll(errors, slicePlaceErrors(spec));
  if (sharedCounters && spec.devices) {
    errors.push(invalidField("spec", "", "only one of `sharedCounters` or `devices` is allowed"));
  }
  addAll(errors, devicesErrors(spec, old));
  const sets = sharedCounters ?? [];
  return sets.length > MAX_COUNTER_SETS ? errors : [...errors, ...counterErrors(sets, "spec.sharedCounters")];
}

/** ResourceSlice: some of the devices of a pool, as published by a driver. */
export const resourceSliceHooks: ResourceHooks = {
  convert: convertResource,
  setDefaults: setSliceDefaults,
  prepare(next, previous, { features }) {
    // Compat: `metadata.generation` also counts changes of fields that `dropDisabledFields` removes afterwards.
    if (previous && !sameValue(next.spec, previous.spec)) {
      next.metadata.generation = (previous.metadata.generation ?? 0) + 1;
    }
    dropDisabled(specOf(next), features);
  },
  validate: (next, previous, context) => [
    ...specErrors(specOf(asSent(next, context)), previous && specOf(previous)),
    ...declaredErrors(next, previous, context),
  ],
  warn(next) {
    const { driver = "" } = specOf(next);
    if (driver === driver.toLowerCase()) return [];
    const shown = JSON.stringify(driver);
    return [`spec.driver: driver names should be lowercase; ${shown} contains uppercase characters`];
  },
};
