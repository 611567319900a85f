import type { KubeObject } from "../../../src/base/api/object.ts";
import type { PersistentVolume, PersistentVolumeClaim } from "../../../src/kinds/types/persistent-volume.ts";
import type { Random } from "../random.ts";
import type { NamespaceView } from "./cluster-view.ts";
import type { Fixture, World } from "./steps.ts";

/** Controllers that act on claims and volumes. */
export const VOLUME_CONTROLLERS = [
  ...["persistentvolume-binder-controller", "persistentvolume-expander-controller", "ephemeral-volume-controller"],
  ...["persistentvolumeclaim-protection-controller", "persistentvolume-protection-controller"],
];

/** Sources of their Events. */
export const VOLUME_COMPONENTS = ["persistentvolume-controller", "volume_expand", "ephemeral_volume"];

/** Names of claims and volumes. Either may refer to the other before that exists. */
export const CLAIM_NAMES = ["claim-a", "claim-b", "claim-c"];
export const VOLUME_NAMES = ["disk-a", "disk-b", "disk-c"];
export const ATTRIBUTES_NAMES = ["gold", "silver"];

/** Storage classes of a sequence. `none` has no object. */
const CLASSES = [
  { name: "external", provisioner: "example.com/disks", volumeBindingMode: "Immediate" },
  { name: "local", provisioner: "kubernetes.io/no-provisioner", volumeBindingMode: "Immediate" },
  { name: "ebs", provisioner: "kubernetes.io/aws-ebs", volumeBindingMode: "Immediate" },
  { name: "late", provisioner: "kubernetes.io/no-provisioner", volumeBindingMode: "WaitForFirstConsumer" },
];
const CLASS_NAMES = [...CLASSES.map(({ name }) => name), "none"];

/** The StorageClasses of a sequence. */
export function classFixtures(namespace: string): Fixture[] {
  return CLASSES.map(({ name, ...members }) => ({
    path: "/apis/storage.k8s.io/v1/storageclasses",
    body: { metadata: { name: `${namespace}.${name}` }, allowVolumeExpansion: true, ...members },
  }));
}

/** A random class of the sequence. */
export function randomClass({ random, namespace }: World): string {
  return `${namespace}.${random.pick(CLASS_NAMES)}`;
}

/** A random volume mode. */
export const randomMode = (random: Random): string => (random.chance(0.1) ? "Block" : "Filesystem");

/** Lists of access modes with different lengths, so that the choice between volumes is never random. */
export const ACCESS_MODES = [
  ["ReadWriteOnce"],
  ["ReadWriteOnce", "ReadOnlyMany"],
  ["ReadWriteOnce", "ReadOnlyMany", "ReadWriteMany"],
];

/** The name of a VolumeAttributesClass that may exist, or none. */
export function randomAttributes({ random, namespace }: World): { volumeAttributesClassName?: string } {
  return random.chance(0.1) ? { volumeAttributesClassName: `${namespace}.${random.pick(ATTRIBUTES_NAMES)}` } : {};
}

/** The VolumeAttributesClass of another object. */
export function attributesOf({ spec: { volumeAttributesClassName } }: Pick<PersistentVolume, "spec">): {
  volumeAttributesClassName?: string;
} {
  return volumeAttributesClassName === undefined ? {} : { volumeAttributesClassName };
}

/** The claims of a sequence. */
export const claimsOf = (view: NamespaceView): PersistentVolumeClaim[] =>
  view.of("PersistentVolumeClaim") as PersistentVolumeClaim[];

/** The volumes of a sequence. */
export const volumesOf = (view: NamespaceView): PersistentVolume[] => view.of("PersistentVolume") as PersistentVolume[];

/** Whether a claim competes for volumes. Two such claims would get them in random order. */
export function isCompeting({ metadata, spec, status }: PersistentVolumeClaim): boolean {
  const isVolumeClass = CLASS_NAMES.includes(spec.storageClassName?.split(".")[1] ?? "");
  return isVolumeClass && status?.phase === "Pending" && metadata.deletionTimestamp === undefined;
}

/** A name that no object of the kind has. */
export function freeName(objects: readonly KubeObject[], names: readonly string[], fallback: string): string {
  const taken = new Set(objects.map(({ metadata }) => metadata.name));
  return names.find((name) => !taken.has(name)) ?? fallback;
}
