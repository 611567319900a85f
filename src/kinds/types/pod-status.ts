import { isObject, type JsonObject, type KubeObject } from "../../base/api/object.ts";
import type { ResourceRequirements } from "./container.ts";
import type { Texts } from "./meta.ts";

/** PodStatus of core/v1. */
export interface PodStatus extends JsonObject {
  observedGeneration?: number;
  phase?: string;
  conditions?: PodCondition[];
  message?: string;
  reason?: string;
  nominatedNodeName?: string;
  hostIP?: string;
  hostIPs?: HostIP[];
  podIP?: string;
  podIPs?: PodIP[];
  startTime?: string;
  initContainerStatuses?: ContainerStatus[];
  containerStatuses?: ContainerStatus[];
  qosClass?: string;
  ephemeralContainerStatuses?: ContainerStatus[];
  resize?: string;
  resourceClaimStatuses?: PodResourceClaimStatus[];
  extendedResourceClaimStatus?: PodExtendedResourceClaimStatus;
  allocatedResources?: Texts;
  resources?: ResourceRequirements;
  nodeAllocatableResourceClaimStatuses?: NodeAllocatableResourceClaimStatus[];
  volumeHealth?: PodVolumeHealth[];
}

/** The status of a pod; a detached empty object if it has none. */
export function podStatusOf({ status }: KubeObject): PodStatus {
  return isObject(status) ? status : {};
}

/** PodCondition of core/v1. */
export interface PodCondition extends JsonObject {
  type?: string;
  observedGeneration?: number;
  status?: string;
  lastProbeTime?: string | null;
  lastTransitionTime?: string;
  reason?: string;
  message?: string;
}

/** HostIP of core/v1. */
export interface HostIP extends JsonObject {
  ip?: string;
}

/** PodIP of core/v1. */
export interface PodIP extends JsonObject {
  ip?: string;
}

/** ContainerStatus of core/v1. */
export interface ContainerStatus extends JsonObject {
  name?: string;
  state?: ContainerState;
  lastState?: ContainerState;
  ready?: boolean;
  restartCount?: number;
  image?: string;
  imageID?: string;
  containerID?: string;
  started?: boolean;
  allocatedResources?: Texts;
  resources?: ResourceRequirements;
  volumeMounts?: VolumeMountStatus[];
  user?: ContainerUser;
  allocatedResourcesStatus?: ResourceStatus[];
  stopSignal?: string;
}

/** ContainerState of core/v1. */
export interface ContainerState extends JsonObject {
  waiting?: ContainerStateWaiting;
  running?: ContainerStateRunning;
  terminated?: ContainerStateTerminated;
}

/** ContainerStateWaiting of core/v1. */
export interface ContainerStateWaiting extends JsonObject {
  reason?: string;
  message?: string;
}

/** ContainerStateRunning of core/v1. */
export interface ContainerStateRunning extends JsonObject {
  startedAt?: string;
}

/** ContainerStateTerminated of core/v1. */
export interface ContainerStateTerminated extends JsonObject {
  exitCode?: number;
  signal?: number;
  reason?: string;
  message?: string;
  startedAt?: string;
  finishedAt?: string;
  containerID?: string;
}

/** VolumeMountStatus of core/v1. */
export interface VolumeMountStatus extends JsonObject {
  name?: string;
  mountPath?: string;
  readOnly?: boolean;
  recursiveReadOnly?: string;
  volumeStatus?: VolumeStatus;
}

/** VolumeStatus of core/v1. */
export interface VolumeStatus extends JsonObject {
  image?: ImageVolumeStatus;
}

/** ImageVolumeStatus of core/v1. */
export interface ImageVolumeStatus extends JsonObject {
  imageRef?: string;
}

/** ContainerUser of core/v1. */
export interface ContainerUser extends JsonObject {
  linux?: LinuxContainerUser;
}

/** LinuxContainerUser of core/v1. */
export interface LinuxContainerUser extends JsonObject {
  uid?: number;
  gid?: number;
  supplementalGroups?: number[];
}

/** ResourceStatus of core/v1. */
export interface ResourceStatus extends JsonObject {
  name?: string;
  resources?: ResourceHealth[];
}

/** ResourceHealth of core/v1. */
export interface ResourceHealth extends JsonObject {
  resourceID?: string;
  health?: string;
  message?: string;
}

/** PodResourceClaimStatus of core/v1. */
export interface PodResourceClaimStatus extends JsonObject {
  name?: string;
  resourceClaimName?: string;
}

/** PodExtendedResourceClaimStatus of core/v1. */
export interface PodExtendedResourceClaimStatus extends JsonObject {
  requestMappings?: ContainerExtendedResourceRequest[];
  resourceClaimName?: string;
}

/** ContainerExtendedResourceRequest of core/v1. */
export interface ContainerExtendedResourceRequest extends JsonObject {
  containerName?: string;
  resourceName?: string;
  requestName?: string;
}

/** NodeAllocatableResourceClaimStatus of core/v1. */
export interface NodeAllocatableResourceClaimStatus extends JsonObject {
  resourceClaimName?: string;
  containers?: string[];
  mapping?: NodeAllocatableMappedResources[];
  overhead?: NodeAllocatableOverheadResources[];
}

/** NodeAllocatableMappedResources of core/v1. */
export interface NodeAllocatableMappedResources extends JsonObject {
  name?: string;
  quantity?: string;
}

/** NodeAllocatableOverheadResources of core/v1. */
export interface NodeAllocatableOverheadResources extends JsonObject {
  name?: string;
  perPod?: string;
  perContainer?: string;
}

/** PodVolumeHealth of core/v1. */
export interface PodVolumeHealth extends JsonObject {
  name?: string;
  healthConditions?: VolumeHealthCondition[];
  lastTransitionTime?: string;
}

/** VolumeHealthCondition of core/v1. */
export interface VolumeHealthCondition extends JsonObject {
  status?: string;
  reason?: string;
  message?: string;
}
