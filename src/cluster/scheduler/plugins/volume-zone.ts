import { isDeepStrictEqual } from "node:util";
import { storageClassOf } from "../../../access/admission/plugins/storage-class-name.ts";
import { getMember } from "../../../base/util/members.ts";
import type { PersistentVolume, PersistentVolumeClaim } from "../../../kinds/types/persistent-volume.ts";
import { usesClaim } from "../../controllers/shared/pod-claims.ts";
import type { StorageClass } from "../../controllers/shared/storage-class.ts";
import { type MakePlugin, type Rejection, unresolvable } from "../plugin.ts";
import { claimNotFound, notFound } from "./volume-messages.ts";

const NAME = "VolumeZone";
const OTHER_ZONE = unresolvable(NAME, "node(s) had no available volume zone");
const WAITS_FOR_POD = "WaitForFirstConsumer";

/** Deprecated labels, each with its successor, and the successors. */
const TOPOLOGY_LABELS: Readonly<Record<string, string>> = {
  "failure-domain.beta.kubernetes.io/zone": "topology.kubernetes.io/zone",
  "failure-domain.beta.kubernetes.io/region": "topology.kubernetes.io/region",
  "topology.kubernetes.io/zone": "topology.kubernetes.io/zone",
  "topology.kubernetes.io/region": "topology.kubernetes.io/region",
};

/** The values that a node must have one of, for a label of a volume. */
interface VolumeTopology {
  readonly label: string;
  readonly values: readonly string[];
}

/** Rejects nodes in other zones or regions than bound volumes. */
export const volumeZone: MakePlugin = ({ informers }) => {
  const { informer: claims } = informers.of<PersistentVolumeClaim>("", "persistentvolumeclaims");
  const { informer: volumes } = informers.of<PersistentVolume>("", "persistentvolumes");
  const { informer: classes } = informers.of<StorageClass>("storage.k8s.io", "storageclasses");

  /** The volume of a claim, or why no node is possible. Undefined if the claim waits for a Pod. */
  const volumeOf = (namespace: string, name: string): PersistentVolume | Rejection | undefined => {
    const claim = claims.get(`${namespace}/${name}`);
    if (claim === undefined) return unresolvable(NAME, claimNotFound(name));
    const { volumeName = "" } = claim.spec;
    if (volumeName !== "") {
      return volumes.get(volumeName) ?? unresolvable(NAME, notFound("persistentvolume", volumeName));
    }
    const className = storageClassOf(claim);
    if (className === "") return unresolvable(NAME, "PersistentVolumeClaim had no pv name and storageClass name");
    const found = classes.get(className);
    if (found === undefined) return unresolvable(NAME, notFound("storageclass.storage.k8s.io", className));
    if (found.volumeBindingMode === WAITS_FOR_POD) return undefined;
    return unresolvable(NAME, "PersistentVolume had no name");
  };

  return {
    name: NAME,
    events: [
      {
        resource: "StorageClass",
        actions: ["Add"],
        hint: (_pod, _before, after) => (after as StorageClass).volumeBindingMode === WAITS_FOR_POD,
      },
      { resource: "Node", actions: ["Add", "UpdateNodeLabel"] },
      {
        resource: "PersistentVolumeClaim",
        actions: ["Add", "Update"],
        hint: (pod, _, after) =>
          after?.metadata.namespace === pod.metadata.namespace && usesClaim(pod, after as PersistentVolumeClaim, false),
      },
      {
        resource: "PersistentVolume",
        actions: ["Add", "Update"],
        hint: (_, before, after) =>
          before === undefined ||
          !isDeepStrictEqual(topologiesOf(before as PersistentVolume), topologiesOf(after as PersistentVolume)),
      },
    ],
    filter({ pod, namespace }) {
      const topologies: VolumeTopology[] = [];
      for (const { persistentVolumeClaim } of pod.spec?.volumes ?? []) {
        if (persistentVolumeClaim === undefined) continue;
        const found = volumeOf(namespace, persistentVolumeClaim.claimName ?? "");
        if (found === undefined) continue;
        if ("isUnresolvable" in found) return { rejection: found as Rejection, check: () => found as Rejection };
        for (const one of topologiesOf(found as PersistentVolume)) topologies.push(one);
      }
      if (topologies.length === 0) return undefined;
      return {
        check({ labels }) {
          if (!Object.keys(TOPOLOGY_LABELS).some((label) => labels[label] !== undefined)) return undefined;
          const isIn = ({ label, values }: VolumeTopology) =>
            values.includes(labels[label] ?? labels[getMember(TOPOLOGY_LABELS, label) ?? ""] ?? "");
          return topologies.every(isIn) ? undefined : OTHER_ZONE;
        },
      };
    },
  };
};

/** Labels with an empty value in their list are ignored. */
function topologiesOf({ metadata }: PersistentVolume): VolumeTopology[] {
  return Object.keys(TOPOLOGY_LABELS).flatMap((label) => {
    const values = metadata.labels?.[label]?.split("__").map((value) => value.trim());
    return values === undefined || values.includes("") ? [] : [{ label, values }];
  });
}
