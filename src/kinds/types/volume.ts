import type { JsonObject, ObjectMeta } from "../../base/api/object.ts";
import type { KeyToPath, LocalObjectReference, ObjectFieldSelector, ResourceFieldSelector } from "./container.ts";
import type { LabelSelector, Texts } from "./meta.ts";

/** Volume of core/v1; exactly one VolumeSource is set. */
export interface Volume extends JsonObject {
  name?: string;
  hostPath?: HostPathVolumeSource;
  emptyDir?: EmptyDirVolumeSource;
  gcePersistentDisk?: GCEPersistentDiskVolumeSource;
  awsElasticBlockStore?: AWSElasticBlockStoreVolumeSource;
  gitRepo?: GitRepoVolumeSource;
  secret?: SecretVolumeSource;
  nfs?: NFSVolumeSource;
  iscsi?: ISCSIVolumeSource;
  glusterfs?: GlusterfsVolumeSource;
  persistentVolumeClaim?: PersistentVolumeClaimVolumeSource;
  rbd?: RBDVolumeSource;
  flexVolume?: FlexVolumeSource;
  cinder?: CinderVolumeSource;
  cephfs?: CephFSVolumeSource;
  flocker?: FlockerVolumeSource;
  downwardAPI?: DownwardAPIVolumeSource;
  fc?: FCVolumeSource;
  azureFile?: AzureFileVolumeSource;
  configMap?: ConfigMapVolumeSource;
  vsphereVolume?: VsphereVirtualDiskVolumeSource;
  quobyte?: QuobyteVolumeSource;
  azureDisk?: AzureDiskVolumeSource;
  photonPersistentDisk?: PhotonPersistentDiskVolumeSource;
  projected?: ProjectedVolumeSource;
  portworxVolume?: PortworxVolumeSource;
  scaleIO?: ScaleIOVolumeSource;
  storageos?: StorageOSVolumeSource;
  csi?: CSIVolumeSource;
  ephemeral?: EphemeralVolumeSource;
  image?: ImageVolumeSource;
}

/** HostPathVolumeSource of core/v1. */
export interface HostPathVolumeSource extends JsonObject {
  path?: string;
  type?: string;
}

/** EmptyDirVolumeSource of core/v1. */
export interface EmptyDirVolumeSource extends JsonObject {
  medium?: string;
  sizeLimit?: string;
  mode?: number;
}

/** GCEPersistentDiskVolumeSource of core/v1. */
export interface GCEPersistentDiskVolumeSource extends JsonObject {
  pdName?: string;
  fsType?: string;
  partition?: number;
  readOnly?: boolean;
}

/** AWSElasticBlockStoreVolumeSource of core/v1. */
export interface AWSElasticBlockStoreVolumeSource extends JsonObject {
  volumeID?: string;
  fsType?: string;
  partition?: number;
  readOnly?: boolean;
}

/** GitRepoVolumeSource of core/v1. */
export interface GitRepoVolumeSource extends JsonObject {
  repository?: string;
  revision?: string;
  directory?: string;
}

/** SecretVolumeSource of core/v1. */
export interface SecretVolumeSource extends JsonObject {
  secretName?: string;
  items?: KeyToPath[];
  defaultMode?: number;
  optional?: boolean;
  defaultUser?: number;
}

/** NFSVolumeSource of core/v1. */
export interface NFSVolumeSource extends JsonObject {
  server?: string;
  path?: string;
  readOnly?: boolean;
}

/** ISCSIVolumeSource of core/v1. */
export interface ISCSIVolumeSource extends JsonObject {
  targetPortal?: string;
  iqn?: string;
  lun?: number;
  iscsiInterface?: string;
  fsType?: string;
  readOnly?: boolean;
  portals?: string[];
  chapAuthDiscovery?: boolean;
  chapAuthSession?: boolean;
  secretRef?: LocalObjectReference;
  initiatorName?: string;
}

/** GlusterfsVolumeSource of core/v1. */
export interface GlusterfsVolumeSource extends JsonObject {
  endpoints?: string;
  path?: string;
  readOnly?: boolean;
}

