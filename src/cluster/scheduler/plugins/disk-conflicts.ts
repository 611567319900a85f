import type { Volume } from "../../../kinds/types/volume.ts";

/** Disks that Pods on one node cannot always share. */
interface Disk<Source extends keyof Volume> {
  readonly source: Source;
  /** Whether two volumes are the same disk. */
  isSame(one: NonNullable<Volume[Source]>, other: NonNullable<Volume[Source]>): boolean;
  /** Whether Pods can share it if all of them only read. */
  readonly isSharedReadOnly: boolean;
}

const disk = <Source extends keyof Volume>(found: Disk<Source>) => ({
  isPresent: (volume: Volume) => volume[found.source] !== undefined,
  isConflicting(one: Volume, other: Volume): boolean {
    const [first, second] = [one[found.source], other[found.source]];
    if (first === undefined || second === undefined) return false;
    const isShared = found.isSharedReadOnly && isReadOnly(first) && isReadOnly(second);
    return !isShared && found.isSame(first as NonNullable<Volume[Source]>, second as NonNullable<Volume[Source]>);
  },
});

const isReadOnly = (source: unknown) => (source as { readonly readOnly?: boolean }).readOnly === true;

const DISKS = [
  disk({
    source: "gcePersistentDisk",
    isSame: (one, other) => one.pdName === other.pdName,
    isSharedReadOnly: true,
  }),
  disk({
    source: "awsElasticBlockStore",
    isSame: (one, other) => one.volumeID === other.volumeID,
    isSharedReadOnly: false,
  }),
  disk({ source: "iscsi", isSame: (one, other) => one.iqn === other.iqn, isSharedReadOnly: true }),
  disk({
    source: "rbd",
    isSame: (one, other) =>
      one.pool === other.pool &&
      one.image === other.image &&
      (one.monitors ?? []).some((monitor) => other.monitors?.includes(monitor)),
    isSharedReadOnly: true,
  }),
];

/** Whether Pods on one node cannot always share a volume. */
export const isRestricted = (volume: Volume): boolean => DISKS.some(({ isPresent }) => isPresent(volume));

/** Whether Pods on one node cannot use both volumes. Upstream: isVolumeConflict */
export const isConflicting = (one: Volume, other: Volume): boolean =>
  DISKS.some((known) => known.isConflicting(one, other));
