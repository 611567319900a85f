import { type FieldError, invalidField, notSupportedField, requiredField } from "../../../../base/api/field-error.ts";
import { qualifiedName } from "../../../../base/api/names.ts";
import type { ObjectFieldSelector, ResourceFieldSelector } from "../../../types/container.ts";
import type { DownwardAPIVolumeFile } from "../../../types/volume.ts";
import { pushOwnFileErrors } from "../../shared-rules/file-paths.ts";
import { pushInvalid } from "../../shared-rules/formats.ts";
import { checkMode, checkOwner } from "../volume/volume-checks.ts";

const FILE_FIELDS = ["metadata.annotations", "metadata.labels", "metadata.name", "metadata.namespace", "metadata.uid"];
/** The fieldRefs that environment variables may have. */
export const ENVIRONMENT_FIELDS = [
  "metadata.name",
  "metadata.namespace",
  "metadata.uid",
  "spec.nodeName",
  "spec.serviceAccountName",
  "status.hostIP",
  "status.hostIPs",
  "status.podIP",
  "status.podIPs",
];
const READABLE_FIELDS = new Set([
  ...FILE_FIELDS,
  ...ENVIRONMENT_FIELDS,
  "spec.restartPolicy",
  "spec.schedulerName",
  "status.phase",
  "spec.host",
]);

/** Validates a DownwardAPIVolumeFile: a fieldRef or a resourceFieldRef. */
export function checkDownwardFile(errors: FieldError[], file: DownwardAPIVolumeFile, path: string): void {
  const { path: place = "", fieldRef, resourceFieldRef } = file;
  if (place === "") errors.push(requiredField(`${path}.path`));
  pushOwnFileErrors(errors, `${path}.path`, place);
  if (fieldRef) {
    checkFieldRef(errors, fieldRef, `${path}.fieldRef`, FILE_FIELDS);
    if (resourceFieldRef) {
      const text = "fieldRef and resourceFieldRef can not be specified simultaneously";
      errors.push(invalidField(path, "resource", text));
    }
  } else if (resourceFieldRef) {
    checkResourceRef(errors, resourceFieldRef, `${path}.resourceFieldRef`, true);
  } else {
    errors.push(requiredField(path, "one of fieldRef and resourceFieldRef is required"));
  }
  checkMode(errors, file.mode, `${path}.mode`);
  checkOwner(errors, file.user, `${path}.user`);
}

/** Splits a path such as `metadata.labels['key']` into two parts. The key is undefined if there is none. */
function splitSubscript(path: string): [path: string, key?: string] {
  const open = path.endsWith("']") ? path.slice(0, -2).indexOf("['") : -1;
  return open < 1 ? [path] : [path.slice(0, open), path.slice(open + 2, -2)];
}

/** Validates an ObjectFieldSelector (fieldRef). */
export function checkFieldRef(
  errors: FieldError[],
  { apiVersion = "", fieldPath = "" }: ObjectFieldSelector,
  path: string,
  fields: readonly string[],
): void {
  if (apiVersion === "") {
    errors.push(requiredField(`${path}.apiVersion`));
    return;
  }
  if (fieldPath === "") {
    errors.push(requiredField(`${path}.fieldPath`));
    return;
  }
  const [start, key] = splitSubscript(fieldPath);
  const problem = readingProblem(apiVersion, fieldPath);
  if (problem !== undefined) {
    errors.push(invalidField(`${path}.fieldPath`, fieldPath, `error converting fieldPath: ${problem}`));
  } else if (key !== undefined) {
    const checked = start === "metadata.annotations" ? key.toLowerCase() : key;
    pushInvalid(errors, path, checked, qualifiedName(checked));
  } else {
    const shown = start === "spec.host" ? "spec.nodeName" : start;
    if (!fields.includes(shown)) errors.push(notSupportedField(`${path}.fieldPath`, shown, fields));
  }
}

function readingProblem(apiVersion: string, fieldPath: string): string | undefined {
  if (apiVersion !== "v1") return `unsupported pod version: ${apiVersion}`;
  const [start, key] = splitSubscript(fieldPath);
  if (key !== undefined) {
    const isMap = start === "metadata.annotations" || start === "metadata.labels";
    return isMap ? undefined : `field label does not support subscript: ${fieldPath}`;
  }
  return READABLE_FIELDS.has(start) ? undefined : `field label not supported: ${fieldPath}`;
}

const RESOURCES = [
  "limits.cpu",
  "limits.ephemeral-storage",
  "limits.memory",
  "requests.cpu",
  "requests.ephemeral-storage",
  "requests.memory",
];
const PAGES = /^(?:requests|limits)\.hugepages-/;
const BYTE_DIVISOR = /^1(?:[kMGTPE]|[KMGTPE]i)?$/;
const BYTE_DIVISORS = "1, 1k, 1M, 1G, 1T, 1P, 1E, 1Ki, 1Mi, 1Gi, 1Ti, 1Pi, 1Ei";
const CPU_DIVISOR = /^1m?$/;

/** Validates a ResourceFieldSelector (resourceFieldRef); in volumes it must name the container. */
export function checkResourceRef(
  errors: FieldError[],
  { containerName = "", resource = "", divisor = "0" }: ResourceFieldSelector,
  path: string,
  isFile: boolean,
): void {
  if (isFile && containerName === "") errors.push(requiredField(`${path}.containerName`));
  else if (resource === "") errors.push(requiredField(`${path}.resource`));
  else if (!RESOURCES.includes(resource) && !PAGES.test(resource)) {
    errors.push(notSupportedField(`${path}.resource`, resource, RESOURCES));
  }
  if (divisor === "0") return;
  const [form, text] = divisorRule(resource);
  if (form && !form.test(divisor)) errors.push(invalidField(`${path}.divisor`, resource, text));
}

function divisorRule(resource: string): [form: RegExp | undefined, text: string] {
  if (PAGES.test(resource)) return byteRule("hugepages");
  const kind = RESOURCES.includes(resource) ? resource.slice(resource.indexOf(".") + 1) : "";
  if (kind === "cpu") return [CPU_DIVISOR, "only divisor's values 1m and 1 are supported with the cpu resource"];
  if (kind === "memory") return byteRule("memory");
  return kind === "ephemeral-storage" ? byteRule("local ephemeral storage") : [undefined, ""];
}

function byteRule(name: string): [form: RegExp, text: string] {
  return [BYTE_DIVISOR, `only divisor's values ${BYTE_DIVISORS} are supported with the ${name} resource`];
}
