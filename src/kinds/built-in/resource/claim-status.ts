import {
  duplicateField,
  type FieldError,
  forbiddenField,
  invalidField,
  requiredField,
  tooManyField,
} from "../../../base/api/field-error.ts";
import { qualifiedName } from "../../../base/api/names.ts";
import { isObject, type KubeObject } from "../../../base/api/object.ts";
import { quote } from "../../../base/go/quote.ts";
import { isMapped, printAddress } from "../../../base/net/ip-address.ts";
import { addAll } from "../../../base/util/add-all.ts";
import { seenBefore } from "../../../base/util/seen-before.ts";
import { validateNodeSelector } from "../core/pod/affinity-validation.ts";
import { validateConditions } from "../shared-rules/conditions.ts";
import { parseLooseRange } from "../shared-rules/ip-ranges.ts";
import {
  configurationListErrors,
  type RequestNames,
  requestReferenceErrors,
  tolerationErrors,
} from "./claim-validation.ts";
import { driverErrors, labelErrors, parameterErrors, poolErrors } from "./device-names.ts";
import type { AllocationResult, ClaimStatus, DeviceStatus } from "./types.ts";

const MAX_RESERVATIONS = 256;
const MAX_RESULTS = 32;
const MAX_CONFIGS = 64;
const MAX_CONDITIONS = 8;
const MAX_DATA = 10_240;
const MAX_ADDRESSES = 16;
const MAX_BINDING_CONDITIONS = 4;

/** The status of a ResourceClaim. */
export function claimStatusOf({ status }: KubeObject): ClaimStatus {
  return (isObject(status) ? status : {}) as ClaimStatus;
}

/** `status.allocation.devices.results` of a ResourceClaim. */
export function resultsOf(claim: KubeObject): AllocationResult[] {
  return claimStatusOf(claim).allocation?.devices?.results ?? [];
}

/** Compat: errors show a device of a claim as the Go struct SharedDeviceID. */
const identityOf = ({ driver = "", pool = "", device = "", shareID = "" }: DeviceStatus | AllocationResult) => ({
  Driver: driver,
  Pool: pool,
  Device: device,
  ShareID: shareID,
});

const keyOf = (device: DeviceStatus | AllocationResult) => JSON.stringify(identityOf(device));

/**
 * Removes `status.devices` entries of devices that are no longer allocated. Upstream: `dropDeallocatedStatusDevices`.
 * Changes `next`.
 */
export function dropDeallocatedDevices(next: KubeObject, previous: KubeObject): void {
  const status = claimStatusOf(next);
  if (!status.devices) return;
  const kept = new Set(resultsOf(next).map(keyOf));
  const lost = new Set(
    resultsOf(previous)
      .map(keyOf)
      .filter((key) => !kept.has(key)),
  );
  status.devices = status.devices.filter((device) => !lost.has(keyOf(device)));
  if (status.devices.length === 0) delete status.devices;
}

interface Bindings {
  readonly bindingConditions?: readonly string[];
  readonly bindingFailureConditions?: readonly string[];
}

/** Validates `bindingConditions` and `bindingFailureConditions` of a device. */
export function bindingErrors({ bindingConditions, bindingFailureConditions }: Bindings, path: string): FieldError[] {
  const errors: FieldError[] = [];
  const conditions = bindingConditions ?? [];
  const failures = bindingFailureConditions ?? [];
  const lists = [
    ["bindingConditions", conditions],
    ["bindingFailureConditions", failures],
  ] as const;
  for (const [member, list] of lists) {
    if (list.length > MAX_BINDING_CONDITIONS) continue;
    for (const [index, name] of list.entries()) {
      addAll(
        errors,
        qualifiedName(name).map((text) => invalidField(`${path}.${member}[${index}]`, name, text)),
      );
    }
  }
  const known = new Set(conditions);
  for (const [member, list] of lists) {
    const isSecond = seenBefore<string>();
    for (const [index, name] of list.entries()) {
      const itemPath = `${path}.${member}[${index}]`;
      if (isSecond(name)) errors.push(duplicateField(itemPath, name));
      if (list === failures && known.has(name)) {
        errors.push(invalidField(itemPath, name, "bindingFailureConditions must not overlap with bindingConditions"));
      }
    }
  }
  const missing = (member: keyof Bindings, shown: readonly string[] | undefined, other: string) =>
    errors.push(invalidField(`${path}.${member}`, shown ?? null, `${member} are required to use ${other}`));
  if (conditions.length === 0 && failures.length > 0) {
    missing("bindingConditions", bindingConditions, "bindingFailureConditions");
  }
  if (failures.length === 0 && conditions.length > 0) {
    missing("bindingFailureConditions", bindingFailureConditions, "bindingConditions");
  }
  return errors;
}

