import type { Container } from "../../../../kinds/types/container.ts";
import type { PodSpec } from "../../../../kinds/types/pod.ts";
import { containersOf } from "../../../../kinds/types/pod-containers.ts";
import type { Volume } from "../../../../kinds/types/volume.ts";
import { seccompProfile } from "./baseline-checks.ts";
import { type Check, namesWhere, oneOrMore, printContainers, printSetters, quoteAll, sorted } from "./violation.ts";

/** Skips a check for pods with os.name windows, which cannot set the field. */
export function exceptOnWindows(check: Check): Check {
  return (pod) => (pod.spec.os?.name === "windows" ? undefined : check(pod));
}

/** Skips a check for pods in a user namespace (hostUsers false), where root has no privileges outside. */
export function exceptInUserNamespace(check: Check): Check {
  return (pod) => (pod.spec.hostUsers === false ? undefined : check(pod));
}

/** Restricted, allowPrivilegeEscalation must be false. */
export const allowPrivilegeEscalation: Check = ({ spec }) => {
  const names = namesWhere(spec, ({ securityContext }) => securityContext?.allowPrivilegeEscalation !== false);
  if (names.length === 0) return undefined;
  return {
    reason: "allowPrivilegeEscalation != false",
    detail: `${printContainers(names)} must set securityContext.allowPrivilegeEscalation=false`,
  };
};

/** Restricted, capabilities_restricted: drop ALL, and add NET_BIND_SERVICE only. */
export const restrictedCapabilities: Check = ({ spec }) => {
  const surplus = ({ securityContext }: Container) =>
    (securityContext?.capabilities?.add ?? []).filter((one) => one !== "NET_BIND_SERVICE");
  const keeping = namesWhere(spec, ({ securityContext }) => !securityContext?.capabilities?.drop?.includes("ALL"));
  const adding = namesWhere(spec, (container) => surplus(container).length > 0);
  const details: string[] = [];
  if (keeping.length > 0) {
    details.push(`${printContainers(keeping)} must set securityContext.capabilities.drop=["ALL"]`);
  }
  if (adding.length > 0) {
    const values = quoteAll(sorted(containersOf(spec).flatMap(surplus)));
    details.push(`${printContainers(adding)} must not include ${values} in securityContext.capabilities.add`);
  }
  if (details.length === 0) return undefined;
  return { reason: "unrestricted capabilities", detail: details.join("; ") };
};

const ALLOWED_VOLUMES = [
  "configMap",
  "csi",
  "downwardAPI",
  "emptyDir",
  "ephemeral",
  "image",
  "persistentVolumeClaim",
  "projected",
  "secret",
];
const OTHER_VOLUMES = [
  "hostPath",
  "gcePersistentDisk",
  "awsElasticBlockStore",
  "gitRepo",
  "nfs",
  "iscsi",
  "glusterfs",
  "rbd",
  "flexVolume",
  "cinder",
  "cephfs",
  "flocker",
  "fc",
  "azureFile",
  "vsphereVolume",
  "quobyte",
  "azureDisk",
  "photonPersistentDisk",
  "portworxVolume",
  "scaleIO",
  "storageos",
];

/**
 * Restricted, restrictedVolumes: only configMap, csi, downwardAPI, emptyDir, ephemeral, image, persistentVolumeClaim,
 * projected and secret.
 */
export const restrictedVolumes: Check = ({ spec }) => {
  const has = (volume: Volume) => (type: string) => volume[type] !== undefined;
  const bad = (spec.volumes ?? []).filter((volume) => !ALLOWED_VOLUMES.some(has(volume)));
  if (bad.length === 0) return undefined;
  const types = sorted(bad.map((volume) => OTHER_VOLUMES.find(has(volume)) ?? "unknown"));
  const names = `${oneOrMore(bad.length, "volume")} ${quoteAll(bad.map(({ name = "" }) => name))}`;
  const uses = `${oneOrMore(bad.length, "uses", "use")} ${oneOrMore(types.length, "restricted volume type")}`;
  return { reason: "restricted volume types", detail: `${names} ${uses} ${quoteAll(types)}` };
};

/** Restricted, runAsNonRoot must be true. */
export const runAsNonRoot: Check = ({ spec }) => {
  const reason = "runAsNonRoot != true";
  const choice = spec.securityContext?.runAsNonRoot;
  const setters = printSetters(
    choice === false,
    namesWhere(spec, ({ securityContext }) => securityContext?.runAsNonRoot === false),
  );
  if (setters !== "") return { reason, detail: `${setters} must not set securityContext.runAsNonRoot=false` };
  const silent = silentContainers(spec, choice === true, ({ securityContext }) => securityContext?.runAsNonRoot);
  if (silent.length === 0) return undefined;
  return { reason, detail: `pod or ${printContainers(silent)} must set securityContext.runAsNonRoot=true` };
};

/** Containers that do not set a field, if the pod does not set it either. */
function silentContainers(spec: PodSpec, isChosen: boolean, choiceOf: (container: Container) => unknown): string[] {
  return isChosen ? [] : namesWhere(spec, (container) => choiceOf(container) === undefined);
}

/** Restricted, runAsUser must not be 0. */
export const runAsUser: Check = ({ spec }) => {
  const setters = printSetters(
    spec.securityContext?.runAsUser === 0,
    namesWhere(spec, ({ securityContext }) => securityContext?.runAsUser === 0),
  );
  return setters === "" ? undefined : { reason: "runAsUser=0", detail: `${setters} must not set runAsUser=0` };
};

/** Restricted, seccompProfile_restricted: RuntimeDefault or Localhost is required. */
export const requiredSeccompProfile: Check = (pod) => {
  const { spec } = pod;
  const violation = seccompProfile(pod);
  if (violation) return violation;
  const isChosen = spec.securityContext?.seccompProfile !== undefined;
  const silent = silentContainers(spec, isChosen, ({ securityContext }) => securityContext?.seccompProfile);
  if (silent.length === 0) return undefined;
  const detail = `pod or ${printContainers(silent)} must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost"`;
  return { reason: "seccompProfile", detail };
};