/** PersistentVolumeClaimVolumeSource of core/v1. */
export interface PersistentVolumeClaimVolumeSource extends JsonObject {
  claimName?: string;
  readOnly?: boolean;
}

/** RBDVolumeSource of core/v1. */
export interface RBDVolumeSource extends JsonObject {
  monitors?: string[];
  image?: string;
  fsType?: string;
  pool?: string;
  user?: string;
  keyring?: string;
  secretRef?: LocalObjectReference;
  readOnly?: boolean;
}

/** FlexVolumeSource of core/v1. */
export interface FlexVolumeSource extends JsonObject {
  driver?: string;
  fsType?: string;
  secretRef?: LocalObjectReference;
  readOnly?: boolean;
  options?: Texts;
}

/** CinderVolumeSource of core/v1. */
export interface CinderVolumeSource extends JsonObject {
  volumeID?: string;
  fsType?: string;
  readOnly?: boolean;
  secretRef?: LocalObjectReference;
}

/** CephFSVolumeSource of core/v1. */
export interface CephFSVolumeSource extends JsonObject {
  monitors?: string[];
  path?: string;
  user?: string;
  secretFile?: string;
  secretRef?: LocalObjectReference;
  readOnly?: boolean;
}

/** FlockerVolumeSource of core/v1. */
export interface FlockerVolumeSource extends JsonObject {
  datasetName?: string;
  datasetUUID?: string;
}

/** DownwardAPIVolumeSource of core/v1. */
export interface DownwardAPIVolumeSource extends JsonObject {
  items?: DownwardAPIVolumeFile[];
  defaultMode?: number;
  defaultUser?: number;
}

/** DownwardAPIVolumeFile of core/v1. */
export interface DownwardAPIVolumeFile extends JsonObject {
  path?: string;
  fieldRef?: ObjectFieldSelector;
  resourceFieldRef?: ResourceFieldSelector;
  mode?: number;
  user?: number;
}

/** FCVolumeSource of core/v1. */
export interface FCVolumeSource extends JsonObject {
  targetWWNs?: string[];
  lun?: number;
  fsType?: string;
  readOnly?: boolean;
  wwids?: string[];
}

/** AzureFileVolumeSource of core/v1. */
export interface AzureFileVolumeSource extends JsonObject {
  secretName?: string;
  shareName?: string;
  readOnly?: boolean;
}

/** ConfigMapVolumeSource of core/v1. */
export interface ConfigMapVolumeSource extends JsonObject {
  name?: string;
  items?: KeyToPath[];
  defaultMode?: number;
  optional?: boolean;
  defaultUser?: number;
}

/** VsphereVirtualDiskVolumeSource of core/v1. */
export interface VsphereVirtualDiskVolumeSource extends JsonObject {
  volumePath?: string;
  fsType?: string;
  storagePolicyName?: string;
  storagePolicyID?: string;
}

/** QuobyteVolumeSource of core/v1. */
export interface QuobyteVolumeSource extends JsonObject {
  registry?: string;
  volume?: string;
  readOnly?: boolean;
  user?: string;
  group?: string;
  tenant?: string;
}

/** AzureDiskVolumeSource of core/v1. */
export interface AzureDiskVolumeSource extends JsonObject {
  diskName?: string;
  diskURI?: string;
  cachingMode?: string;
  fsType?: string;
  readOnly?: boolean;
  kind?: string;
}

/** PhotonPersistentDiskVolumeSource of core/v1. */
export interface PhotonPersistentDiskVolumeSource extends JsonObject {
  pdID?: string;
  fsType?: string;
}

/** ProjectedVolumeSource of core/v1. */
export interface ProjectedVolumeSource extends JsonObject {
  /** Has no omitempty, so null means none. */
  sources?: VolumeProjection[] | null;
  defaultMode?: number;
  defaultUser?: number;
}

/** VolumeProjection of core/v1. */
export interface VolumeProjection extends JsonObject {
  secret?: SecretProjection;
  downwardAPI?: DownwardAPIProjection;
  configMap?: ConfigMapProjection;
  serviceAccountToken?: ServiceAccountTokenProjection;
  clusterTrustBundle?: ClusterTrustBundleProjection;
  podCertificate?: PodCertificateProjection;
}

