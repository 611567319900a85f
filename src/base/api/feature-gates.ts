import { parseBool } from "../go/parse-bool.ts";

/** The maturity of a Kubernetes feature gate. */
export type FeatureStage = "Alpha" | "Beta" | "GA" | "Deprecated";

/** A feature gate of Kubernetes 1.37, and which of its values this server implements. */
export interface FeatureGate {
  readonly stage: FeatureStage;
  /** The release that introduced this stage and default. */
  readonly since: string;
  /** The default value in kube-apiserver. */
  readonly default: boolean;
  /** kube-apiserver rejects any other value. */
  readonly lockedToDefault?: boolean;
  /** "both": the gate can be switched. Otherwise, the only implemented value. */
  readonly implemented: "both" | boolean;
  /** What the gate changes in this server. */
  readonly effect: string;
  /** Why the default differs from that of kube-apiserver. Omitted if it does not differ. */
  readonly difference?: string;
}

const RECORDED = "The recorded responses of kube-apiserver that Binnacle is tested against were made with the gate on.";

const table = {
  AtomicWriteVolumeUserFields: {
    ...{ stage: "Alpha", since: "1.37", default: false, implemented: "both" },
    effect: "`defaultUser` of secret, configMap, downwardAPI and projected volumes, and `user` of their files",
  },
  AuthorizePodWebsocketUpgradeCreatePermission: {
    ...{ stage: "Beta", since: "1.35", default: true, implemented: "both" },
    effect: "exec, attach and portforward by GET require the `create` permission as well",
  },
  CSIVolumeHealth: {
    ...{ stage: "Alpha", since: "1.21", default: false, implemented: false },
    effect: "`status.volumeHealth` of pods and `status.storageHealth` of CSINodes",
  },
  CompositePodGroup: {
    ...{ stage: "Alpha", since: "1.37", default: false, implemented: true },
    effect: "the kind CompositePodGroup, and the fields of Workloads and PodGroups that refer to it",
    difference: "Binnacle serves all kinds of release 1.37 by default.",
  },
  ConstrainedImpersonation: {
    ...{ stage: "Beta", since: "1.36", default: true, implemented: "both" },
    effect: "the verbs `impersonate:…` and `impersonate-on:…`, tried before `impersonate`",
  },
  ContainerStopSignals: {
    ...{ stage: "Alpha", since: "1.33", default: false, implemented: "both" },
    effect: "`lifecycle.stopSignal` of containers",
  },
  CoordinatedLeaderElection: {
    ...{ stage: "Beta", since: "1.33", default: false, implemented: true },
    effect: "`spec.strategy` and `spec.preferredHolder` of Leases, and the kind LeaseCandidate",
    difference: RECORDED,
  },
  CrossNamespaceVolumeDataSource: {
    ...{ stage: "Alpha", since: "1.26", default: false, implemented: "both" },
    effect: "`spec.dataSourceRef.namespace` of PersistentVolumeClaims",
  },
  DRADerivedAttributes: {
    ...{ stage: "Alpha", since: "1.37", default: false, implemented: false },
    effect: "`derivedAttributes` of the device requests of ResourceClaims and their templates",
  },
  DRADeviceCompatibilityGroups: {
    ...{ stage: "Alpha", since: "1.37", default: false, implemented: false },
    effect: "`consumesCounters[*].compatibilityGroups` of the devices of ResourceSlices",
  },
  DRAFractionalCapacityRange: {
    // The default is true only from compatibility version 1.37 on; kube-apiserver 1.37 emulates 1.36 in this.
    ...{ stage: "Beta", since: "1.37", default: false, implemented: false },
    effect: "fractions in the `requestPolicy` of device capacity",
  },
  DRAListTypeAttributes: {
    ...{ stage: "Alpha", since: "1.36", default: false, implemented: false },
    effect: "`bools`, `ints`, `strings` and `versions` in the attributes of devices",
  },
  DRANodeAllocatableResources: {
    ...{ stage: "Alpha", since: "1.36", default: false, implemented: false },
    effect: "`nodeAllocatableResources` of devices and `status.nodeAllocatableResourceClaimStatuses` of pods",
  },
  DRAOptionalNodeOperations: {
    ...{ stage: "Alpha", since: "1.37", default: false, implemented: false },
    effect: "`skipNodeOperations` of ResourceSlices and of the allocation results of ResourceClaims",
  },
  DRAPartitionableDevicesType: {
    ...{ stage: "Alpha", since: "1.37", default: false, implemented: false },
    effect: "`partitionTypeAttribute` of ResourceSlices, `defaultPartitionTypeAttribute` of ResourcePoolStatusRequests",
  },
  DRAWorkloadResourceClaims: {
    ...{ stage: "Beta", since: "1.37", default: false, implemented: true },
    effect: "`resourceClaims` of PodGroups and of the templates in Workloads",
    difference: RECORDED,
  },
  EmptyDirVolumeMode: {
    ...{ stage: "Alpha", since: "1.37", default: false, implemented: "both" },
    effect: "`emptyDir.mode` of volumes",
  },
  EvictionRequestAPI: {
    ...{ stage: "Alpha", since: "1.37", default: false, implemented: false },
    effect: "`spec.evictionResponders` of pods; the kinds of lifecycle.k8s.io are served regardless",
  },
  ExtendWebSocketsToKubelet: {
    ...{ stage: "Beta", since: "1.36", default: true, implemented: "both" },
    effect: "WebSockets of exec, attach and portforward are forwarded unchanged to nodes that declare the feature",
  },
  GRPCContainerProbeTLS: {
    ...{ stage: "Alpha", since: "1.37", default: false, implemented: "both" },
    effect: "`grpc.mode` of probes",
  },
  GenericWorkload: {
    ...{ stage: "Beta", since: "1.37", default: false, implemented: true },
    effect: "the kinds Workload and PodGroup, and `spec.schedulingGroup` of pods",
    difference: RECORDED,
  },
  H2CContainerProbe: {
    ...{ stage: "Alpha", since: "1.37", default: false, implemented: "both" },
    effect: "`httpGet.protocol` of probes and lifecycle handlers, and its default in pods",
  },
  ImageVolumeWithDigest: {
    ...{ stage: "Alpha", since: "1.35", default: false, implemented: "both" },
    effect: "`volumeMounts[*].volumeStatus` in the container statuses of pods",
  },
  InPlacePodVerticalScalingMemoryBackedVolumes: {
    ...{ stage: "Alpha", since: "1.37", default: false, implemented: false },
    effect: "changes of `spec.volumes[*].emptyDir.sizeLimit` through pods/resize",
  },
  InPlacePodVerticalScalingSchedulerPreemption: {
    ...{ stage: "Alpha", since: "1.37", default: false, implemented: false },
    effect: "`spec.podPreemptionPolicy` of Nodes",
  },
  MutablePVNodeAffinity: {
    ...{ stage: "Alpha", since: "1.35", default: false, implemented: "both" },
    effect: "changes of `spec.nodeAffinity` of PersistentVolumes",
  },
  PodGroupPreemptionPolicy: {
    ...{ stage: "Alpha", since: "1.37", default: false, implemented: false },
    effect: "`preemptionPolicy` of PodGroups, CompositePodGroups and the templates in Workloads",
  },
  PodLogsQuerySplitStreams: {
    ...{ stage: "Alpha", since: "1.32", default: false, implemented: "both" },
    effect: "`stream` of `pods/log`",
  },
  PortForwardWebsockets: {
    ...{ stage: "Beta", since: "1.31", default: true, implemented: "both" },
    effect: "portforward may tunnel SPDY in a WebSocket to nodes that support only SPDY",
  },
  ServiceAccountNodeAudienceRestriction: {
    ...{ stage: "Beta", since: "1.33", default: true, implemented: true },
    effect: "the audiences of the tokens that nodes may request",
  },
  ShardedListAndWatch: {
    ...{ stage: "Alpha", since: "1.36", default: false, implemented: true },
    effect: "the parameter `shardSelector` of lists and watches",
    difference: RECORDED,
  },
  StatefulSetRecreateStrategy: {
    ...{ stage: "Alpha", since: "1.37", default: false, implemented: "both" },
    effect: "`spec.updateStrategy.type` Recreate of StatefulSets",
  },
  TaintTolerationComparisonOperators: {
    ...{ stage: "Alpha", since: "1.35", default: false, implemented: "both" },
    effect: "the operators Lt and Gt in tolerations of pods and pod templates",
  },
  TopologyAwareWorkloadScheduling: {
    ...{ stage: "Alpha", since: "1.36", default: false, implemented: true },
    effect: "`schedulingConstraints` of PodGroups and of the templates in Workloads",
    difference: RECORDED,
  },
  TranslateStreamCloseWebsocketRequests: {
    ...{ stage: "Beta", since: "1.30", default: true, implemented: "both" },
    effect: "WebSockets of exec and attach with `v5.channel.k8s.io` are translated for nodes that support only SPDY",
  },
  UserNamespacesHostNetworkSupport: {
    ...{ stage: "Alpha", since: "1.35", default: false, implemented: "both" },
    effect: "`hostNetwork` of pods and pod templates whose `hostUsers` is false",
  },
  VolumeBindMountOptions: {
    ...{ stage: "Alpha", since: "1.37", default: false, implemented: "both" },
    effect: "`bindMountOptions` of volume mounts",
  },
  WorkloadWithJob: {
    ...{ stage: "Alpha", since: "1.36", default: false, implemented: false },
    effect: "`spec.scheduling` of Jobs and of the Job template of CronJobs",
  },
} as const satisfies Readonly<Record<string, FeatureGate>>;

