import type { JsonObject } from "../../base/api/object.ts";
import type { Texts } from "./meta.ts";

/** LocalObjectReference of core/v1. */
export interface LocalObjectReference extends JsonObject {
  name?: string;
}

/** ObjectFieldSelector of core/v1. */
export interface ObjectFieldSelector extends JsonObject {
  apiVersion?: string;
  fieldPath?: string;
}

/** ResourceFieldSelector of core/v1. */
export interface ResourceFieldSelector extends JsonObject {
  containerName?: string;
  resource?: string;
  divisor?: string;
}

/** KeyToPath of core/v1. */
export interface KeyToPath extends JsonObject {
  key?: string;
  path?: string;
  mode?: number;
  user?: number;
}

/** Container of core/v1. */
export interface Container extends JsonObject {
  name?: string;
  image?: string;
  command?: string[];
  args?: string[];
  workingDir?: string;
  ports?: ContainerPort[];
  envFrom?: EnvFromSource[];
  env?: EnvVar[];
  resources?: ResourceRequirements;
  resizePolicy?: ContainerResizePolicy[];
  restartPolicy?: string;
  restartPolicyRules?: ContainerRestartRule[];
  volumeMounts?: VolumeMount[];
  volumeDevices?: VolumeDevice[];
  livenessProbe?: Probe;
  readinessProbe?: Probe;
  startupProbe?: Probe;
  lifecycle?: Lifecycle;
  terminationMessagePath?: string;
  terminationMessagePolicy?: string;
  imagePullPolicy?: string;
  securityContext?: SecurityContext;
  stdin?: boolean;
  stdinOnce?: boolean;
  tty?: boolean;
}

/** Whether an init container has restartPolicy Always: a sidecar. */
export function isSidecar({ restartPolicy }: Container): boolean {
  return restartPolicy === "Always";
}

/** ContainerPort of core/v1. */
export interface ContainerPort extends JsonObject {
  name?: string;
  hostPort?: number;
  containerPort?: number;
  protocol?: string;
  hostIP?: string;
}

/** EnvFromSource of core/v1. */
export interface EnvFromSource extends JsonObject {
  prefix?: string;
  configMapRef?: ConfigMapEnvSource;
  secretRef?: SecretEnvSource;
}

/** ConfigMapEnvSource of core/v1. */
export interface ConfigMapEnvSource extends JsonObject {
  name?: string;
  optional?: boolean;
}

/** SecretEnvSource of core/v1. */
export interface SecretEnvSource extends JsonObject {
  name?: string;
  optional?: boolean;
}

/** EnvVar of core/v1. */
export interface EnvVar extends JsonObject {
  name?: string;
  value?: string;
  valueFrom?: EnvVarSource;
}

/** EnvVarSource of core/v1. */
export interface EnvVarSource extends JsonObject {
  fieldRef?: ObjectFieldSelector;
  resourceFieldRef?: ResourceFieldSelector;
  configMapKeyRef?: ConfigMapKeySelector;
  secretKeyRef?: SecretKeySelector;
  fileKeyRef?: FileKeySelector;
}

/** ConfigMapKeySelector of core/v1. */
export interface ConfigMapKeySelector extends JsonObject {
  name?: string;
  key?: string;
  optional?: boolean;
}

/** SecretKeySelector of core/v1. */
export interface SecretKeySelector extends JsonObject {
  name?: string;
  key?: string;
  optional?: boolean;
}

/** FileKeySelector of core/v1. */
export interface FileKeySelector extends JsonObject {
  volumeName?: string;
  path?: string;
  key?: string;
  optional?: boolean;
}

/** ResourceRequirements of core/v1. */
export interface ResourceRequirements extends JsonObject {
  limits?: Texts;
  requests?: Texts;
  claims?: ResourceClaim[];
}

/** ResourceClaim of core/v1. */
export interface ResourceClaim extends JsonObject {
  name?: string;
  request?: string;
}

/** ContainerResizePolicy of core/v1. */
export interface ContainerResizePolicy extends JsonObject {
  resourceName?: string;
  restartPolicy?: string;
}

