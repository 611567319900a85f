import type { DeclaredRules, FieldRules } from "../shared-rules/declared.ts";

const REQUEST_LIST: FieldRules = { isSet: true, maxItems: 32 };
const FEW: FieldRules = { maxItems: 32 };
const DRIVER: FieldRules = { required: true, format: "long-name-caseless", maxLength: 63 };
const ATTRIBUTE: FieldRules = { format: "resource-fully-qualified-name" };
const BINDING: FieldRules = { maxItems: 4 };
const COUNTERS: FieldRules = { required: true, eachKey: "short-name" };

/** Declarative validation that ExactDeviceRequest and DeviceSubRequest share, in all versions. */
const REQUEST: Readonly<Record<string, FieldRules>> = { selectors: FEW, allocationMode: { closed: true } };

/** Declarative validation of Device, in all versions. */
const DEVICE: Readonly<Record<string, FieldRules>> = {
  consumesCounters: { keys: ["counterSet"], maxItems: 2 },
  bindingConditions: BINDING,
  bindingFailureConditions: BINDING,
};

/** Declarative validation of resource.k8s.io, in all versions. */
export const resourceRules: DeclaredRules = {
  ResourceClaim: { fields: { spec: { immutable: true } } },
  DeviceClaim: { fields: { requests: { keys: ["name"], maxItems: 32 }, constraints: FEW, config: FEW } },
  DeviceRequest: { fields: { ...REQUEST, firstAvailable: { keys: ["name"], maxItems: 8 } } },
  ExactDeviceRequest: { fields: REQUEST },
  DeviceSubRequest: { fields: { ...REQUEST, deviceClassName: { required: true, format: "long-name" } } },
  DeviceToleration: { fields: { key: { format: "label-key" }, operator: { closed: true }, effect: { closed: true } } },
  DeviceConstraint: {
    fields: { requests: REQUEST_LIST, matchAttribute: ATTRIBUTE, distinctAttribute: ATTRIBUTE },
  },
  DeviceClaimConfiguration: { fields: { requests: REQUEST_LIST } },
  DeviceAllocationConfiguration: { fields: { source: { required: true, closed: true }, requests: REQUEST_LIST } },
  OpaqueDeviceConfiguration: { fields: { driver: DRIVER } },

  ResourceClaimStatus: {
    fields: {
      allocation: { no: ["modify"] },
      reservedFor: { keys: ["uid"], maxItems: 256 },
      devices: { keys: ["driver", "device", "pool", "shareID"] },
    },
  },
  DeviceAllocationResult: { fields: { results: FEW, config: { maxItems: 64 } } },
  DeviceRequestAllocationResult: {
    fields: {
      driver: DRIVER,
      pool: { required: true, format: "resource-pool-name" },
      bindingConditions: BINDING,
      bindingFailureConditions: BINDING,
      shareID: { format: "uuid" },
    },
  },
  AllocatedDeviceStatus: { fields: { shareID: { format: "uuid" } } },
  NetworkDeviceData: {
    fields: {
      interfaceName: { maxBytes: 256 },
      ips: { isSet: true, maxItems: 16 },
      hardwareAddress: { maxBytes: 128 },
    },
  },

  DeviceClassSpec: {
    fields: { selectors: FEW, config: FEW, extendedResourceName: { format: "extended-resource-name" } },
  },

  ResourceSliceSpec: { fields: { sharedCounters: { keys: ["name"], maxItems: 8 } } },
  CounterSet: { fields: { name: { required: true, format: "short-name" }, counters: COUNTERS } },
  DeviceCounterConsumption: {
    fields: { counterSet: { required: true, format: "short-name" }, counters: COUNTERS },
  },
  Device: { fields: DEVICE },
  BasicDevice: { fields: DEVICE },
  DeviceAttribute: { union: ["int", "bool", "string", "version", "ints", "bools", "strings", "versions"] },
  DeviceTaint: { fields: { effect: { required: true, closed: true } } },

  ResourcePoolStatusRequest: { fields: { spec: { immutable: true } } },
  ResourcePoolStatusRequestSpec: {
    fields: {
      driver: { required: true, format: "long-name-caseless" },
      poolName: { format: "resource-pool-name" },
      limit: { minimum: 1, maximum: 1000 },
    },
  },
  ResourcePoolStatusRequestStatus: {
    fields: {
      poolCount: { required: true, minimum: 0 },
      pools: { maxItems: 1000 },
      conditions: { maxItems: 10 },
    },
  },
  PoolStatus: {
    fields: {
      driver: { required: true, format: "long-name-caseless" },
      poolName: { required: true, format: "resource-pool-name" },
      generation: { required: true, minimum: 0 },
      resourceSliceCount: { minimum: 1 },
      totalDevices: { minimum: 0 },
      allocatedDevices: { minimum: 0 },
      availableDevices: { minimum: 0 },
      unavailableDevices: { minimum: 0 },
      nodeName: { format: "long-name" },
      validationError: { maxBytes: 256 },
      partitionSummary: { keys: ["attribute", "type"], maxItems: 32 },
    },
  },
  PartitionTypeStatus: {
    fields: {
      attribute: { required: true },
      type: { required: true },
      total: { required: true, minimum: 0 },
      allocatable: { required: true, minimum: 0 },
    },
  },
  ShareableSummaryStatus: {
    fields: {
      fullyAvailableDevices: { required: true, minimum: 0 },
      partiallyAvailableDevices: { required: true, minimum: 0 },
      capacity: FEW,
    },
  },
  ShareableCapacityStatus: {
    fields: {
      name: { required: true },
      total: { required: true },
      consumed: { required: true },
      available: { required: true },
    },
  },
};
