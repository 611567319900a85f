import { quote } from "../../../../base/go/quote.ts";
import { addAll } from "../../../../base/util/add-all.ts";
import type { LifecycleHandler, Probe, SecurityContext } from "../../../../kinds/types/container.ts";
import type { PodSecurityContext } from "../../../../kinds/types/pod.ts";
import { containersOf } from "../../../../kinds/types/pod-containers.ts";
import { type Check, namesWhere, oneOrMore, printContainers, printSetters, quoteAll, sorted } from "./violation.ts";

/** Fields that the security contexts of pods and containers have in common. */
type AnySecurityContext = SecurityContext | PodSecurityContext;

const APPARMOR_ANNOTATION = "container.apparmor.security.beta.kubernetes.io/";
const PROFILES: readonly (string | undefined)[] = ["RuntimeDefault", "Localhost"];

/** Baseline, appArmorProfile: AppArmor must not be disabled. */
export const appArmorProfile: Check = ({ annotations, spec }) => {
  const bad = ({ appArmorProfile: profile }: AnySecurityContext = {}) => profile && !PROFILES.includes(profile.type);
  const isPodBad = bad(spec.securityContext) ?? false;
  const containers = containersOf(spec).filter(({ securityContext }) => bad(securityContext));
  const setters = printSetters(
    isPodBad,
    containers.map(({ name = "" }) => name),
  );
  const contexts = [isPodBad ? spec.securityContext : undefined, ...containers.map((one) => one.securityContext)];
  const values = sorted(contexts.flatMap((context) => (context ? [context.appArmorProfile?.type ?? ""] : [])));
  const fromAnnotations = Object.entries(annotations)
    .filter(([key, value]) => key.startsWith(APPARMOR_ANNOTATION) && !isAllowedProfile(value))
    .map(([key, value]) => `${key}=${quote(value)}`)
    .sort();
  const note = fromAnnotations.length > 0 ? [oneOrMore(fromAnnotations.length, "annotation")] : [];
  const all = [...(setters === "" ? [] : [setters]), ...note];
  if (all.length === 0) return undefined;
  addAll(values, fromAnnotations);
  return {
    reason: oneOrMore(values.length, "forbidden AppArmor profile"),
    detail: `${all.join(" and ")} must not set AppArmor profile type to ${quoteAll(values)}`,
  };
};

function isAllowedProfile(value: string): boolean {
  return value === "" || value === "runtime/default" || value.startsWith("localhost/");
}

const DEFAULT_CAPABILITIES = new Set([
  "AUDIT_WRITE",
  "CHOWN",
  "DAC_OVERRIDE",
  "FOWNER",
  "FSETID",
  "KILL",
  "MKNOD",
  "NET_BIND_SERVICE",
  "SETFCAP",
  "SETGID",
  "SETPCAP",
  "SETUID",
  "SYS_CHROOT",
]);

/** Baseline, capabilities_baseline: no capabilities besides the default ones of containers. */
export const defaultCapabilities: Check = ({ spec }) => {
  const surplus = (added: readonly string[] = []) => added.filter((one) => !DEFAULT_CAPABILITIES.has(one));
  const containers = namesWhere(spec, ({ securityContext }) => surplus(securityContext?.capabilities?.add).length > 0);
  if (containers.length === 0) return undefined;
  const values = sorted(containersOf(spec).flatMap((one) => surplus(one.securityContext?.capabilities?.add)));
  return {
    reason: "non-default capabilities",
    detail: `${printContainers(containers)} must not include ${quoteAll(values)} in securityContext.capabilities.add`,
  };
};

/** Baseline, hostNamespaces: no hostNetwork, hostPID or hostIPC. */
export const hostNamespaces: Check = ({ spec }) => {
  const shared = (["hostNetwork", "hostPID", "hostIPC"] as const).filter((member) => spec[member]);
  if (shared.length === 0) return undefined;
  return { reason: "host namespaces", detail: shared.map((member) => `${member}=true`).join(", ") };
};

/** Baseline, hostPathVolumes: no hostPath volumes. */
export const hostPathVolumes: Check = ({ spec }) => {
  const volumes = (spec.volumes ?? []).filter(({ hostPath }) => hostPath !== undefined).map(({ name = "" }) => name);
  if (volumes.length === 0) return undefined;
  return { reason: "hostPath volumes", detail: `${oneOrMore(volumes.length, "volume")} ${quoteAll(volumes)}` };
};

/** Baseline, hostPorts: no hostPort. */
export const hostPorts: Check = ({ spec }) => {
  const containers = namesWhere(spec, ({ ports = [] }) => ports.some(({ hostPort }) => hostPort));
  if (containers.length === 0) return undefined;
  const ports = sorted(
    containersOf(spec).flatMap((one) => (one.ports ?? []).flatMap(({ hostPort }) => (hostPort ? `${hostPort}` : []))),
  );
  const uses = `${oneOrMore(containers.length, "uses", "use")} ${oneOrMore(ports.length, "hostPort")}`;
  return { reason: "hostPort", detail: `${printContainers(containers)} ${uses} ${ports.join(", ")}` };
};

/** Baseline, hostProbesAndHostLifecycle: probes and lifecycle hooks must not set a host. */
export const hostProbes: Check = ({ spec }) => {
  const hostsOf = (action: LifecycleHandler | Probe | undefined) => [action?.httpGet?.host, action?.tcpSocket?.host];
  const found = containersOf(spec).map(({ name = "", livenessProbe, readinessProbe, startupProbe, lifecycle }) => ({
    name,
    hosts: [livenessProbe, readinessProbe, startupProbe, lifecycle?.postStart, lifecycle?.preStop]
      .flatMap(hostsOf)
      .filter((host): host is string => host !== undefined && host !== ""),
  }));
  const bad = found.filter(({ hosts }) => hosts.length > 0);
  if (bad.length === 0) return undefined;
  const reason = "probe or lifecycle host";
  const names = sorted(bad.map(({ name }) => name));
  const hosts = sorted(bad.flatMap((one) => one.hosts));
  const uses = `${oneOrMore(names.length, "uses", "use")} ${oneOrMore(hosts.length, reason)}`;
  return { reason, detail: `${printContainers(names)} ${uses} ${quoteAll(hosts)}` };
};

