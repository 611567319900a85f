import {
  duplicateField,
  type FieldError,
  forbiddenField,
  invalidField,
  notSupportedField,
  requiredField,
} from "../../../../base/api/field-error.ts";
import { byteLength, labelValue, qualifiedName } from "../../../../base/api/names.ts";
import { isObject, type JsonObject, type KubeObject } from "../../../../base/api/object.ts";
import { addAll } from "../../../../base/util/add-all.ts";
import type { ResourceHooks } from "../../../../resources/model/definition.ts";
import type { Texts } from "../../../types/meta.ts";
import { pushInvalid } from "../../shared-rules/formats.ts";
import {
  haveBothRangeFamilies,
  parseLooseRange,
  pushRangeErrors,
  rangeWarnings,
} from "../../shared-rules/ip-ranges.ts";
import { roundResourceList } from "../../shared-rules/quantities.ts";
import { pushAmountErrors } from "../../shared-rules/resource-names.ts";

interface Taint extends JsonObject {
  key?: string;
  value?: string;
  effect?: string;
  timeAdded?: string;
}

interface NodeSpec extends JsonObject {
  podCIDR?: string;
  podCIDRs?: string[];
  providerID?: string;
  externalID?: string;
  taints?: Taint[];
}

interface NodeStatus extends JsonObject {
  capacity?: Texts;
  allocatable?: Texts;
  addresses?: JsonObject[];
  declaredFeatures?: string[];
  nodeInfo?: { swap?: { capacity?: number } };
}

const EFFECTS = ["NoSchedule", "PreferNoSchedule", "NoExecute"];

const specOf = (node: KubeObject): NodeSpec => (isObject(node.spec) ? node.spec : {});
const statusOf = (node: KubeObject): NodeStatus => (isObject(node.status) ? node.status : {});

/** Compat: `podCIDR` takes precedence over `podCIDRs`, whose first item it is. */
function alignPodCIDRs(spec: NodeSpec): void {
  const { podCIDR = "", podCIDRs = [] } = spec;
  if (podCIDR !== "" && podCIDR !== podCIDRs[0]) spec.podCIDRs = [podCIDR];
  else if (podCIDRs[0] !== undefined) spec.podCIDR = podCIDRs[0];
}

function taintErrors(taints: readonly Taint[]): FieldError[] {
  const seen = new Set<string>();
  return taints.flatMap(({ key = "", value = "", effect = "", timeAdded = null }, index) => {
    // Compat: errors on `spec.taints` have the path `metadata.taints`: `ValidateNode` passes the path of metadata.
    const path = `metadata.taints[${index}]`;
    const errors: FieldError[] = [];
    pushInvalid(errors, `${path}.key`, key, qualifiedName(key));
    const wrong = labelValue(value);
    if (wrong.length > 0) errors.push(invalidField(`${path}.value`, value, wrong.join(";")));
    if (effect === "") errors.push(requiredField(`${path}.effect`));
    else if (!EFFECTS.includes(effect)) errors.push(notSupportedField(`${path}.effect`, effect, EFFECTS));
    const identity = `${effect}/${key}`;
    if (seen.has(identity)) {
      const shown = duplicateField(path, { Key: key, Value: value, Effect: effect, TimeAdded: timeAdded });
      errors.push({ ...shown, message: `${shown.message}: taints must be unique by key and effect pair` });
    }
    seen.add(identity);
    return errors;
  });
}

function amountErrors({ capacity = {}, allocatable = {} }: NodeStatus): FieldError[] {
  const errors: FieldError[] = [];
  for (const [member, list] of Object.entries({ capacity, allocatable })) {
    for (const [name, amount] of Object.entries(list))
      pushAmountErrors(errors, `status.${member}.${name}`, name, amount);
  }
  return errors;
}

const FEATURE = /^[A-Z][a-zA-Z0-9]*(\/[a-zA-Z][a-zA-Z0-9]*)*$/;

function featureErrors({ declaredFeatures: features = [] }: NodeStatus): FieldError[] {
  return features.flatMap((feature, index) => {
    const errors: FieldError[] = [];
    const name = `invalid feature name ${JSON.stringify(feature)}: must`;
    const rule = `start with an UpperCamelCase segment, with subsequent segments separated by '/' (e.g., MyFeature or MyFeature/mySubFeature), and contain only alphanumeric characters and slashes`;
    const path = "status.declaredFeatures";
    if (byteLength(feature) > 253) {
      errors.push(invalidField(`${path}[${index}]`, feature, `${name} be no more than 253 characters`));
    } else if (!FEATURE.test(feature)) {
      errors.push(invalidField(`${path}[${index}]`, feature, `${name} ${rule}`));
    }
    const next = features[index + 1];
    if (next === feature) errors.push(duplicateField(`${path}[${index + 1}]`, next));
    else if (next !== undefined && next < feature) {
      errors.push(invalidField(`${path}[${index + 1}]`, next, "list must be sorted alphabetically"));
    }
    return errors;
  });
}

