import {
  duplicateField,
  type FieldError,
  invalidField,
  notSupportedField,
  requiredField,
  tooLongField,
} from "../../../../base/api/field-error.ts";
import { byteLength } from "../../../../base/api/names.ts";
import type { AppArmorProfile, SeccompProfile, SecurityContext } from "../../../types/container.ts";
import type { PodSecurityContext, PodSpec, Sysctl } from "../../../types/pod.ts";
import { pushDescendingErrors } from "../../shared-rules/file-paths.ts";
import { accountNumber, pushInvalid } from "../../shared-rules/formats.ts";
import { asGo, type GoShape } from "../../shared-rules/go-print.ts";
import type { PodOptions } from "../pod/pod-options.ts";
import { validateWindowsOptions } from "./windows-options-validation.ts";

const PROFILE_SHAPE: GoShape = [
  ["Type", "type", ""],
  ["LocalhostProfile", "localhostProfile"],
];
const CONTEXT_SHAPE: GoShape = [
  [
    "Capabilities",
    "capabilities",
    null,
    [
      ["Add", "add"],
      ["Drop", "drop"],
    ],
  ],
  ["Privileged", "privileged"],
  [
    "SELinuxOptions",
    "seLinuxOptions",
    null,
    [
      ["User", "user", ""],
      ["Role", "role", ""],
      ["Type", "type", ""],
      ["Level", "level", ""],
    ],
  ],
  [
    "WindowsOptions",
    "windowsOptions",
    null,
    [
      ["GMSACredentialSpecName", "gmsaCredentialSpecName"],
      ["GMSACredentialSpec", "gmsaCredentialSpec"],
      ["RunAsUserName", "runAsUserName"],
      ["HostProcess", "hostProcess"],
    ],
  ],
  ["RunAsUser", "runAsUser"],
  ["RunAsGroup", "runAsGroup"],
  ["RunAsNonRoot", "runAsNonRoot"],
  ["ReadOnlyRootFilesystem", "readOnlyRootFilesystem"],
  ["AllowPrivilegeEscalation", "allowPrivilegeEscalation"],
  ["ProcMount", "procMount"],
  ["SeccompProfile", "seccompProfile", null, PROFILE_SHAPE],
  ["AppArmorProfile", "appArmorProfile", null, PROFILE_SHAPE],
];

const PROC_MOUNTS = ["Default", "Unmasked"];

/** Validates the securityContext of a container. */
export function validateSecurityContext(
  errors: FieldError[],
  context: SecurityContext,
  path: string,
  { hostUsers, options }: { readonly hostUsers: boolean; readonly options: PodOptions },
): void {
  checkAccounts(errors, context, path);
  const { procMount } = context;
  if (procMount !== undefined) {
    const at = `${path}.procMount`;
    if (!PROC_MOUNTS.includes(procMount)) errors.push(notSupportedField(at, procMount, PROC_MOUNTS));
    if (hostUsers && procMount === "Unmasked") {
      errors.push(invalidField(at, procMount, "`hostUsers` must be false to use `Unmasked`"));
    }
  }
  validateSeccompProfile(errors, context.seccompProfile, `${path}.seccompProfile`);
  if (context.allowPrivilegeEscalation === false) checkEscalation(errors, context, path, options);
  validateWindowsOptions(errors, context.windowsOptions, `${path}.windowsOptions`);
  validateAppArmorProfile(errors, context.appArmorProfile, `${path}.appArmorProfile`);
}

function checkAccounts(errors: FieldError[], context: SecurityContext | PodSecurityContext, path: string): void {
  for (const member of ["runAsUser", "runAsGroup"] as const) {
    const account = context[member];
    if (account !== undefined) pushInvalid(errors, `${path}.${member}`, account, accountNumber(account));
  }
}

function checkEscalation(errors: FieldError[], context: SecurityContext, path: string, options: PodOptions): void {
  const refuse = (text: string) => errors.push(invalidField(path, asGo(context, CONTEXT_SHAPE), text));
  if (context.privileged) refuse("cannot set `allowPrivilegeEscalation` to false and `privileged` to true");
  if (options.allowsSysAdmin) return;
  for (const capability of context.capabilities?.add ?? []) {
    if (capability !== "CAP_SYS_ADMIN") continue;
    refuse("cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` CAP_SYS_ADMIN");
  }
}

const PROFILE_TYPES = ["Localhost", "RuntimeDefault", "Unconfined"];

function validateSeccompProfile(errors: FieldError[], profile: SeccompProfile | undefined, path: string): void {
  if (!profile) return;
  const { type = "", localhostProfile } = profile;
  if (type === "") errors.push(requiredField(`${path}.type`, "type is required when seccompProfile is set"));
  else if (!PROFILE_TYPES.includes(type)) errors.push(notSupportedField(`${path}.type`, type, PROFILE_TYPES));
  const at = `${path}.localhostProfile`;
  if (type === "Localhost") {
    if (localhostProfile === undefined) {
      errors.push(requiredField(at, "must be set when seccomp type is Localhost"));
    } else {
      pushDescendingErrors(errors, at, localhostProfile);
    }
  } else if (localhostProfile !== undefined) {
    const text = "can only be set when seccomp type is Localhost";
    errors.push(invalidField(at, asGo(profile, PROFILE_SHAPE), text));
  }
}