/** Baseline, privileged: no privileged containers. */
export const privileged: Check = ({ spec }) => {
  const containers = namesWhere(spec, ({ securityContext }) => securityContext?.privileged === true);
  if (containers.length === 0) return undefined;
  return {
    reason: "privileged",
    detail: `${printContainers(containers)} must not set securityContext.privileged=true`,
  };
};

/** Baseline, procMount: /proc stays masked (procMount Default). */
export const procMount: Check = ({ spec }) => {
  const bad = containersOf(spec).filter(
    ({ securityContext: { procMount: mount = "Default" } = {} }) => mount !== "Default",
  );
  if (bad.length === 0) return undefined;
  const values = sorted(bad.map(({ securityContext }) => securityContext?.procMount ?? ""));
  const names = printContainers(bad.map(({ name = "" }) => name));
  return { reason: "procMount", detail: `${names} must not set securityContext.procMount to ${quoteAll(values)}` };
};

/** Baseline, seLinuxOptions: only types that confine containers, and no user or role. */
export function seLinuxOptions(...types: readonly string[]): Check {
  const badType = ({ seLinuxOptions: { type = "" } = {} }: AnySecurityContext) => type !== "" && !types.includes(type);
  const isBad = (context: AnySecurityContext) =>
    badType(context) || Boolean(context.seLinuxOptions?.user) || Boolean(context.seLinuxOptions?.role);
  return ({ spec }) => {
    const contexts = [spec, ...containersOf(spec)].map(({ securityContext = {} }) => securityContext);
    const bad = contexts.filter(isBad);
    if (bad.length === 0) return undefined;
    const names = namesWhere(spec, ({ securityContext = {} }) => isBad(securityContext));
    const values = sorted(bad.filter(badType).map((context) => context.seLinuxOptions?.type ?? ""));
    const problems = values.length > 0 ? [`${oneOrMore(values.length, "type")} ${quoteAll(values)}`] : [];
    if (bad.some((context) => context.seLinuxOptions?.user)) problems.push("user may not be set");
    if (bad.some((context) => context.seLinuxOptions?.role)) problems.push("role may not be set");
    const setters = printSetters(isBad(spec.securityContext ?? {}), names);
    return {
      reason: "seLinuxOptions",
      detail: `${setters} set forbidden securityContext.seLinuxOptions: ${problems.join("; ")}`,
    };
  };
}

const SECCOMP_POD = "seccomp.security.alpha.kubernetes.io/pod";
const SECCOMP_CONTAINER = "container.seccomp.security.alpha.kubernetes.io/";

/** Baseline, seccompProfile_baseline before v1.19: seccomp annotations must not be unconfined. */
export const seccompAnnotations: Check = ({ annotations, spec }) => {
  const keys = [SECCOMP_POD, ...containersOf(spec).map(({ name }) => `${SECCOMP_CONTAINER}${name}`)];
  const bad = keys.flatMap((key) => {
    const value = annotations[key];
    if (value === undefined || value === "runtime/default" || value === "docker/default") return [];
    return value.startsWith("localhost/") ? [] : [`${key}=${quote(value)}`];
  });
  if (bad.length === 0) return undefined;
  const values = sorted(bad);
  return {
    reason: "seccompProfile",
    detail: `forbidden ${oneOrMore(values.length, "annotation")} ${values.join(", ")}`,
  };
};

/** Baseline, seccompProfile_baseline: seccompProfile must not be Unconfined. */
export const seccompProfile: Check = ({ spec }) => {
  const bad = ({ seccompProfile: profile }: AnySecurityContext = {}) =>
    profile !== undefined && !PROFILES.includes(profile.type);
  const contexts = [spec, ...containersOf(spec)].map(({ securityContext }) => securityContext).filter(bad);
  if (contexts.length === 0) return undefined;
  const names = namesWhere(spec, ({ securityContext }) => bad(securityContext));
  const values = sorted(contexts.map((context) => context?.seccompProfile?.type ?? ""));
  const setters = printSetters(bad(spec.securityContext), names);
  return {
    reason: "seccompProfile",
    detail: `${setters} must not set securityContext.seccompProfile.type to ${quoteAll(values)}`,
  };
};

/** Baseline, sysctls: only sysctls that affect nothing outside the pod. */
export function sysctls(...allowed: readonly string[]): Check {
  return ({ spec }) => {
    const bad = (spec.securityContext?.sysctls ?? [])
      .map(({ name = "" }) => name)
      .filter((name) => !allowed.includes(name));
    return bad.length === 0 ? undefined : { reason: "forbidden sysctls", detail: bad.join(", ") };
  };
}

/** Baseline, windowsHostProcess: no HostProcess containers. */
export const windowsHostProcess: Check = ({ spec }) => {
  const isHost = ({ windowsOptions }: AnySecurityContext = {}) => windowsOptions?.hostProcess === true;
  const setters = printSetters(
    isHost(spec.securityContext),
    namesWhere(spec, ({ securityContext }) => isHost(securityContext)),
  );
  if (setters === "") return undefined;
  return { reason: "hostProcess", detail: `${setters} must not set securityContext.windowsOptions.hostProcess=true` };
};
