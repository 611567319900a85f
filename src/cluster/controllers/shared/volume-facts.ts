import { storageClassOf } from "../../../access/admission/plugins/storage-class-name.ts";
import { matchesLabels } from "../../../base/api/label-selector.ts";
import type { KubeObject } from "../../../base/api/object.ts";
import { parseQuantity, type Quantity } from "../../../base/api/quantity.ts";
import { readSelectorObject } from "../../../base/api/selector-object.ts";
import type {
  ObjectReference,
  PersistentVolume,
  PersistentVolumeClaim,
} from "../../../kinds/types/persistent-volume.ts";
import type { ServedResource } from "../../../resources/model/catalog.ts";

/** Set on a claim once it is bound. From then on it is never bound to another volume. */
export const BIND_COMPLETED = "pv.kubernetes.io/bind-completed";
/** Set on the side of a binding that this controller chose, not the user. */
export const BOUND_BY_CONTROLLER = "pv.kubernetes.io/bound-by-controller";
/** Set on a claim by the scheduler: the node for which a volume is to be provisioned. */
export const SELECTED_NODE = "volume.kubernetes.io/selected-node";
/** Set on a volume: what provisioned it. */
export const PROVISIONED_BY = "pv.kubernetes.io/provisioned-by";
/** Set on a claim: what is to provision its volume. */
export const STORAGE_PROVISIONERS = [
  "volume.kubernetes.io/storage-provisioner",
  "volume.beta.kubernetes.io/storage-provisioner",
] as const;

const ZERO = parseQuantity("0");
const amount = (text: string | undefined): Quantity => (text === undefined ? ZERO : parseQuantity(text));

/** Whether an annotation is set, with any value. */
export function hasAnnotation({ metadata }: KubeObject, name: string): boolean {
  return metadata.annotations?.[name] !== undefined;
}

/** The size of a volume. */
export const capacityOf = ({ spec }: PersistentVolume): Quantity => amount(spec.capacity?.storage);
/** The size that a claim asks for. */
export const requestOf = ({ spec }: PersistentVolumeClaim): Quantity => amount(spec.resources?.requests?.storage);
/** The volume mode of a volume or claim. */
export const modeOf = ({ spec }: PersistentVolume | PersistentVolumeClaim): string => spec.volumeMode ?? "Filesystem";
/** The VolumeAttributesClass of a volume or claim. Empty if it names none. */
export const attributesClassOf = ({ spec }: PersistentVolume | PersistentVolumeClaim): string =>
  spec.volumeAttributesClassName ?? "";

/** Volumes and claims of different groups do not match. */
export function groupOf(object: PersistentVolume | PersistentVolumeClaim): string {
  return JSON.stringify([storageClassOf(object), modeOf(object), attributesClassOf(object)]);
}

/** `namespace/name` of the claim that a volume refers to. */
export const claimRefKey = ({ namespace, name }: ObjectReference): string => `${namespace}/${name}`;

/** Whether a volume is reserved for this claim or bound to it. */
export function isBoundTo({ spec: { claimRef } }: PersistentVolume, { metadata }: PersistentVolumeClaim): boolean {
  if (claimRef?.name !== metadata.name || claimRef?.namespace !== metadata.namespace) return false;
  return (claimRef?.uid ?? "") === "" || claimRef?.uid === metadata.uid;
}

/** Whether a volume has all access modes that a claim asks for. */
export function hasAccessModes({ spec: volume }: PersistentVolume, { spec: claim }: PersistentVolumeClaim): boolean {
  const modes = new Set(volume.accessModes);
  return (claim.accessModes ?? []).every((mode) => modes.has(mode));
}

/** Whether the selector of a claim matches a volume. */
export function isSelected({ metadata }: PersistentVolume, { spec }: PersistentVolumeClaim): boolean {
  if (spec.selector === undefined) return true;
  const selector = readSelectorObject(spec.selector);
  return selector !== undefined && matchesLabels(selector, metadata.labels);
}

/** Whether a claim waits for a volume, whichever it gets. */
export function isUnbound(claim: PersistentVolumeClaim): boolean {
  return !hasAnnotation(claim, BIND_COMPLETED) && (claim.spec.volumeName ?? "") === "";
}

/** The volume with a reference to the claim. Undefined if it has one. Upstream: GetBindVolumeToClaim */
export function reservedVolume(
  volume: PersistentVolume,
  claim: PersistentVolumeClaim,
  { apiVersion, definition }: ServedResource,
): PersistentVolume | undefined {
  const { claimRef } = volume.spec;
  const isReserved = isBoundTo(volume, claim);
  if (isReserved && claimRef?.uid === claim.metadata.uid) return undefined;
  const { name = "", namespace = "", uid = "", resourceVersion = "" } = claim.metadata;
  const reference = { kind: definition.kind, namespace, name, uid, apiVersion, resourceVersion };
  const annotations = { ...volume.metadata.annotations };
  if (!isReserved) annotations[BOUND_BY_CONTROLLER] ??= "yes";
  return {
    ...volume,
    metadata: { ...volume.metadata, annotations },
    spec: { ...volume.spec, claimRef: reference },
  };
}
