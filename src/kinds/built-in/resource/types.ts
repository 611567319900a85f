import type { JsonObject, ObjectMeta } from "../../../base/api/object.ts";
import type { Texts } from "../../types/meta.ts";
import type { NodeSelector } from "../../types/pod.ts";
import type { Condition } from "../shared-rules/conditions.ts";

/** DeviceSelector of resource.k8s.io: a CEL expression. */
export interface DeviceSelector extends JsonObject {
  cel?: { expression?: string };
}

/** DeviceToleration of resource.k8s.io. */
export interface DeviceToleration extends JsonObject {
  key?: string;
  operator?: string;
  value?: string;
  effect?: string;
  tolerationSeconds?: number;
}

/** ExactDeviceRequest of resource.k8s.io. */
export interface ExactRequest extends JsonObject {
  deviceClassName?: string;
  selectors?: DeviceSelector[];
  allocationMode?: string;
  count?: number;
  adminAccess?: boolean;
  tolerations?: DeviceToleration[];
}

/** DeviceSubRequest of resource.k8s.io: one of several alternatives of a request. */
export interface SubRequest extends ExactRequest {
  name?: string;
}

/** DeviceRequest of resource.k8s.io: `exactly` one request, or the `firstAvailable` of several. */
export interface DeviceRequest extends JsonObject {
  name?: string;
  exactly?: ExactRequest;
  firstAvailable?: SubRequest[];
}

/** DeviceConstraint of resource.k8s.io. */
export interface DeviceConstraint extends JsonObject {
  requests?: string[];
  matchAttribute?: string;
  distinctAttribute?: string;
}

/** DeviceConfiguration of resource.k8s.io: opaque parameters for one driver. */
export interface DeviceConfiguration extends JsonObject {
  requests?: string[];
  opaque?: JsonObject;
}

/** ResourceClaimSpec of resource.k8s.io. */
export interface ClaimSpec extends JsonObject {
  devices?: {
    requests?: DeviceRequest[] | null;
    constraints?: DeviceConstraint[];
    config?: DeviceConfiguration[];
  };
}

/** ResourceClaimTemplateSpec of resource.k8s.io. */
export interface TemplateSpec extends JsonObject {
  metadata?: ObjectMeta;
  spec?: ClaimSpec;
}

/** DeviceRequestAllocationResult of resource.k8s.io: one device allocated to a claim. */
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

/** AllocatedDeviceStatus of resource.k8s.io: a driver's status of an allocated device. */
export interface DeviceStatus extends JsonObject {
  driver?: string;
  pool?: string;
  device?: string;
  shareID?: string;
  conditions?: Condition[] | null;
  networkData?: { ips?: string[] };
}

/** ResourceClaimStatus of resource.k8s.io: the allocation, and its reservations. */
export interface ClaimStatus extends JsonObject {
  allocation?: {
    devices?: { results?: AllocationResult[]; config?: DeviceConfiguration[] };
    nodeSelector?: NodeSelector;
    allocationTimestamp?: string;
  };
  reservedFor?: { apiGroup?: string; resource?: string; name?: string; uid?: string }[];
  devices?: DeviceStatus[];
}

/** DeviceTaint of resource.k8s.io. */
export interface DeviceTaint extends JsonObject {
  key?: string;
  value?: string;
  effect?: string;
  timeAdded?: string;
}

/** DeviceAttribute of resource.k8s.io. */
export interface DeviceAttribute extends JsonObject {
  string?: string;
  version?: string;
}

/** CapacityRequestPolicy of resource.k8s.io. */
export interface RequestPolicy extends JsonObject {
  default?: string | null;
  validValues?: string[];
  validRange?: { min?: string; max?: string; step?: string };
}

/** DeviceCapacity of resource.k8s.io. */
export interface DeviceCapacity extends JsonObject {
  value?: string;
  requestPolicy?: RequestPolicy;
}

/** DeviceCounterConsumption of resource.k8s.io: how much a device uses of shared counters. */
export interface CounterConsumption extends JsonObject {
  counterSet?: string;
  counters?: JsonObject;
  compatibilityGroups?: string[];
}

/** The node selection of a Device or ResourceSlice. */
export interface Placement extends JsonObject {
  nodeName?: string;
  nodeSelector?: NodeSelector;
  allNodes?: boolean;
}

/** Device of resource.k8s.io. */
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

/** ResourceSliceSpec of resource.k8s.io. */
export interface SliceSpec extends Placement {
  driver?: string;
  pool?: { name?: string; generation?: number; resourceSliceCount?: number };
  perDeviceNodeSelection?: boolean;
  devices?: Device[];
  sharedCounters?: { name?: string; counters?: Texts }[];
}
