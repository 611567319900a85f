import type { Column } from "../../../../base/api/columns.ts";
import type { KubeObject } from "../../../../base/api/object.ts";
import { AGE, type Cell, column, NAME, optionalText, readText, readTexts, text, wide } from "../../cells.ts";

const ACCESS_MODES: readonly [mode: string, short: string][] = [
  ["ReadWriteOnce", "RWO"],
  ["ReadOnlyMany", "ROX"],
  ["ReadWriteMany", "RWX"],
  ["ReadWriteOncePod", "RWOP"],
];

/** Abbreviated access modes in their usual order. */
function printAccessModes(modes: readonly string[]): string {
  return ACCESS_MODES.filter(([mode]) => modes.includes(mode))
    .map(([, short]) => short)
    .join(",");
}

function printPhase(object: KubeObject): string {
  return object.metadata.deletionTimestamp === undefined ? readText(object, ".status.phase") : "Terminating";
}

const CLASS_ANNOTATION = "volume.beta.kubernetes.io/storage-class";
const storageClass: Cell = (object) =>
  object.metadata.annotations?.[CLASS_ANNOTATION] ?? readText(object, ".spec.storageClassName");

function printClaim(volume: KubeObject): string {
  const name = readText(volume, ".spec.claimRef.name");
  const namespace = readText(volume, ".spec.claimRef.namespace");
  return name === "" && namespace === "" ? "" : `${namespace}/${name}`;
}

const attributesClass = column(
  "VolumeAttributesClass",
  "string",
  optionalText(".spec.volumeAttributesClassName", "<unset>"),
);
const volumeMode = wide("VolumeMode", "string", optionalText(".spec.volumeMode", "<unset>"));

/** The table columns of PersistentVolume. */
export const volumeColumns: readonly Column[] = [
  NAME,
  column("Capacity", "string", text(".spec.capacity.storage", "0")),
  column("Access Modes", "string", (volume) => printAccessModes(readTexts(volume, ".spec.accessModes"))),
  column("Reclaim Policy", "string", text(".spec.persistentVolumeReclaimPolicy")),
  column("Status", "string", printPhase),
  column("Claim", "string", printClaim),
  column("StorageClass", "string", storageClass),
  attributesClass,
  column("Reason", "string", text(".status.reason")),
  AGE,
  volumeMode,
];

/** A cell that is empty until the claim has a volume. */
function whenBound(cell: Cell): Cell {
  return (claim, now) => (readText(claim, ".spec.volumeName") === "" ? "" : cell(claim, now));
}

/** The table columns of PersistentVolumeClaim. */
export const claimColumns: readonly Column[] = [
  NAME,
  column("Status", "string", printPhase),
  column("Volume", "string", text(".spec.volumeName")),
  column("Capacity", "string", whenBound(text(".status.capacity.storage", "0"))),
  column(
    "Access Modes",
    "string",
    whenBound((claim) => printAccessModes(readTexts(claim, ".status.accessModes"))),
  ),
  column("StorageClass", "string", storageClass),
  attributesClass,
  AGE,
  volumeMode,
];