/** ContainerRestartRule of core/v1. */
export interface ContainerRestartRule extends JsonObject {
  action?: string;
  exitCodes?: ContainerRestartRuleOnExitCodes;
}

/** ContainerRestartRuleOnExitCodes of core/v1. */
export interface ContainerRestartRuleOnExitCodes extends JsonObject {
  operator?: string;
  values?: number[];
}

/** VolumeMount of core/v1. */
export interface VolumeMount extends JsonObject {
  name?: string;
  readOnly?: boolean;
  recursiveReadOnly?: string;
  mountPath?: string;
  subPath?: string;
  mountPropagation?: string;
  subPathExpr?: string;
  bindMountOptions?: string[];
}

/** VolumeDevice of core/v1. */
export interface VolumeDevice extends JsonObject {
  name?: string;
  devicePath?: string;
}

/** Probe of core/v1. */
export interface Probe extends JsonObject {
  exec?: ExecAction;
  httpGet?: HTTPGetAction;
  tcpSocket?: TCPSocketAction;
  grpc?: GRPCAction;
  initialDelaySeconds?: number;
  timeoutSeconds?: number;
  periodSeconds?: number;
  successThreshold?: number;
  failureThreshold?: number;
  terminationGracePeriodSeconds?: number;
}

/** ExecAction of core/v1. */
export interface ExecAction extends JsonObject {
  command?: string[];
}

/** HTTPGetAction of core/v1. */
export interface HTTPGetAction extends JsonObject {
  path?: string;
  port?: number | string;
  host?: string;
  scheme?: string;
  httpHeaders?: HTTPHeader[];
  protocol?: string;
}

/** HTTPHeader of core/v1. */
export interface HTTPHeader extends JsonObject {
  name?: string;
  value?: string;
}

/** TCPSocketAction of core/v1. */
export interface TCPSocketAction extends JsonObject {
  port?: number | string;
  host?: string;
}

/** GRPCAction of core/v1. */
export interface GRPCAction extends JsonObject {
  port?: number;
  service?: string;
  mode?: string;
}

/** Lifecycle of core/v1. */
export interface Lifecycle extends JsonObject {
  postStart?: LifecycleHandler;
  preStop?: LifecycleHandler;
  stopSignal?: string;
}

/** LifecycleHandler of core/v1. */
export interface LifecycleHandler extends JsonObject {
  exec?: ExecAction;
  httpGet?: HTTPGetAction;
  tcpSocket?: TCPSocketAction;
  sleep?: SleepAction;
}

/** SleepAction of core/v1. */
export interface SleepAction extends JsonObject {
  seconds?: number;
}

/** SecurityContext of core/v1. */
export interface SecurityContext extends JsonObject {
  capabilities?: Capabilities;
  privileged?: boolean;
  seLinuxOptions?: SELinuxOptions;
  windowsOptions?: WindowsSecurityContextOptions;
  runAsUser?: number;
  runAsGroup?: number;
  runAsNonRoot?: boolean;
  readOnlyRootFilesystem?: boolean;
  allowPrivilegeEscalation?: boolean;
  procMount?: string;
  seccompProfile?: SeccompProfile;
  appArmorProfile?: AppArmorProfile;
}

/** Capabilities of core/v1. */
export interface Capabilities extends JsonObject {
  add?: string[];
  drop?: string[];
}

/** SELinuxOptions of core/v1. */
export interface SELinuxOptions extends JsonObject {
  user?: string;
  role?: string;
  type?: string;
  level?: string;
}

/** WindowsSecurityContextOptions of core/v1. */
export interface WindowsSecurityContextOptions extends JsonObject {
  gmsaCredentialSpecName?: string;
  gmsaCredentialSpec?: string;
  runAsUserName?: string;
  hostProcess?: boolean;
}

/** SeccompProfile of core/v1. */
export interface SeccompProfile extends JsonObject {
  type?: string;
  localhostProfile?: string;
}

/** AppArmorProfile of core/v1. */
export interface AppArmorProfile extends JsonObject {
  type?: string;
  localhostProfile?: string;
}

/** EphemeralContainer of core/v1. */
export interface EphemeralContainer extends Container {
  targetContainerName?: string;
}