/** SecretProjection of core/v1. */
export interface SecretProjection extends JsonObject {
  name?: string;
  items?: KeyToPath[];
  optional?: boolean;
}

/** DownwardAPIProjection of core/v1. */
export interface DownwardAPIProjection extends JsonObject {
  items?: DownwardAPIVolumeFile[];
}

/** ConfigMapProjection of core/v1. */
export interface ConfigMapProjection extends JsonObject {
  name?: string;
  items?: KeyToPath[];
  optional?: boolean;
}

/** ServiceAccountTokenProjection of core/v1. */
export interface ServiceAccountTokenProjection extends JsonObject {
  audience?: string;
  expirationSeconds?: number;
  path?: string;
  user?: number;
}

/** ClusterTrustBundleProjection of core/v1. */
export interface ClusterTrustBundleProjection extends JsonObject {
  name?: string;
  signerName?: string;
  labelSelector?: LabelSelector;
  optional?: boolean;
  path?: string;
  user?: number;
}

/** PodCertificateProjection of core/v1. */
export interface PodCertificateProjection extends JsonObject {
  signerName?: string;
  keyType?: string;
  maxExpirationSeconds?: number;
  credentialBundlePath?: string;
  keyPath?: string;
  certificateChainPath?: string;
  userAnnotations?: Texts;
  user?: number;
}

/** PortworxVolumeSource of core/v1. */
export interface PortworxVolumeSource extends JsonObject {
  volumeID?: string;
  fsType?: string;
  readOnly?: boolean;
}

/** ScaleIOVolumeSource of core/v1. */
export interface ScaleIOVolumeSource extends JsonObject {
  gateway?: string;
  system?: string;
  secretRef?: LocalObjectReference;
  sslEnabled?: boolean;
  protectionDomain?: string;
  storagePool?: string;
  storageMode?: string;
  volumeName?: string;
  fsType?: string;
  readOnly?: boolean;
}

/** StorageOSVolumeSource of core/v1. */
export interface StorageOSVolumeSource extends JsonObject {
  volumeName?: string;
  volumeNamespace?: string;
  fsType?: string;
  readOnly?: boolean;
  secretRef?: LocalObjectReference;
}

/** CSIVolumeSource of core/v1. */
export interface CSIVolumeSource extends JsonObject {
  driver?: string;
  readOnly?: boolean;
  fsType?: string;
  volumeAttributes?: Texts;
  nodePublishSecretRef?: LocalObjectReference;
}

/** EphemeralVolumeSource of core/v1. */
export interface EphemeralVolumeSource extends JsonObject {
  volumeClaimTemplate?: PersistentVolumeClaimTemplate;
}

/** PersistentVolumeClaimTemplate of core/v1. */
export interface PersistentVolumeClaimTemplate extends JsonObject {
  metadata?: ObjectMeta;
  spec?: PersistentVolumeClaimSpec;
}

/** PersistentVolumeClaimSpec of core/v1. */
export interface PersistentVolumeClaimSpec extends JsonObject {
  accessModes?: string[];
  selector?: LabelSelector;
  resources?: VolumeResourceRequirements;
  volumeName?: string;
  storageClassName?: string;
  volumeMode?: string;
  dataSource?: TypedLocalObjectReference;
  dataSourceRef?: TypedObjectReference;
  volumeAttributesClassName?: string;
}

/** VolumeResourceRequirements of core/v1. */
export interface VolumeResourceRequirements extends JsonObject {
  limits?: Texts;
  requests?: Texts;
}

/** TypedLocalObjectReference of core/v1. */
export interface TypedLocalObjectReference extends JsonObject {
  apiGroup?: string | null;
  kind?: string;
  name?: string;
}

/** TypedObjectReference of core/v1. */
export interface TypedObjectReference extends JsonObject {
  apiGroup?: string | null;
  kind?: string;
  name?: string;
  namespace?: string;
}

/** ImageVolumeSource of core/v1. */
export interface ImageVolumeSource extends JsonObject {
  reference?: string;
  pullPolicy?: string;
}
