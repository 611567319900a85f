import { compareQuantities } from "../../../base/api/quantity.ts";
import type { PersistentVolume, PersistentVolumeClaim } from "../../../kinds/types/persistent-volume.ts";
import { type NodeMatcher, nodeSelectorMatcher } from "../../controllers/shared/node-affinity.ts";
import {
  attributesClassOf,
  capacityOf,
  groupOf,
  hasAccessModes,
  isBoundTo,
  isSelected,
  modeOf,
  requestOf,
} from "../../controllers/shared/volume-facts.ts";
import type { NodeInfo } from "../node-info.ts";

const matchers = new WeakMap<NonNullable<PersistentVolume["spec"]["nodeAffinity"]>, NodeMatcher>();

/** Whether a volume can be used on a node. Upstream: CheckNodeAffinity, which knows only the labels of the node. */
export function isUsableOn({ spec: { nodeAffinity } }: PersistentVolume, { labels }: NodeInfo): boolean {
  if (nodeAffinity?.required === undefined) return true;
  const matches = matchers.get(nodeAffinity) ?? nodeSelectorMatcher(nodeAffinity.required);
  matchers.set(nodeAffinity, matches);
  return matches({ kind: "Node", apiVersion: "v1", metadata: { labels } });
}

/** A claim and the volumes that it may get. */
export interface MatchingVolumes {
  readonly claim: PersistentVolumeClaim;
  /** Reserved for this claim by a user. No other volume is possible. */
  readonly reserved: PersistentVolume | undefined;
  /** In ascending order of their size. */
  readonly available: readonly PersistentVolume[];
}

/** Finds the volumes that a claim may get, whatever the node. */
export function matchingVolumes(claim: PersistentVolumeClaim, volumes: Iterable<PersistentVolume>): MatchingVolumes {
  const fitting = [...volumes].filter((volume) => fits(volume, claim));
  return {
    claim,
    reserved: fitting.find((volume) => isBoundTo(volume, claim)),
    available: fitting
      .filter((volume) => isAvailable(volume, claim))
      .sort((one, other) => compareQuantities(capacityOf(one), capacityOf(other))),
  };
}

/** The smallest volume for a claim on a node. `taken`: by other claims of the Pod. Upstream: FindMatchingVolume */
export function volumeFor(
  { reserved, available }: MatchingVolumes,
  node: NodeInfo,
  taken: ReadonlySet<PersistentVolume>,
): PersistentVolume | undefined {
  if (reserved && !taken.has(reserved)) return isUsableOn(reserved, node) ? reserved : undefined;
  return available.find((volume) => !taken.has(volume) && isUsableOn(volume, node));
}

function fits(volume: PersistentVolume, claim: PersistentVolumeClaim): boolean {
  if (volume.metadata.deletionTimestamp !== undefined) return false;
  if (modeOf(volume) !== modeOf(claim) || attributesClassOf(volume) !== attributesClassOf(claim)) return false;
  return compareQuantities(capacityOf(volume), requestOf(claim)) >= 0;
}

function isAvailable(volume: PersistentVolume, claim: PersistentVolumeClaim): boolean {
  if (volume.spec.claimRef !== undefined || volume.status?.phase !== "Available") return false;
  return groupOf(volume) === groupOf(claim) && isSelected(volume, claim) && hasAccessModes(volume, claim);
}
