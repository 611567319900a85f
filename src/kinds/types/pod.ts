import { isObject, type JsonObject, type KubeObject } from "../../base/api/object.ts";
import type {
  AppArmorProfile,
  Container,
  EphemeralContainer,
  LocalObjectReference,
  ResourceRequirements,
  SELinuxOptions,
  SeccompProfile,
  WindowsSecurityContextOptions,
} from "./container.ts";
import type { LabelSelector, Texts } from "./meta.ts";
import type { Volume } from "./volume.ts";

/** PodSpec of core/v1. */
export interface PodSpec extends JsonObject {
  volumes?: Volume[];
  initContainers?: Container[];
  containers?: Container[];
  ephemeralContainers?: EphemeralContainer[];
  restartPolicy?: string;
  terminationGracePeriodSeconds?: number;
  activeDeadlineSeconds?: number;
  dnsPolicy?: string;
  nodeSelector?: Texts;
  serviceAccountName?: string;
  serviceAccount?: string;
  automountServiceAccountToken?: boolean;
  nodeName?: string;
  hostNetwork?: boolean;
  hostPID?: boolean;
  hostIPC?: boolean;
  shareProcessNamespace?: boolean;
  securityContext?: PodSecurityContext;
  imagePullSecrets?: LocalObjectReference[];
  hostname?: string;
  subdomain?: string;
  affinity?: Affinity;
  schedulerName?: string;
  tolerations?: Toleration[];
  hostAliases?: HostAlias[];
  priorityClassName?: string;
  priority?: number;
  dnsConfig?: PodDNSConfig;
  readinessGates?: PodReadinessGate[];
  runtimeClassName?: string;
  enableServiceLinks?: boolean;
  preemptionPolicy?: string;
  overhead?: Texts;
  topologySpreadConstraints?: TopologySpreadConstraint[];
  setHostnameAsFQDN?: boolean;
  os?: PodOS;
  hostUsers?: boolean;
  schedulingGates?: PodSchedulingGate[];
  resourceClaims?: PodResourceClaim[];
  resources?: ResourceRequirements;
  hostnameOverride?: string;
  schedulingGroup?: PodSchedulingGroup;
  evictionResponders?: EvictionResponder[];
}

/** The spec of a pod; created if it is missing. */
export function podSpecOf(pod: KubeObject): PodSpec {
  if (!isObject(pod.spec)) pod.spec = {};
  return pod.spec;
}

/** PodSecurityContext of core/v1. */
export interface PodSecurityContext extends JsonObject {
  seLinuxOptions?: SELinuxOptions;
  windowsOptions?: WindowsSecurityContextOptions;
  runAsUser?: number;
  runAsGroup?: number;
  runAsNonRoot?: boolean;
  supplementalGroups?: number[];
  supplementalGroupsPolicy?: string;
  fsGroup?: number;
  sysctls?: Sysctl[];
  fsGroupChangePolicy?: string;
  seccompProfile?: SeccompProfile;
  appArmorProfile?: AppArmorProfile;
  seLinuxChangePolicy?: string;
}

/** Sysctl of core/v1. */
export interface Sysctl extends JsonObject {
  name?: string;
  value?: string;
}

/** Affinity of core/v1. */
export interface Affinity extends JsonObject {
  nodeAffinity?: NodeAffinity;
  podAffinity?: PodAffinity;
  podAntiAffinity?: PodAntiAffinity;
}

/** NodeAffinity of core/v1. */
export interface NodeAffinity extends JsonObject {
  requiredDuringSchedulingIgnoredDuringExecution?: NodeSelector;
  preferredDuringSchedulingIgnoredDuringExecution?: PreferredSchedulingTerm[];
}

/** NodeSelector of core/v1. */
export interface NodeSelector extends JsonObject {
  nodeSelectorTerms?: NodeSelectorTerm[];
}

/** NodeSelectorTerm of core/v1. */
export interface NodeSelectorTerm extends JsonObject {
  matchExpressions?: NodeSelectorRequirement[];
  matchFields?: NodeSelectorRequirement[];
}

/** NodeSelectorRequirement of core/v1. */
export interface NodeSelectorRequirement extends JsonObject {
  key?: string;
  operator?: string;
  values?: string[];
}

/** PreferredSchedulingTerm of core/v1. */
export interface PreferredSchedulingTerm extends JsonObject {
  weight?: number;
  preference?: NodeSelectorTerm;
}

/** PodAffinity of core/v1. */
export interface PodAffinity extends JsonObject {
  requiredDuringSchedulingIgnoredDuringExecution?: PodAffinityTerm[];
  preferredDuringSchedulingIgnoredDuringExecution?: WeightedPodAffinityTerm[];
}

/** PodAffinityTerm of core/v1. */
export interface PodAffinityTerm extends JsonObject {
  labelSelector?: LabelSelector;
  namespaces?: string[];
  topologyKey?: string;
  namespaceSelector?: LabelSelector;
  matchLabelKeys?: string[];
  mismatchLabelKeys?: string[];
}

/** WeightedPodAffinityTerm of core/v1. */
export interface WeightedPodAffinityTerm extends JsonObject {
  weight?: number;
  podAffinityTerm?: PodAffinityTerm;
}

/** PodAntiAffinity of core/v1. */
export interface PodAntiAffinity extends JsonObject {
  requiredDuringSchedulingIgnoredDuringExecution?: PodAffinityTerm[];
  preferredDuringSchedulingIgnoredDuringExecution?: WeightedPodAffinityTerm[];
}

/** Toleration of core/v1. */
export interface Toleration extends JsonObject {
  key?: string;
  operator?: string;
  value?: string;
  effect?: string;
  tolerationSeconds?: number;
}

/** HostAlias of core/v1. */
export interface HostAlias extends JsonObject {
  ip?: string;
  hostnames?: string[];
}

/** PodDNSConfig of core/v1. */
export interface PodDNSConfig extends JsonObject {
  nameservers?: string[];
  searches?: string[];
  options?: PodDNSConfigOption[];
}

/** PodDNSConfigOption of core/v1. */
export interface PodDNSConfigOption extends JsonObject {
  name?: string;
  value?: string;
}

/** PodReadinessGate of core/v1. */
export interface PodReadinessGate extends JsonObject {
  conditionType?: string;
}

/** TopologySpreadConstraint of core/v1. */
export interface TopologySpreadConstraint extends JsonObject {
  maxSkew?: number;
  topologyKey?: string;
  whenUnsatisfiable?: string;
  labelSelector?: LabelSelector;
  minDomains?: number;
  nodeAffinityPolicy?: string;
  nodeTaintsPolicy?: string;
  matchLabelKeys?: string[];
}

/** PodOS of core/v1. */
export interface PodOS extends JsonObject {
  name?: string;
}

/** PodSchedulingGate of core/v1. */
export interface PodSchedulingGate extends JsonObject {
  name?: string;
}

/** PodResourceClaim of core/v1. */
export interface PodResourceClaim extends JsonObject {
  name?: string;
  resourceClaimName?: string;
  resourceClaimTemplateName?: string;
}

/** PodSchedulingGroup of core/v1. */
export interface PodSchedulingGroup extends JsonObject {
  podGroupName?: string;
}

/** EvictionResponder of core/v1. */
export interface EvictionResponder extends JsonObject {
  name?: string;
  priority?: number;
}
