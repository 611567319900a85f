import { matchesLabels } from "../../../base/api/label-selector.ts";
import { isObject, type KubeObject } from "../../../base/api/object.ts";
import { readSelectorObject } from "../../../base/api/selector-object.ts";
import { quote } from "../../../base/go/quote.ts";
import type { PersistentVolumeClaim } from "../../../kinds/types/persistent-volume.ts";
import type { PodCondition } from "../../../kinds/types/pod-status.ts";
import type { ClusterTrustBundleProjection, Volume } from "../../../kinds/types/volume.ts";
import type { Pod } from "../../../kinds/types/workloads.ts";
import type { ObjectAccess } from "../../../resources/model/definition.ts";
import { controllerOf } from "../../controllers/shared/owners.ts";
import { containerStatuses, hasStarted } from "./containers.ts";

type Access = Pick<ObjectAccess, "find" | "list">;

/** Whether the volumes of a Pod have been mounted: its sandbox exists, or existed. */
export function isMounted(pod: Pod): boolean {
  const isReady = ({ type, status }: PodCondition) => type === "PodReadyToStartContainers" && status === "True";
  return (pod.status?.conditions ?? []).some(isReady) || [...containerStatuses(pod).values()].some(hasStarted);
}

/** Messages of FailedMount Events: one for each volume that cannot be mounted, and one for all claims. */
export async function volumeProblems(access: Access, pod: Pod): Promise<string[]> {
  const messages: string[] = [];
  const unbound: { volume: string; error: string }[] = [];
  for (const volume of pod.spec?.volumes ?? []) {
    const { name = "" } = volume;
    const errors = await setUpErrors(access, pod, volume);
    const error = errors.length > 1 ? `[${errors.join(", ")}]` : errors[0];
    if (error !== undefined) messages.push(`MountVolume.SetUp failed for volume ${quote(name)} : ${error}`);
    const claimError = await claimProblem(access, pod, volume);
    if (claimError !== undefined) unbound.push({ volume: name, error: claimError });
  }
  if (unbound.length > 0) messages.push(unboundMessage(unbound));
  return messages;
}

function unboundMessage(unbound: readonly { volume: string; error: string }[]): string {
  const names = unbound.map(({ volume }) => volume).sort();
  const volumes = `unmounted volumes=[${names.join(" ")}], unattached volumes=[], failed to process volumes=[${names.join(" ")}]`;
  return `Unable to attach or mount volumes: ${volumes}: ${unbound.map(({ error }) => error).join("; ")}`;
}

interface Source {
  readonly name?: string;
  readonly optional?: boolean;
  readonly items?: readonly { readonly key?: string }[];
}

/** The resources that volumes are filled from, with the members that have their keys. */
const SOURCES = {
  configmaps: {
    kind: "configmap",
    members: ["data", "binaryData"],
    missing: "configmap references non-existent config key",
  },
  secrets: { kind: "secret", members: ["data"], missing: "references non-existent secret key" },
} as const;

/** The objects that a volume is filled from. */
function sourcesOf({ configMap, secret, projected }: Volume): (readonly [keyof typeof SOURCES, Source])[] {
  const own: (readonly [keyof typeof SOURCES, Source])[] = [
    ...(configMap ? [["configmaps", configMap] as const] : []),
    ...(secret ? [["secrets", { ...secret, name: secret.secretName ?? "" }] as const] : []),
  ];
  const inside = (projected?.sources ?? []).flatMap((source) => [
    ...(source.configMap ? [["configmaps", source.configMap] as const] : []),
    ...(source.secret ? [["secrets", source.secret] as const] : []),
  ]);
  return [...own, ...inside];
}

/** Differs: Pods do not wait for the certificates of the cluster, because the controller that publishes them may be off. */
const ROOT_CERTIFICATES = "kube-root-ca.crt";

async function setUpErrors(access: Access, { metadata: { namespace = "" } }: Pod, volume: Volume): Promise<string[]> {
  const errors: string[] = [];
  for (const [plural, { name = "", optional = false, items = [] }] of sourcesOf(volume)) {
    if (name === ROOT_CERTIFICATES || optional) continue;
    const { kind, members, missing } = SOURCES[plural];
    const object = await access.find("", plural, { namespace, name });
    if (object === undefined) errors.push(`${kind} ${quote(name)} not found`);
    const absent = object && items.find(({ key = "" }) => !members.some((member) => hasKey(object, member, key)));
    if (absent) errors.push(`${missing}: ${absent.key}`);
  }
  for (const { clusterTrustBundle } of volume.projected?.sources ?? []) {
    const error = clusterTrustBundle && (await trustProblem(access, clusterTrustBundle));
    if (error !== undefined) errors.push(error);
  }
  return errors;
}

/** Upstream: GetTrustAnchorsByName and GetTrustAnchorsBySigner */
async function trustProblem(
  access: Access,
  { name, signerName, labelSelector, optional = false }: ClusterTrustBundleProjection,
): Promise<string | undefined> {
  if (optional) return undefined;
  const [group, plural] = ["certificates.k8s.io", "clustertrustbundles"];
  if (name !== undefined) {
    const found = await access.find(group, plural, { namespace: "", name }, "any");
    const message = `while getting ClusterTrustBundle: clustertrustbundle.${group} ${quote(name)} not found`;
    return found ? undefined : message;
  }
  const selector = labelSelector && readSelectorObject(labelSelector);
  const isSelected = ({ spec, metadata: { labels } }: KubeObject) =>
    isObject(spec) && spec.signerName === signerName && selector !== undefined && matchesLabels(selector, labels);
  const bundles = await access.list(group, plural, "", "any");
  if (bundles.some(isSelected)) return undefined;
  return "combination of signerName and labelSelector matched zero ClusterTrustBundles";
}

function hasKey(object: KubeObject, member: string, key: string): boolean {
  const data = object[member];
  return isObject(data) && Object.hasOwn(data, key);
}

/** Upstream: getPVCExtractPV */
async function claimProblem(access: Access, pod: Pod, volume: Volume): Promise<string | undefined> {
  const { namespace = "", name: podName = "" } = pod.metadata;
  const name = volume.persistentVolumeClaim?.claimName ?? (volume.ephemeral ? `${podName}-${volume.name}` : undefined);
  if (name === undefined) return undefined;
  const claim = (await access.find("", "persistentvolumeclaims", { namespace, name })) as
    | PersistentVolumeClaim
    | undefined;
  const about = `error processing PVC ${namespace}/${name}`;
  if (claim === undefined) {
    return `${about}: failed to fetch PVC from API server: persistentvolumeclaims ${quote(name)} not found`;
  }
  if (volume.ephemeral && controllerOf(claim)?.uid !== pod.metadata.uid) {
    return `PVC ${namespace}/${name} was not created for pod ${namespace}/${podName} (pod is not owner)`;
  }
  if (claim.metadata.deletionTimestamp !== undefined) return `${about}: PVC is being deleted`;
  if (claim.status?.phase !== "Bound") return `${about}: PVC is not bound`;
  return undefined;
}