function resultErrors(result: AllocationResult, path: string, names: RequestNames): FieldError[] {
  const { request = "", device = "" } = result;
  return [
    ...requestReferenceErrors(request, `${path}.request`, names),
    ...labelErrors(device, `${path}.device`),
    ...bindingErrors(result, path),
    ...tolerationErrors(result.tolerations, `${path}.tolerations`),
  ];
}

function allocationErrors(allocation: NonNullable<ClaimStatus["allocation"]>, names: RequestNames): FieldError[] {
  const { devices: { results = [], config } = {}, nodeSelector } = allocation;
  const path = "status.allocation";
  const errors: FieldError[] = [];
  for (const [index, result] of (results.length > MAX_RESULTS ? [] : results).entries()) {
    addAll(errors, resultErrors(result, `${path}.devices.results[${index}]`, names));
  }
  addAll(errors, configurationListErrors(config, `${path}.devices.config`, names, MAX_CONFIGS));
  if (nodeSelector) validateNodeSelector(errors, nodeSelector, `${path}.nodeSelector`);
  return errors;
}

function interfaceAddressErrors(text: string, path: string): FieldError[] {
  const range = parseLooseRange(text);
  if (!range) {
    const rule = "must be a valid address in CIDR form, (e.g. 10.9.8.7/24 or 2001:db8::1/64)";
    return [invalidField(path, text, rule)];
  }
  const isShort = isMapped(range.address);
  const bits = isShort && range.bits > 32 ? range.bits - 96 : range.bits;
  const canonical = `${printAddress(isShort ? range.address.subarray(12) : range.address)}/${bits}`;
  return text === canonical ? [] : [invalidField(path, text, `must be in canonical form (${quote(canonical)})`)];
}

function deviceErrors(device: DeviceStatus, path: string, allocated: ReadonlySet<string>): FieldError[] {
  const { conditions, data, networkData: { ips = [] } = {} } = device;
  const errors = [
    ...driverErrors(device.driver ?? "", `${path}.driver`),
    ...poolErrors(device.pool ?? "", `${path}.pool`),
    ...labelErrors(device.device ?? "", `${path}.device`),
  ];
  if (!allocated.has(keyOf(device))) {
    errors.push(invalidField(path, identityOf(device), "must be an allocated device in the claim"));
  }
  const count = conditions?.length ?? 0;
  if (count > MAX_CONDITIONS) errors.push(tooManyField(`${path}.conditions`, count, MAX_CONDITIONS));
  addAll(errors, validateConditions(conditions ?? [], `${path}.conditions`));
  if (data !== undefined && data !== null) addAll(errors, parameterErrors(data, `${path}.data`, MAX_DATA));
  for (const [index, address] of (ips.length > MAX_ADDRESSES ? [] : ips).entries()) {
    addAll(errors, interfaceAddressErrors(address, `${path}.networkData.ips[${index}]`));
  }
  return errors;
}

function reservationErrors(next: ClaimStatus, previous: ClaimStatus, isDeleted: boolean): FieldError[] {
  const reservations = next.reservedFor ?? [];
  if (reservations.length === 0) return [];
  const path = "status.reservedFor";
  if (!next.allocation) return [forbiddenField(path, "may not be specified when `allocated` is not set")];
  const before = new Set((previous.reservedFor ?? []).map((one) => JSON.stringify(Object.entries(one).sort())));
  const isNew = reservations.some((one) => !before.has(JSON.stringify(Object.entries(one).sort())));
  if (!isDeleted || !isNew) return [];
  const text = "new entries may not be added while `deallocationRequested` or `deletionTimestamp` are set";
  return [forbiddenField(path, text)];
}

/** Validates the status of a ResourceClaim, except by declarative validation. */
export function claimStatusErrors(next: KubeObject, previous: KubeObject, names: RequestNames): FieldError[] {
  const [status, before] = [claimStatusOf(next), claimStatusOf(previous)];
  const { reservedFor = [], devices = [], allocation } = status;
  const errors: FieldError[] = [];
  for (const [index, one] of (reservedFor.length > MAX_RESERVATIONS ? [] : reservedFor).entries()) {
    for (const member of ["resource", "name", "uid"] as const) {
      if (!one[member]) errors.push(requiredField(`status.reservedFor[${index}].${member}`));
    }
  }
  const allocated = new Set(resultsOf(next).map(keyOf));
  for (const [index, device] of devices.entries()) {
    addAll(errors, deviceErrors(device, `status.devices[${index}]`, allocated));
  }
  addAll(errors, reservationErrors(status, before, next.metadata.deletionTimestamp !== undefined));
  // An existing allocation is not validated again: the rules have become stricter over time.
  if (allocation && !before.allocation) addAll(errors, allocationErrors(allocation, names));
  return errors;
}
