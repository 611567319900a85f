import { type FieldError, forbiddenField, invalidField } from "../../../../base/api/field-error.ts";
import { byteLength } from "../../../../base/api/names.ts";
import type { WindowsSecurityContextOptions } from "../../../types/container.ts";
import type { PodSpec } from "../../../types/pod.ts";
import { containersWithPaths } from "../../../types/pod-containers.ts";
import { pushInvalid, subdomainName } from "../../shared-rules/formats.ts";

const MAX_SPEC_BYTES = 64 * 1024;
const DNS_LABEL = "[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?";
const DNS_DOMAIN = new RegExp(`^${DNS_LABEL}(?:\\.${DNS_LABEL})*$`);
const NETBIOS_DOMAIN = /^[^\\/:*?"<>|.][^\\/:*?"<>|]{0,14}$/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern matches control characters.
const CONTROL = /[\u0000-\u001f\u007f]/;

/** Validates windowsOptions of a securityContext. */
export function validateWindowsOptions(
  errors: FieldError[],
  options: WindowsSecurityContextOptions | undefined,
  path: string,
): void {
  if (!options) return;
  const { gmsaCredentialSpecName: name, gmsaCredentialSpec: spec, runAsUserName: user } = options;
  if (name !== undefined) pushInvalid(errors, `${path}.gmsaCredentialSpecName`, name, subdomainName(name));
  if (spec === "") {
    errors.push(invalidField(`${path}.gmsaCredentialSpec`, spec, "gmsaCredentialSpec cannot be an empty string"));
  } else if (spec !== undefined && byteLength(spec) > MAX_SPEC_BYTES) {
    const text = "gmsaCredentialSpec size must be under 64 KiB";
    errors.push(invalidField(`${path}.gmsaCredentialSpec`, spec, text));
  }
  if (user !== undefined) pushInvalid(errors, `${path}.runAsUserName`, user, userNameErrors(user));
}

function userNameErrors(name: string): string[] {
  if (name === "") return ["runAsUserName cannot be an empty string"];
  if (CONTROL.test(name)) return ["runAsUserName cannot contain control characters"];
  const parts = name.split("\\");
  if (parts.length > 2) return ["runAsUserName cannot contain more than one backslash"];
  const user = parts.at(-1) ?? "";
  const domain = parts.length === 2 ? (parts[0] ?? "") : undefined;
  const errors: string[] = [];
  if (domain !== undefined && byteLength(domain) >= 256) {
    errors.push("runAsUserName's Domain length must be under 256 characters");
  }
  if (domain !== undefined && !NETBIOS_DOMAIN.test(domain) && !DNS_DOMAIN.test(domain)) {
    errors.push("runAsUserName's Domain doesn't match the NetBios nor the DNS format");
  }
  if (user === "") errors.push("runAsUserName's User cannot be empty");
  else if (byteLength(user) > 104) errors.push("runAsUserName's User length must not be longer than 104 characters");
  if (/^[. ]+$/.test(user)) errors.push("runAsUserName's User cannot contain only periods or spaces");
  if (/["/\\:;|=,+*?<>@[\]]/.test(user)) {
    errors.push(`runAsUserName's User cannot contain the following characters: "/\\:;|=,+*?<>@[]`);
  }
  return errors;
}

/** Validates windowsOptions.hostProcess over all containers of a pod. */
export function validateHostProcess(errors: FieldError[], spec: PodSpec, path: string): void {
  const ofPod = spec.securityContext?.windowsOptions?.hostProcess;
  let total = 0;
  let count = 0;
  for (const { container, at } of containersWithPaths(spec, path)) {
    const own = container.securityContext?.windowsOptions?.hostProcess;
    if (ofPod !== undefined && own !== undefined && ofPod !== own) {
      const text = `pod hostProcess value must be identical if both are specified, was ${ofPod}`;
      errors.push(invalidField(`${at}.securityContext.windowsOptions.hostProcess`, own, text));
    }
    total += 1;
    if (own ?? ofPod) count += 1;
  }
  if (count === 0) return;
  if (count !== total) {
    const text = "If pod contains any hostProcess containers then all containers must be HostProcess containers";
    errors.push(invalidField(path, "", text));
  }
  if (!spec.hostNetwork) {
    const text = "hostNetwork must be true if pod contains any hostProcess containers";
    errors.push(invalidField(`${path}.hostNetwork`, false, text));
  }
}

const POD_CONTEXT = [
  "appArmorProfile",
  "seLinuxOptions",
  "seccompProfile",
  "fsGroup",
  "fsGroupChangePolicy",
  "sysctls",
  "runAsUser",
  "runAsGroup",
  "supplementalGroups",
  "supplementalGroupsPolicy",
  "seLinuxChangePolicy",
];
const POD = ["hostUsers", "hostPID", "hostIPC", "shareProcessNamespace"];
const CONTAINER_CONTEXT = [
  "appArmorProfile",
  "seLinuxOptions",
  "seccompProfile",
  "capabilities",
  "readOnlyRootFilesystem",
  "privileged",
  "allowPrivilegeEscalation",
  "procMount",
  "runAsUser",
  "runAsGroup",
];

/** Validates that a pod with os.name windows has no Linux-only fields. */
export function validateWindowsPod(errors: FieldError[], spec: PodSpec, path: string): void {
  refuseAll(errors, spec.securityContext, `${path}.securityContext`, POD_CONTEXT);
  refuseAll(errors, spec, path, POD);
  for (const { container, at } of containersWithPaths(spec, path)) {
    refuseAll(errors, container.securityContext, `${at}.securityContext`, CONTAINER_CONTEXT);
  }
}

function refuseAll(errors: FieldError[], object: object | undefined, path: string, members: readonly string[]): void {
  for (const member of members) {
    const value = (object as Record<string, unknown> | undefined)?.[member] ?? undefined;
    if (value === undefined) continue;
    errors.push(forbiddenField(`${path}.${member}`, "cannot be set for a windows pod"));
  }
}

/** Validates that a pod with os.name linux has no Windows-only fields. */
export function validateLinuxPod(errors: FieldError[], spec: PodSpec, path: string): void {
  const text = "windows options cannot be set for a linux pod";
  if (spec.securityContext?.windowsOptions) {
    errors.push(forbiddenField(`${path}.securityContext.windowsOptions`, text));
  }
  for (const { container, at } of containersWithPaths(spec, path)) {
    if (!container.securityContext?.windowsOptions) continue;
    errors.push(forbiddenField(`${at}.securityContext.windowsOptions`, text));
  }
}