/** The name of a feature gate that this server knows. */
export type FeatureGateName = keyof typeof table;

/** The Kubernetes feature gates that affect requests to this server, by name. */
export const featureGates: Readonly<Record<FeatureGateName, FeatureGate>> = table;

/** The default value of a feature gate in this server. */
export function defaultOf({ default: upstream, implemented }: FeatureGate): boolean {
  return implemented === "both" ? upstream : implemented;
}

/** Feature gates and their configured values. */
export type FeatureGateValues = Readonly<Record<string, boolean>>;

/** The enabled features of one server. */
export class FeatureGates {
  readonly #enabled: ReadonlySet<FeatureGateName>;

  /** Uses the defaults for gates that are not given. Throws if a gate is unknown or cannot have the given value. */
  constructor(given: FeatureGateValues = {}) {
    const names = Object.keys(featureGates) as FeatureGateName[];
    for (const [name, value] of Object.entries(given)) checkValue(name, value);
    this.#enabled = new Set(names.filter((name) => given[name] ?? defaultOf(featureGates[name])));
  }

  enabled(name: FeatureGateName): boolean {
    return this.#enabled.has(name);
  }
}

/** All feature gates at their defaults. */
export const defaultFeatureGates: FeatureGates = new FeatureGates();

const GROUPS = ["AllAlpha", "AllBeta"];