const MAX_PROFILE_PATH = 4095;

/** Validates appArmorProfile. */
export function validateAppArmorProfile(
  errors: FieldError[],
  profile: AppArmorProfile | undefined,
  path: string,
): void {
  if (!profile) return;
  const { type = "", localhostProfile: name } = profile;
  const at = `${path}.localhostProfile`;
  if (type === "Localhost") {
    const isBlank = name === undefined || name === "";
    if (isBlank) errors.push(requiredField(at, "must be set when AppArmor type is Localhost"));
    else if (name.trim() !== name) errors.push(invalidField(at, name, "must not be padded with whitespace"));
    if (name !== undefined && byteLength(name) > MAX_PROFILE_PATH) errors.push(tooLongField(at, MAX_PROFILE_PATH));
  } else if (type === "") {
    errors.push(requiredField(`${path}.type`, "type is required when appArmorProfile is set"));
  } else if (!PROFILE_TYPES.includes(type)) {
    errors.push(notSupportedField(`${path}.type`, type, PROFILE_TYPES));
  } else if (name !== undefined) {
    errors.push(invalidField(at, name, "can only be set when AppArmor type is Localhost"));
  }
}

const CHANGE_POLICIES = ["Always", "OnRootMismatch"];
const GROUP_POLICIES = ["Merge", "Strict"];
const SELINUX_POLICIES = ["MountOption", "Recursive"];

/** Validates the securityContext of a pod. */
export function validatePodSecurityContext(
  errors: FieldError[],
  spec: PodSpec,
  path: string,
  options: PodOptions,
): void {
  const { securityContext: context } = spec;
  if (!context) return;
  const { fsGroup, supplementalGroups = [] } = context;
  if (fsGroup !== undefined) pushInvalid(errors, `${path}.fsGroup`, fsGroup, accountNumber(fsGroup));
  checkAccounts(errors, context, path);
  for (const [index, group] of supplementalGroups.entries()) {
    pushInvalid(errors, `${path}.supplementalGroups[${index}]`, group, accountNumber(group));
  }
  checkSysctls(errors, spec, `${path}.sysctls`, options);
  checkOneOf(errors, context.fsGroupChangePolicy, `${path}.fsGroupChangePolicy`, CHANGE_POLICIES);
  validateSeccompProfile(errors, context.seccompProfile, `${path}.seccompProfile`);
  validateWindowsOptions(errors, context.windowsOptions, `${path}.windowsOptions`);
  validateAppArmorProfile(errors, context.appArmorProfile, `${path}.appArmorProfile`);
  checkOneOf(errors, context.supplementalGroupsPolicy, `${path}.supplementalGroupsPolicy`, GROUP_POLICIES);
  checkOneOf(errors, context.seLinuxChangePolicy, `${path}.seLinuxChangePolicy`, SELINUX_POLICIES);
}

function checkOneOf(errors: FieldError[], value: string | undefined, path: string, allowed: readonly string[]): void {
  if (value !== undefined && !allowed.includes(value)) errors.push(notSupportedField(path, value, allowed));
}

const SYSCTL_SEGMENT = "[a-z0-9]([-_a-z0-9]*[a-z0-9])?";
const SYSCTL_PATTERN = `^(${SYSCTL_SEGMENT}[\\./])*${SYSCTL_SEGMENT}$`;
const SYSCTL = new RegExp(SYSCTL_PATTERN);

function checkSysctls(errors: FieldError[], spec: PodSpec, path: string, options: PodOptions): void {
  const seen = new Set<string>();
  for (const [index, { name = "" }] of (spec.securityContext?.sysctls ?? []).entries()) {
    const at = `${path}[${index}].name`;
    if (name === "") errors.push(requiredField(at));
    else if (byteLength(name) > 253 || !SYSCTL.test(name)) {
      errors.push(invalidField(at, name, `must have at most 253 characters and match regex ${SYSCTL_PATTERN}`));
    } else if (seen.has(name)) errors.push(duplicateField(at, name));
    const owner = options.allowsHostSysctls ? undefined : hostSetting({ name }, spec);
    if (owner !== undefined) errors.push(invalidField(at, name, `may not be specified when '${owner}' is true`));
    seen.add(name);
  }
}

/** Names of sysctls in the network or IPC namespace. */
const NETWORK = /^net\./;
const IPC = /^(?:kernel\.(?:sem|shm(?:all|max|mni|_rmid_forced)?|msg(?:max|mnb|mni)?)$|fs\.mqueue\.)/;

/**
 * The field by which the pod uses the node's network or IPC namespace, if the sysctl needs the pod's own; undefined
 * otherwise.
 */
export function hostSetting({ name = "" }: Sysctl, spec: PodSpec): "hostNetwork" | "hostIPC" | undefined {
  const separator = /[./]/.exec(name)?.[0];
  const dotted = separator === "/" ? name.replace(/[./]/g, (one) => (one === "/" ? "." : "/")) : name;
  if (spec.hostNetwork && NETWORK.test(dotted)) return "hostNetwork";
  return spec.hostIPC && IPC.test(dotted) ? "hostIPC" : undefined;
}