function rangeErrors({ podCIDRs = [] }: NodeSpec): FieldError[] {
  const errors: FieldError[] = [];
  for (const [index, range] of podCIDRs.entries()) pushRangeErrors(errors, `spec.podCIDRs[${index}]`, range);
  if (podCIDRs.length < 2) return errors;
  const areBoth = haveBothRangeFamilies(podCIDRs);
  if (areBoth === undefined) {
    const at = podCIDRs.findIndex((range) => parseLooseRange(range) === undefined);
    const problem = `invalid CIDR[${at}]: <nil> (invalid CIDR address: ${podCIDRs[at]})`;
    const message = `Internal error: invalid PodCIDRs. failed to check with dual stack with error:${problem}`;
    errors.push({ type: "InternalError", field: "spec.podCIDRs", message });
  }
  if (!areBoth || podCIDRs.length > 2) {
    const text = "may specify no more than one CIDR for each IP family";
    errors.push(invalidField("spec.podCIDRs", podCIDRs, text));
  }
  return errors;
}

function nodeErrors(node: KubeObject): FieldError[] {
  const spec = specOf(node);
  const status = statusOf(node);
  const errors = [...taintErrors(spec.taints ?? []), ...amountErrors(status)];
  const swap = status.nodeInfo?.swap?.capacity;
  if (swap !== undefined && swap <= 0) {
    errors.push(invalidField("metadata.nodeSwapStatus.capacity", swap, "must be greater than zero"));
  }
  return [...errors, ...featureErrors(status), ...rangeErrors(spec)];
}

function changeErrors(next: KubeObject, previous: KubeObject): FieldError[] {
  const status = statusOf(next);
  const [spec, old] = [specOf(next), specOf(previous)];
  const errors = [...amountErrors(status), ...featureErrors(status)];
  const seen = new Set<string>();
  for (const [index, { type = "", address = "" }] of (status.addresses ?? []).entries()) {
    const identity = `${type}/${address}`;
    const shown = { Type: type, Address: address };
    if (seen.has(identity)) errors.push(duplicateField(`status.addresses[${index}]`, shown));
    seen.add(identity);
  }
  const { podCIDRs: oldRanges = [] } = old;
  const { podCIDRs: ranges = [] } = spec;
  if (oldRanges.length > 0 && (oldRanges.length !== ranges.length || oldRanges.some((one, at) => one !== ranges[at]))) {
    const text = 'node updates may not change podCIDR except from "" to valid';
    errors.push(forbiddenField("spec.podCIDRs", text));
  }
  if (old.providerID && spec.providerID !== old.providerID) {
    const text = spec.providerID ? "field cannot be modified once set" : "field cannot be cleared once set";
    errors.push(invalidField("spec.providerID", null, text));
  }
  addAll(errors, taintErrors(spec.taints ?? []));
  if ((spec.externalID ?? "") !== (old.externalID ?? "")) {
    errors.push(forbiddenField("spec.externalID", "may not be updated"));
  }
  return errors;
}

/** Node: a machine that runs pods. */
export const nodeHooks: ResourceHooks = {
  setDefaults(node) {
    alignPodCIDRs(specOf(node));
    const status = statusOf(node);
    roundResourceList(status.capacity);
    roundResourceList(status.allocatable);
    if (status.capacity && Object.keys(status.allocatable ?? {}).length === 0) {
      status.allocatable = { ...status.capacity };
    }
  },
  prepare(next, previous, { subresource, features }) {
    const spec = specOf(next);
    if (subresource === "") {
      if (!previous || specOf(previous).configSource === undefined) delete spec.configSource;
      const isGated = !features.enabled("InPlacePodVerticalScalingSchedulerPreemption");
      if (isGated && (!previous || specOf(previous).podPreemptionPolicy === undefined)) delete spec.podPreemptionPolicy;
    }
    if (!previous || statusOf(previous).config === undefined) delete statusOf(next).config;
  },
  validate(next, previous, { subresource }) {
    const errors = subresource === "status" ? [] : nodeErrors(next);
    return previous ? [...errors, ...changeErrors(next, previous)] : errors;
  },
  warn(next, _previous, { subresource }) {
    if (subresource === "status") return [];
    const { externalID = "", podCIDRs = [] } = specOf(next);
    const text = "spec.externalID: this field is deprecated, and is unused by Kubernetes";
    return [
      ...(externalID === "" ? [] : [text]),
      ...podCIDRs.flatMap((range, index) => rangeWarnings(`spec.podCIDRs[${index}]`, range)),
    ];
  },
};