function checkValue(name: string, value: boolean): void {
  if (GROUPS.includes(name)) throw new Error(`${name} is not supported: set each feature gate by name`);
  const gate: FeatureGate | undefined = Object.hasOwn(table, name) ? table[name as FeatureGateName] : undefined;
  if (!gate)
    throw new Error(
      `unrecognized feature gate: ${name} (docs/reference/feature-gates.md lists those that Binnacle has)`,
    );
  if (gate.lockedToDefault && value !== gate.default) {
    throw new Error(`cannot set feature gate ${name} to ${value}, feature is locked to ${gate.default}`);
  }
  if (gate.implemented !== "both" && value !== gate.implemented) {
    throw new Error(`cannot set feature gate ${name} to ${value}: Binnacle implements only ${gate.implemented}`);
  }
}

/** Parses the value of `--feature-gates`, such as `A=true,B=false`. Throws if it is malformed. */
export function parseFeatureGates(text: string): FeatureGateValues {
  const values: Record<string, boolean> = {};
  for (const part of text.split(",")) {
    if (part === "") continue;
    const at = part.indexOf("=");
    const name = (at < 0 ? part : part.slice(0, at)).trim();
    if (at < 0) throw new Error(`missing bool value for ${name}`);
    const value = part.slice(at + 1).trim();
    const on = parseBool(value);
    if (on === undefined) {
      const reason = `strconv.ParseBool: parsing ${JSON.stringify(value)}: invalid syntax`;
      throw new Error(`invalid value of ${name}=${value}, err: ${reason}`);
    }
    values[name] = on;
  }
  return values;
}
