import { ApiError } from "../../../../base/api/api-error.ts";
import { resourceAttributes } from "../../../../base/api/attributes.ts";
import { isObject, type Json, type KubeObject } from "../../../../base/api/object.ts";
import { quote } from "../../../../base/go/quote.ts";
import { podSpecOf } from "../../../../kinds/types/pod.ts";
import type { Volume } from "../../../../kinds/types/volume.ts";
import { type NodeRequest, notListed, refuse } from "./node-request.ts";

/** serviceaccounts/token: only tokens for pods that are bound to the node, and for audiences that these pods use. */
export async function admitToken(write: NodeRequest): Promise<void> {
  const { node, request, access } = write;
  const { operation, subresource, object, namespace } = request;
  if (operation !== "CREATE" || subresource !== "token") return;
  const spec = isObject(object?.spec) ? object.spec : {};
  const { apiVersion, kind, name, uid } = isObject(spec.boundObjectRef) ? spec.boundObjectRef : {};
  if (apiVersion !== "v1" || kind !== "Pod" || typeof name !== "string" || name === "") {
    throw refuse(write, "node requested token not bound to a pod");
  }
  if (!uid) throw refuse(write, "node requested token with a pod binding without a uid");
  const pod = await access.find("", "pods", { namespace, name });
  if (!pod) throw notListed("pod", name);
  if (uid !== pod.metadata.uid) {
    const text = `the UID in the bound object reference (${uid}) does not match the UID in record`;
    throw refuse(write, `${text}. The object might have been deleted and then recreated`);
  }
  if (podSpecOf(pod).nodeName !== node) {
    throw refuse(write, "node requested token bound to a pod scheduled on a different node");
  }
  await admitAudience(write, pod, Array.isArray(spec.audiences) ? spec.audiences : []);
}

/** Upstream: `validateNodeServiceAccountAudience`. */
async function admitAudience(write: NodeRequest, pod: KubeObject, audiences: readonly Json[]): Promise<void> {
  if (audiences.length > 1) throw refuse(write, "node may only request 0 or 1 audiences");
  const audience = String(audiences[0] ?? "");
  if (await usesAudience(write, pod, audience)) return;
  const { user, resource, name, namespace } = write.request;
  const { decision, error } = await write.authorizer.authorize(
    resourceAttributes(user, {
      verb: "request-serviceaccounts-token-audience",
      apiGroup: resource.definition.group,
      apiVersion: resource.version.name,
      resource: audience,
      namespace,
      name,
    }),
  );
  if (decision === "allow") return;
  if (error !== undefined) {
    throw refuse(write, `error authorizing ${user.name} to request tokens for audience ${quote(audience)}: ${error}`);
  }
  throw refuse(write, `${user.name} is not authorized to request tokens for audience ${quote(audience)}`);
}

/** Whether a pod needs tokens for an audience: for a projected volume, or for the CSI driver of a volume. */
async function usesAudience(write: NodeRequest, pod: KubeObject, audience: string): Promise<boolean> {
  const errors: string[] = [];
  for (const volume of podSpecOf(pod).volumes ?? []) {
    if (projectsAudience(volume, audience)) return true;
    try {
      const driver = await driverOf(write, pod, volume);
      if (driver !== "" && (await driverUses(write, driver, audience))) return true;
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      errors.push(error.message);
    }
  }
  if (errors.length === 0) return false;
  // Compat: `utilerrors.NewAggregate` prints each distinct message once.
  const different = [...new Set(errors)];
  const text = different.length === 1 ? different[0] : `[${different.join(", ")}]`;
  throw refuse(write, `error validating audience ${quote(audience)}: ${text}`);
}

const projectsAudience = ({ projected }: Volume, audience: string): boolean =>
  (projected?.sources ?? []).some(({ serviceAccountToken }) => {
    return isObject(serviceAccountToken) && (serviceAccountToken.audience ?? "") === audience;
  });

/** CSI drivers that replace in-tree VolumeSources. Upstream: `csi-translation-lib`. */
const MIGRATED: readonly (readonly [member: string, driver: string])[] = [
  ["gcePersistentDisk", "pd.csi.storage.gke.io"],
  ["awsElasticBlockStore", "ebs.csi.aws.com"],
  ["cinder", "cinder.csi.openstack.org"],
  ["azureDisk", "disk.csi.azure.com"],
  ["azureFile", "file.csi.azure.com"],
  ["vsphereVolume", "csi.vsphere.vmware.com"],
  ["portworxVolume", "pxd.portworx.com"],
];

const migratedDriver = (source: { readonly [member: string]: unknown }): string =>
  MIGRATED.find(([member]) => isObject(source[member]))?.[1] ?? "";

/** The CSI driver of a volume. Empty if it has none. */
async function driverOf(write: NodeRequest, pod: KubeObject, volume: Volume): Promise<string> {
  const { name = "", namespace = "" } = pod.metadata;
  if (volume.ephemeral?.volumeClaimTemplate) return driverOfClaim(write, namespace, `${name}-${volume.name}`);
  if (volume.persistentVolumeClaim) {
    return driverOfClaim(write, namespace, volume.persistentVolumeClaim.claimName ?? "");
  }
  return volume.csi ? String(volume.csi.driver ?? "") : migratedDriver(volume);
}

async function driverOfClaim({ access }: NodeRequest, namespace: string, name: string): Promise<string> {
  const claim = await access.find("", "persistentvolumeclaims", { namespace, name });
  if (!claim) throw notListed("persistentvolumeclaim", name);
  const volumeName = isObject(claim.spec) ? String(claim.spec.volumeName ?? "") : "";
  const volume = await access.find("", "persistentvolumes", { namespace: "", name: volumeName });
  if (!volume) throw notListed("persistentvolume", volumeName);
  const spec = isObject(volume.spec) ? volume.spec : {};
  return isObject(spec.csi) ? String(spec.csi.driver ?? "") : migratedDriver(spec);
}

async function driverUses({ access }: NodeRequest, name: string, audience: string): Promise<boolean> {
  const driver = await access.find("storage.k8s.io", "csidrivers", { namespace: "", name });
  if (!driver) throw notListed("csidriver", name, "storage.k8s.io");
  const requests = isObject(driver.spec) && Array.isArray(driver.spec.tokenRequests) ? driver.spec.tokenRequests : [];
  return requests.some((one) => isObject(one) && (one.audience ?? "") === audience);
}
