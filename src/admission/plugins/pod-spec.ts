import { isObject, type KubeObject } from "../../api/object.ts";

/** Amounts of resources as they are written. */
export type ResourceTexts = { [name: string]: string };

/** What something needs and may take. */
export interface ResourceRequirements {
  requests?: ResourceTexts;
  limits?: ResourceTexts;
}

/** What settings of security a pod and its containers have in common. */
export interface SecurityContext {
  runAsNonRoot?: boolean;
  runAsUser?: number;
  seLinuxOptions?: { type?: string; user?: string; role?: string };
  seccompProfile?: { type?: string };
  appArmorProfile?: { type?: string };
  windowsOptions?: { hostProcess?: boolean };
}

/** Settings of security that only containers have. */
export interface ContainerSecurityContext extends SecurityContext {
  privileged?: boolean;
  allowPrivilegeEscalation?: boolean;
  procMount?: string;
  capabilities?: { add?: string[]; drop?: string[] };
}

/** What a probe or a hook does. */
export interface Action {
  httpGet?: { host?: string };
  tcpSocket?: { host?: string };
}

/** A reference to a secret by its name. */
export interface Named {
  name?: string;
}

/** What plugins read of a container. The object has been decoded by its schema, so what is there has its type. */
export interface Container {
  name: string;
  image?: string;
  restartPolicy?: string;
  resources?: ResourceRequirements;
  securityContext?: ContainerSecurityContext;
  ports?: { hostPort?: number }[];
  livenessProbe?: Action;
  readinessProbe?: Action;
  startupProbe?: Action;
  lifecycle?: { postStart?: Action; preStop?: Action };
  volumeMounts?: { name?: string; mountPath?: string; readOnly?: boolean }[];
  env?: { name: string; valueFrom?: { secretKeyRef?: Named } }[];
  envFrom?: { secretRef?: Named }[];
}

/** One volume of a pod, by its name and its one source. */
export interface Volume {
  name: string;
  [source: string]: unknown;
}

/** Which nodes a pod wants because of other pods. */
export interface PodAffinityTerm {
  namespaces?: string[];
  namespaceSelector?: object;
}

interface PodAffinity {
  requiredDuringSchedulingIgnoredDuringExecution?: PodAffinityTerm[];
  preferredDuringSchedulingIgnoredDuringExecution?: { podAffinityTerm?: PodAffinityTerm }[];
}

/** A taint that a pod does not mind. */
export interface Toleration {
  key?: string;
  operator?: string;
  value?: string;
  effect?: string;
  tolerationSeconds?: number;
}

/** What plugins read of the specification of a pod. */
export interface PodSpec {
  containers?: Container[];
  initContainers?: Container[];
  ephemeralContainers?: Container[];
  volumes?: Volume[];
  resources?: ResourceRequirements;
  overhead?: ResourceTexts;
  securityContext?: SecurityContext & { sysctls?: { name: string }[] };
  hostNetwork?: boolean;
  hostPID?: boolean;
  hostIPC?: boolean;
  hostUsers?: boolean;
  os?: { name?: string };
  nodeName?: string;
  nodeSelector?: { [label: string]: string };
  tolerations?: Toleration[];
  runtimeClassName?: string;
  priorityClassName?: string;
  activeDeadlineSeconds?: number;
  affinity?: { podAffinity?: PodAffinity; podAntiAffinity?: PodAffinity };
  serviceAccountName?: string;
  serviceAccount?: string;
  automountServiceAccountToken?: boolean;
  imagePullSecrets?: Named[];
}

/** What is known of one container while it runs. */
export interface ContainerStatus {
  name: string;
  resources?: ResourceRequirements;
  allocatedResources?: ResourceTexts;
}

/** What plugins read of the status of a pod. */
export interface PodStatus {
  phase?: string;
  qosClass?: string;
  conditions?: { type?: string; reason?: string }[];
  containerStatuses?: ContainerStatus[];
  initContainerStatuses?: ContainerStatus[];
}

/** The specification of a pod, for reading and changing. */
export function podSpecOf(pod: KubeObject): PodSpec {
  if (!isObject(pod.spec)) pod.spec = {};
  return pod.spec as PodSpec;
}

/** The status of a pod. */
export function podStatusOf({ status }: KubeObject): PodStatus {
  return isObject(status) ? (status as PodStatus) : {};
}

/** Whether a container that starts before the others stays beside them. */
export function isSidecar({ restartPolicy }: Container): boolean {
  return restartPolicy === "Always";
}
