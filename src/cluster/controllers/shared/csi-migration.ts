import type { ObjectMeta } from "../../../base/api/object.ts";
import { getMember } from "../../../base/util/members.ts";

/** Set on objects of a former in-tree plugin: the CSI driver that takes care of them. */
export const MIGRATED_TO = "pv.kubernetes.io/migrated-to";

/** Former in-tree plugins: their source in the spec of a volume, and their CSI driver. */
const MIGRATED: Readonly<Record<string, { readonly source: string; readonly driver: string }>> = {
  "kubernetes.io/aws-ebs": { source: "awsElasticBlockStore", driver: "ebs.csi.aws.com" },
  "kubernetes.io/azure-disk": { source: "azureDisk", driver: "disk.csi.azure.com" },
  "kubernetes.io/azure-file": { source: "azureFile", driver: "file.csi.azure.com" },
  "kubernetes.io/cinder": { source: "cinder", driver: "cinder.csi.openstack.org" },
  "kubernetes.io/gce-pd": { source: "gcePersistentDisk", driver: "pd.csi.storage.gke.io" },
  "kubernetes.io/portworx-volume": { source: "portworxVolume", driver: "pxd.portworx.com" },
  "kubernetes.io/vsphere-volume": { source: "vsphereVolume", driver: "csi.vsphere.vmware.com" },
};

/** The CSI driver that replaces a former in-tree plugin. */
export const driverOf = (plugin: string): string | undefined => getMember(MIGRATED, plugin)?.driver;

/** The former in-tree plugin whose source a volume has. */
export function migratedPlugin(spec: object): string | undefined {
  return Object.entries(MIGRATED).find(([, { source }]) => source in spec)?.[0];
}

/**
 * The annotations with the CSI driver of the provisioner that one of the annotations `names` names. Undefined if they do
 * not change.
 */
export function migratedAnnotations(
  { annotations = {} }: ObjectMeta,
  names: readonly string[],
): ObjectMeta["annotations"] | undefined {
  const provisioner = names.map((name) => annotations[name]).find((value) => value !== undefined);
  if (provisioner === undefined) return undefined;
  const driver = driverOf(provisioner) ?? "";
  if ((annotations[MIGRATED_TO] ?? "") === driver) return undefined;
  const { [MIGRATED_TO]: _, ...others } = annotations;
  return driver === "" ? others : { ...others, [MIGRATED_TO]: driver };
}
