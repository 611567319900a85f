import { isObject, type Json, type JsonObject, type KubeObject } from "../../../base/api/object.ts";
import { getMember } from "../../../base/util/members.ts";
import { decodeBySchema } from "../../../data/schema/decode.ts";
import type { ResourceHooks } from "../../../resources/model/definition.ts";
import { builtInSchema } from "../../schema-files/built-in-schemas.ts";

/** The only version in which DeviceRequest has no `exactly` and Device has `basic`. */
export const FLAT_VERSION = "resource.k8s.io/v1beta1";

/** Fields of ExactDeviceRequest, which are in the DeviceRequest itself in v1beta1. */
const REQUEST_MEMBERS = [
  "deviceClassName",
  "selectors",
  "allocationMode",
  "count",
  "adminAccess",
  "tolerations",
  "capacity",
  "derivedAttributes",
];

/** Converts the spec of a kind to the other form. */
type ChangeSpec = (spec: JsonObject, isFlat: boolean) => JsonObject;

/** Whether a field of a v1beta1 DeviceRequest is set. */
function isSet(value: Json | undefined): boolean {
  return value !== undefined && value !== null && value !== "" && value !== 0;
}

function changeRequest(request: JsonObject, isFlat: boolean): JsonObject {
  if (isFlat) {
    const { exactly, ...rest } = request;
    return { ...rest, ...(isObject(exactly) ? exactly : {}) };
  }
  const exactly: JsonObject = {};
  const rest: JsonObject = {};
  for (const [member, value] of Object.entries(request)) {
    if (!REQUEST_MEMBERS.includes(member)) rest[member] = value;
    else if (isSet(value)) exactly[member] = value;
  }
  if (Object.keys(exactly).length === 0) return rest;
  // Compat: in v1beta1 an empty `tolerations` is enough to convert to a request with `exactly`, and is then dropped.
  if (Array.isArray(exactly.tolerations) && exactly.tolerations.length === 0) delete exactly.tolerations;
  return { ...rest, exactly };
}

function changeClaimSpec(spec: JsonObject, isFlat: boolean): JsonObject {
  const { devices } = spec;
  if (!isObject(devices)) return spec;
  return { ...spec, devices: changeList(devices, "requests", (request) => changeRequest(request, isFlat)) };
}

function changeList(object: JsonObject, member: string, change: (item: JsonObject) => JsonObject): JsonObject {
  const list = object[member];
  if (!Array.isArray(list)) return object;
  return { ...object, [member]: list.map((item) => (isObject(item) ? change(item) : item)) };
}

function changeTemplateSpec(spec: JsonObject, isFlat: boolean): JsonObject {
  return isObject(spec.spec) ? { ...spec, spec: changeClaimSpec(spec.spec, isFlat) } : spec;
}

function changeDevice({ name = "", ...rest }: JsonObject, isFlat: boolean): JsonObject {
  if (isFlat) return { name, basic: rest };
  const { basic } = rest;
  return { name, ...(isObject(basic) ? basic : {}) };
}

function changeSliceSpec(spec: JsonObject, isFlat: boolean): JsonObject {
  return changeList(spec, "devices", (device) => changeDevice(device, isFlat));
}

const SPECS: Readonly<Record<string, ChangeSpec>> = {
  ResourceClaim: changeClaimSpec,
  ResourceClaimTemplate: changeTemplateSpec,
  ResourceSlice: changeSliceSpec,
};

/** Converts an object of resource.k8s.io to another version. */
export const convertResource: NonNullable<ResourceHooks["convert"]> = (object, toApiVersion): KubeObject => {
  const isFlat = toApiVersion === FLAT_VERSION;
  const change = getMember(SPECS, object.kind);
  const { spec } = object;
  if (!change || !isObject(spec) || isFlat === (object.apiVersion === FLAT_VERSION)) {
    return { ...object, apiVersion: toApiVersion };
  }
  const version = toApiVersion.slice(toApiVersion.indexOf("/") + 1);
  const schema = builtInSchema(`io.k8s.api.resource.${version}.${object.kind}`).properties?.get("spec") ?? {};
  // Decoding adds required fields of the other version and drops values that equal absent there.
  return {
    ...object,
    apiVersion: toApiVersion,
    spec: decodeBySchema(change(spec, isFlat), schema, { keepsEmpties: true }).value,
  };
};
