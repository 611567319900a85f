import {
  appArmorProfile,
  defaultCapabilities,
  hostNamespaces,
  hostPathVolumes,
  hostPorts,
  hostProbes,
  privileged,
  procMount,
  seccompAnnotations,
  seccompProfile,
  seLinuxOptions,
  sysctls,
  windowsHostProcess,
} from "./baseline-checks.ts";
import { type LevelVersion, minorOf } from "./policy.ts";
import {
  allowPrivilegeEscalation,
  exceptInUserNamespace,
  exceptOnWindows,
  requiredSeccompProfile,
  restrictedCapabilities,
  restrictedVolumes,
  runAsNonRoot,
  runAsUser,
} from "./restricted-checks.ts";
import type { Check, JudgedPod, Violation } from "./violation.ts";

/** A check of a Pod Security Standard. Each form applies from a minor release on. */
interface Rule {
  readonly forms: readonly (readonly [since: number, check: Check])[];
  /** The baseline check that this restricted check overrides. */
  readonly replaces?: Rule;
}

const SELINUX_TYPES = ["container_t", "container_init_t", "container_kvm_t"];
const SYSCTLS_0 = [
  "kernel.shm_rmid_forced",
  "net.ipv4.ip_local_port_range",
  "net.ipv4.tcp_syncookies",
  "net.ipv4.ping_group_range",
  "net.ipv4.ip_unprivileged_port_start",
];
const SYSCTLS_27 = [...SYSCTLS_0, "net.ipv4.ip_local_reserved_ports"];
const SYSCTLS_29 = [
  ...SYSCTLS_27,
  "net.ipv4.tcp_keepalive_time",
  "net.ipv4.tcp_fin_timeout",
  "net.ipv4.tcp_keepalive_intvl",
  "net.ipv4.tcp_keepalive_probes",
];
const SYSCTLS_32 = [...SYSCTLS_29, "net.ipv4.tcp_rmem", "net.ipv4.tcp_wmem"];
const SYSCTLS_37 = [...SYSCTLS_32, "net.ipv4.tcp_slow_start_after_idle", "net.ipv4.tcp_notsent_lowat"];

const rule = (...forms: Rule["forms"]): Rule => ({ forms });

const CAPABILITIES = rule([0, defaultCapabilities]);
const HOST_PATHS = rule([0, hostPathVolumes]);
const PROC_MOUNT = rule([0, procMount], [35, exceptInUserNamespace(procMount)]);
const SECCOMP = rule([0, seccompAnnotations], [19, seccompProfile]);

/** The baseline checks, in the order in which violations are listed. */
const BASELINE: readonly Rule[] = [
  rule([0, appArmorProfile]),
  CAPABILITIES,
  rule([0, hostNamespaces]),
  HOST_PATHS,
  rule([0, hostPorts]),
  rule([34, hostProbes]),
  rule([0, privileged]),
  PROC_MOUNT,
  rule([0, seLinuxOptions(...SELINUX_TYPES)], [31, seLinuxOptions(...SELINUX_TYPES, "container_engine_t")]),
  SECCOMP,
  rule(
    [0, sysctls(...SYSCTLS_0)],
    [27, sysctls(...SYSCTLS_27)],
    [29, sysctls(...SYSCTLS_29)],
    [32, sysctls(...SYSCTLS_32)],
    [37, sysctls(...SYSCTLS_37)],
  ),
  rule([0, windowsHostProcess]),
];

const RESTRICTED: readonly Rule[] = [
  rule([8, allowPrivilegeEscalation], [25, exceptOnWindows(allowPrivilegeEscalation)]),
  {
    forms: [
      [22, restrictedCapabilities],
      [25, exceptOnWindows(restrictedCapabilities)],
    ],
    replaces: CAPABILITIES,
  },
  { forms: [[35, procMount]], replaces: PROC_MOUNT },
  { forms: [[0, restrictedVolumes]], replaces: HOST_PATHS },
  rule([0, runAsNonRoot], [35, exceptInUserNamespace(runAsNonRoot)]),
  rule([23, runAsUser], [35, exceptInUserNamespace(runAsUser)]),
  {
    forms: [
      [19, requiredSeccompProfile],
      [25, exceptOnWindows(requiredSeccompProfile)],
    ],
    replaces: SECCOMP,
  },
];

/** The checks of a level that a pod violates. */
export function violations({ level, version }: LevelVersion, pod: JudgedPod): Violation[] {
  if (level === "privileged") return [];
  const minor = minorOf(version);
  const formOf = ({ forms }: Rule) => forms.findLast(([since]) => since <= minor)?.[1];
  const stricter = level === "restricted" ? RESTRICTED.filter(formOf) : [];
  const replaced = new Set(stricter.map(({ replaces }) => replaces));
  const rules = [...BASELINE.filter((one) => !replaced.has(one)), ...stricter];
  return rules.flatMap((one) => formOf(one)?.(pod) ?? []);
}

/** Formats all violations with details, for the rejection of a pod. */
export function printDetails(found: readonly Violation[]): string {
  return found.map(({ reason, detail }) => (detail === "" ? reason : `${reason} (${detail})`)).join(", ");
}

/** Formats all violations without details, for warnings about many pods. */
export function printReasons(found: readonly Violation[]): string {
  return found.map(({ reason }) => reason).join(", ");
}
