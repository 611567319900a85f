import { parseQuantity } from "../../../../base/api/quantity.ts";
import { quote } from "../../../../base/go/quote.ts";
import { addAll } from "../../../../base/util/add-all.ts";
import { trimRight } from "../../../../base/util/trim-right.ts";
import type { PersistentVolumeClaimSpec, Volume, VolumeProjection } from "../../../types/volume.ts";
import { isWhole } from "../../shared-rules/resource-names.ts";

/** Deprecated VolumeSources and their warnings. */
const OLD_SOURCES: readonly [member: keyof Volume, name: string, text: string][] = [
  ["photonPersistentDisk", "photonPersistentDisk", "deprecated in v1.11, non-functional in v1.16+"],
  ["gitRepo", "gitRepo", "deprecated in v1.11, and disabled by default in v1.33+"],
  ["scaleIO", "scaleIO", "deprecated in v1.16, non-functional in v1.22+"],
  ["flocker", "flocker", "deprecated in v1.22, non-functional in v1.25+"],
  ["storageos", "storageOS", "deprecated in v1.22, non-functional in v1.25+"],
  ["quobyte", "quobyte", "deprecated in v1.22, non-functional in v1.25+"],
  ["glusterfs", "glusterfs", "deprecated in v1.25, non-functional in v1.26+"],
  ["cephfs", "cephfs", "deprecated in v1.28, non-functional in v1.31+"],
  ["rbd", "rbd", "deprecated in v1.28, non-functional in v1.31+"],
];

/** Maximum number of distinct warnings: a response only has room for a few kilobytes. */
const MAX_TEXTS = 1000;
/** Maximum number of pairs of files compared for one object. A body of 3 MB could have billions. */
const MAX_PAIRS = 1_000_000;

/** How many more pairs of files may be compared. */
interface Budget {
  pairs: number;
}

/** Warnings about volumes: deprecated VolumeSources and overlapping paths. */
export function volumeWarnings(volumes: readonly Volume[], path: string): string[] {
  const warnings: string[] = [];
  for (const [index, volume] of volumes.entries()) {
    const at = `${path}[${index}]`;
    for (const [member, name, text] of OLD_SOURCES) if (volume[member]) warnings.push(`${at}.${name}: ${text}`);
    const claim = volume.ephemeral?.volumeClaimTemplate?.spec;
    if (claim) addAll(warnings, claimWarnings(claim, `${at}.ephemeral.volumeClaimTemplate.spec`));
  }
  const budget = { pairs: MAX_PAIRS };
  for (const volume of volumes) for (const text of overlapWarnings(volume, budget)) warnings.push(text);
  return warnings;
}

/** The warning about a fractional byte value in `requests.storage` of a claim. */
export function claimWarnings({ resources }: PersistentVolumeClaimSpec, path: string): string[] {
  return (["requests", "limits"] as const).flatMap((side) => {
    const amount = resources?.[side]?.storage;
    if (amount === undefined || isWhole(parseQuantity(amount))) return [];
    const text = `fractional byte value ${quote(amount)} is invalid, must be an integer`;
    return [`${path}.resources.${side}[storage]: ${text}`];
  });
}

interface PlacedFile {
  readonly path: string;
  /** The source of the file; empty if all files have the same source. */
  readonly source: string;
}

function overlapWarnings({ name = "", configMap, secret, downwardAPI, projected }: Volume, budget: Budget): string[] {
  const warnings: string[] = [];
  const say = (kind: string, texts: readonly string[]) => {
    for (const text of texts) warnings.push(`volume ${quote(name)} (${kind}): overlapping paths: ${text}`);
  };
  if (configMap) say(`ConfigMap ${quote(configMap.name ?? "")}`, overlaps(filesOf(configMap.items, ""), budget));
  if (secret) say(`Secret ${quote(secret.secretName ?? "")}`, overlaps(filesOf(secret.items, ""), budget));
  if (downwardAPI) say("DownwardAPI", overlaps(filesOf(downwardAPI.items, ""), budget));
  if (projected) {
    const sources = projected.sources ?? [];
    for (const source of sources) {
      if (Object.keys(source).length === 0) warnings.push(`volume ${quote(name)} (Projected) has no sources provided`);
    }
    say("Projected", overlaps(sources.flatMap(projectedFiles), budget));
  }
  return warnings;
}

function filesOf(items: readonly { readonly path?: string }[] | undefined, source: string): PlacedFile[] {
  return (items ?? []).map(({ path = "" }) => ({ path, source }));
}

function projectedFiles(source: VolumeProjection): PlacedFile[] {
  const { configMap, secret, downwardAPI, serviceAccountToken, clusterTrustBundle, podCertificate } = source;
  if (configMap?.items) return filesOf(configMap.items, `ConfigMap ${quote(configMap.name ?? "")}`);
  if (secret?.items) return filesOf(secret.items, `Secret ${quote(secret.name ?? "")}`);
  if (downwardAPI?.items) return filesOf(downwardAPI.items, "DownwardAPI");
  if (serviceAccountToken) return filesOf([serviceAccountToken], "ServiceAccountToken");
  if (clusterTrustBundle) {
    const name = clusterTrustBundle.name ?? clusterTrustBundle.signerName ?? "";
    return filesOf([clusterTrustBundle], `ClusterTrustBundle ${quote(name)}`);
  }
  if (!podCertificate) return [];
  const { certificateChainPath, keyPath, credentialBundlePath } = podCertificate;
  return [
    ...(certificateChainPath ? [{ path: certificateChainPath, source: "PodCertificate chain" }] : []),
    ...(keyPath ? [{ path: keyPath, source: "PodCertificate key" }] : []),
    ...(credentialBundlePath ? [{ path: credentialBundlePath, source: "PodCertificate credential bundle" }] : []),
  ];
}

/** Compares every file with those before it, within the budget. Files with the same path are compared once. */
function overlaps(files: readonly PlacedFile[], budget: Budget): readonly string[] {
  if (files.length < 2) return [];
  const texts = new Set<string>();
  const seen: { readonly folder: string; readonly text: string }[] = [];
  const compared = new Map<string, number>();
  for (const { path, source } of files) {
    const trimmed = trimRight(path, "/");
    if (trimmed === "") continue;
    const folder = `${trimmed}/`;
    const text = print({ path: trimmed, source });
    const from = compared.get(text);
    for (let index = from ?? 0; index < seen.length; index += 1) {
      const other = seen[index];
      if (budget.pairs-- <= 0 || texts.size >= MAX_TEXTS) return [...texts];
      if (other && isWithin(folder, other.folder)) texts.add(`${text} with ${other.text}`);
    }
    if (from === undefined) seen.push({ folder, text });
    compared.set(text, from === undefined ? seen.length - 1 : seen.length);
  }
  return [...texts];
}

/** Whether one path equals or contains the other. Both end in a slash. */
function isWithin(one: string, other: string): boolean {
  return one.startsWith(other) || other.startsWith(one);
}

function print({ path, source }: PlacedFile): string {
  return source === "" ? quote(path) : `${quote(path)} (${source})`;
}
