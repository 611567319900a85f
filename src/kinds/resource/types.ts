import type { JsonObject, ObjectMeta } from "../../api/object.ts";
import type { Texts } from "../../types/meta.ts";
import type { NodeSelector } from "../../types/pod.ts";
import type { Condition } from "../rules/conditions.ts";

/** A condition on devices. */
export interface DeviceSelector extends JsonObject {
  cel?: { expression?: string };
}

/** Which taints of devices are put up with. */
export interface DeviceToleration extends JsonObject {
  key?: string;
  operator?: string;
  value?: string;
  effect?: string;
}

/** What one kind of device is asked for. */
export interface ExactRequest extends JsonObject {
  deviceClassName?: string;
  selectors?: DeviceSelector[];
  allocationMode?: string;
  count?: number;
  adminAccess?: boolean;
  tolerations?: DeviceToleration[];
}

/** One of several ways to fulfil a request. */
export interface SubRequest extends ExactRequest {
  name?: string;
}

/** One thing that a claim asks for: exactly something, or the first of several that there is. */
export interface DeviceRequest extends JsonObject {
  name?: string;
  exactly?: ExactRequest;
  firstAvailable?: SubRequest[];
}

/** What devices must have in common, or not. */
export interface DeviceConstraint extends JsonObject {
  requests?: string[];
  matchAttribute?: string;
  distinctAttribute?: string;
}

/** Something that only one driver understands. */
export interface DeviceConfiguration extends JsonObject {
  requests?: string[];
  opaque?: JsonObject;
}

/** What a claim asks for. */
export interface ClaimSpec extends JsonObject {
  devices?: {
    requests?: DeviceRequest[] | null;
    constraints?: DeviceConstraint[];
    config?: DeviceConfiguration[];
  };
}

/** What claims that are made from a template look like. */
export interface TemplateSpec extends JsonObject {
  metadata?: ObjectMeta;
  spec?: ClaimSpec;
}

/** One device that a claim got. */
export interface AllocationResult extends JsonObject {
  request?: string;
  driver?: string;
  pool?: string;
  device?: string;
  adminAccess?: boolean;
  shareID?: string;
  tolerations?: DeviceToleration[];
  bindingConditions?: string[];
  bindingFailureConditions?: string[];
}

/** What a driver says about a device of a claim. */
export interface DeviceStatus extends JsonObject {
  driver?: string;
  pool?: string;
  device?: string;
  shareID?: string;
  conditions?: Condition[] | null;
  networkData?: { ips?: string[] };
}

/** What a claim got, and who uses it. */
export interface ClaimStatus extends JsonObject {
  allocation?: {
    devices?: { results?: AllocationResult[]; config?: DeviceConfiguration[] };
    nodeSelector?: NodeSelector;
  };
  reservedFor?: { resource?: string; name?: string; uid?: string }[];
  devices?: DeviceStatus[];
}

/** Why a device should not be used. */
export interface DeviceTaint extends JsonObject {
  key?: string;
  value?: string;
  effect?: string;
  timeAdded?: string;
}

/** A property of a device. */
export interface DeviceAttribute extends JsonObject {
  string?: string;
  version?: string;
}

/** Which parts of a capacity may be asked for. */
export interface RequestPolicy extends JsonObject {
  default?: string | null;
  validValues?: string[];
  validRange?: { min?: string; max?: string; step?: string };
}

/** How much of something a device has. */
export interface DeviceCapacity extends JsonObject {
  value?: string;
  requestPolicy?: RequestPolicy;
}

/** What a device takes from what it shares with others. */
export interface CounterConsumption extends JsonObject {
  counterSet?: string;
  counters?: JsonObject;
  compatibilityGroups?: string[];
}

/** Where something can be used. */
export interface Placement extends JsonObject {
  nodeName?: string;
  nodeSelector?: NodeSelector;
  allNodes?: boolean;
}

/** A device that can be asked for. */
export interface Device extends Placement {
  name?: string;
  attributes?: Record<string, DeviceAttribute>;
  capacity?: Record<string, DeviceCapacity>;
  consumesCounters?: CounterConsumption[];
  taints?: DeviceTaint[];
  bindingConditions?: string[];
  bindingFailureConditions?: string[];
  allowMultipleAllocations?: boolean;
}

/** Some of the devices of a pool. */
export interface SliceSpec extends Placement {
  driver?: string;
  pool?: { name?: string; generation?: number; resourceSliceCount?: number };
  perDeviceNodeSelection?: boolean;
  devices?: Device[];
  sharedCounters?: { name?: string; counters?: Texts }[];
}
