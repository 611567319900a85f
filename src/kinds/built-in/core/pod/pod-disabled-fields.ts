import type { FeatureGateName, FeatureGates } from "../../../../base/api/feature-gates.ts";
import type { JsonObject } from "../../../../base/api/object.ts";
import type { Container, LifecycleHandler } from "../../../types/container.ts";
import type { Texts } from "../../../types/meta.ts";
import type { PodSpec } from "../../../types/pod.ts";
import { containersOf } from "../../../types/pod-containers.ts";
import type { PodStatus } from "../../../types/pod-status.ts";
import type { Volume } from "../../../types/volume.ts";
import { probesOf } from "./pod-spec-defaults.ts";

/** Objects that may have one of the fields of a feature gate. */
type Holders = (spec: PodSpec, containers: readonly Container[]) => (JsonObject | undefined)[];

const handlersOf = ({ lifecycle }: Container): (LifecycleHandler | undefined)[] => [
  lifecycle?.postStart,
  lifecycle?.preStop,
];

/** The parents of files of a volume: only one of its sources counts. */
function filesOf({ secret, configMap, downwardAPI, projected }: Volume): (JsonObject | undefined)[] {
  const single = secret ?? configMap ?? downwardAPI;
  if (single) return [single, ...(single.items ?? [])];
  const sources = (projected?.sources ?? []).flatMap((source) => {
    const keyed = source.secret ?? source.downwardAPI ?? source.configMap;
    if (keyed) return keyed.items ?? [];
    return [source.serviceAccountToken ?? source.clusterTrustBundle ?? source.podCertificate];
  });
  return [projected, ...sources];
}

interface GatedFields {
  readonly gate: FeatureGateName;
  readonly members: readonly string[];
  readonly holders: Holders;
}

/** The fields of a PodSpec that are dropped unless their feature gate is on, and where they occur. */
const GATED_FIELDS: readonly GatedFields[] = [
  {
    gate: "AtomicWriteVolumeUserFields",
    members: ["defaultUser", "user"],
    holders: ({ volumes = [] }) => volumes.flatMap(filesOf),
  },
  {
    gate: "GRPCContainerProbeTLS",
    members: ["mode"],
    holders: (_, containers) => containers.flatMap((one) => probesOf(one).map(({ grpc }) => grpc)),
  },
  { gate: "EvictionRequestAPI", members: ["evictionResponders"], holders: (spec) => [spec] },
  {
    gate: "EmptyDirVolumeMode",
    members: ["mode"],
    holders: ({ volumes = [] }) => volumes.map(({ emptyDir }) => emptyDir),
  },
  {
    gate: "VolumeBindMountOptions",
    members: ["bindMountOptions"],
    holders: (_, containers) => containers.flatMap((one) => one.volumeMounts ?? []),
  },
  {
    gate: "ContainerStopSignals",
    members: ["stopSignal"],
    holders: (_, containers) => containers.map(({ lifecycle }) => lifecycle),
  },
  {
    gate: "H2CContainerProbe",
    members: ["protocol"],
    holders: (_, containers) =>
      containers.flatMap((one) => [...probesOf(one), ...handlersOf(one)].map((handler) => handler?.httpGet)),
  },
];

const OLD_ANNOTATIONS = ["beta", "alpha"].flatMap((stage) =>
  ["containers", "container-statuses"].map((name) => `pod.${stage}.kubernetes.io/init-${name}`),
);

/**
 * Drops fields whose feature gate is off, unless the stored pod or template uses them, and obsolete annotations.
 * Changes `spec` and `annotations`. Upstream: `dropDisabledFields`.
 */
export function dropDisabledFields(
  spec: PodSpec,
  annotations: Texts | undefined,
  previous: PodSpec | undefined,
  features: FeatureGates,
): void {
  const containers = containersOf(spec);
  const previousContainers = previous && containersOf(previous);
  const stopped = containers.filter(({ lifecycle }) => lifecycle?.stopSignal !== undefined);
  for (const { gate, members, holders } of GATED_FIELDS) {
    const held = holders(spec, containers);
    if (!uses(held, members) || features.enabled(gate)) continue;
    if (previous && previousContainers && uses(holders(previous, previousContainers), members)) continue;
    for (const holder of held) for (const member of members) delete holder?.[member];
  }
  // Compat: `dropContainerStopSignals` drops a lifecycle that only had a stopSignal.
  for (const container of stopped) if (Object.keys(container.lifecycle ?? {}).length === 0) delete container.lifecycle;
  if (!annotations) return;
  for (const key of OLD_ANNOTATIONS) if (annotations[key] !== undefined) delete annotations[key];
}

function uses(holders: readonly (JsonObject | undefined)[], members: readonly string[]): boolean {
  for (const holder of holders) {
    if (holder === undefined) continue;
    for (const member of members) if ((holder[member] ?? undefined) !== undefined) return true;
  }
  return false;
}

const GATED_STATUS = [
  ["DRANodeAllocatableResources", "nodeAllocatableResourceClaimStatuses"],
  ["CSIVolumeHealth", "volumeHealth"],
] as const;

/**
 * Drops fields of a PodStatus whose feature gate is off, unless the stored status has them. Changes `status`. Upstream:
 * `dropDisabledPodStatusFields`.
 */
export function dropDisabledStatus(status: PodStatus, previous: PodStatus | undefined, features: FeatureGates): void {
  for (const [gate, member] of GATED_STATUS) {
    if (!features.enabled(gate) && (previous?.[member] ?? []).length === 0) delete status[member];
  }
  if (features.enabled("ImageVolumeWithDigest")) return;
  if (previous && mountsOf(previous).some(({ volumeStatus }) => volumeStatus)) return;
  for (const mount of mountsOf(status)) delete mount.volumeStatus;
}

function mountsOf(status: PodStatus) {
  const { containerStatuses = [], initContainerStatuses = [], ephemeralContainerStatuses = [] } = status;
  return [...containerStatuses, ...initContainerStatuses, ...ephemeralContainerStatuses].flatMap(
    ({ volumeMounts = [] }) => volumeMounts,
  );
}
