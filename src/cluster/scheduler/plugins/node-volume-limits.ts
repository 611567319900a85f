import type { KubeObject } from "../../../base/api/object.ts";
import type { PersistentVolume, PersistentVolumeClaim } from "../../../kinds/types/persistent-volume.ts";
import type { Pod } from "../../../kinds/types/workloads.ts";
import { driverOf, migratedPlugin } from "../../controllers/shared/csi-migration.ts";
import { usesClaim } from "../../controllers/shared/pod-claims.ts";
import type { EventOfInterest } from "../cluster-events.ts";
import type { NodeInfo } from "../node-info.ts";
import { type Filter, type MakePlugin, type Rejection, unresolvable, unschedulable } from "../plugin.ts";
import { type AttachableVolumes, type CsiNode, CsiVolumes, mayBeAttached } from "./csi-volumes.ts";

const NAME = "NodeVolumeLimits";
const TOO_MANY = unschedulable(NAME, "node(s) exceed max volume count");

interface CsiDriver extends KubeObject {
  readonly spec?: { readonly preventPodSchedulingIfMissing?: boolean };
}

interface VolumeAttachment extends KubeObject {
  readonly spec: { attacher: string; nodeName: string; source: { persistentVolumeName?: string } };
}

/** Index of VolumeAttachments by node. */
const nodeOf = ({ spec }: VolumeAttachment) => [spec.nodeName];

/** Rejects nodes to which a CSI driver can attach no further volumes. */
export const nodeVolumeLimits: MakePlugin = ({ informers }) => {
  const { informer: nodes } = informers.of<CsiNode>("storage.k8s.io", "csinodes");
  const { informer: drivers } = informers.of<CsiDriver>("storage.k8s.io", "csidrivers");
  const { informer: attachments } = informers.of<VolumeAttachment>("storage.k8s.io", "volumeattachments");
  const { informer: volumes } = informers.of<PersistentVolume>("", "persistentvolumes");
  const { informer: claims } = informers.of("", "persistentvolumeclaims");
  const { informer: classes } = informers.of("storage.k8s.io", "storageclasses");
  const attachmentsByNode = attachments.index(nodeOf);
  const csiVolumes = new CsiVolumes(informers);

  /** Drivers that the CSINode lacks, although its Pods would need them. */
  const missingDriver = (wanted: AttachableVolumes, csiNode: CsiNode | undefined) => {
    const isInstalled = (name: string) => csiNode?.spec.drivers?.some((driver) => driver.name === name);
    const isRequired = (name: string) => drivers.get(name)?.spec?.preventPodSchedulingIfMissing === true;
    return [...wanted.values()].find((name) => isRequired(name) && !isInstalled(name));
  };

  const usedOn = ({ pods }: NodeInfo): AttachableVolumes => {
    const found: AttachableVolumes = new Map();
    for (const { pod } of pods.values()) {
      for (const [volume, driver] of csiVolumes.of(pod, true)) found.set(volume, driver);
    }
    return found;
  };

  const attachedTo = ({ name }: NodeInfo): AttachableVolumes => {
    const found: AttachableVolumes = new Map();
    for (const { spec } of attachmentsByNode.get(name)) {
      const csi = volumes.get(spec.source.persistentVolumeName ?? "")?.spec.csi;
      if (csi && spec.attacher !== "") found.set(`${spec.attacher}/${csi.volumeHandle}`, spec.attacher);
    }
    return found;
  };

  /** Compat: a wanted volume with a VolumeAttachment that no Pod uses counts twice, as in `CSILimits`. */
  const checkLimits = (wanted: AttachableVolumes, node: NodeInfo, csiNode: CsiNode): Rejection | undefined => {
    const limits = limitsOf(csiNode);
    if (limits.size === 0) return undefined;
    const used = usedOn(node);
    const added = [...wanted].filter(([volume]) => !used.has(volume)).map(([, driver]) => driver);
    const present = new Map([...attachedTo(node), ...used]);
    const count = (list: Iterable<string>, driver: string) => [...list].filter((one) => one === driver).length;
    const exceeds = (driver: string) =>
      count(present.values(), driver) + count(added, driver) > (limits.get(driver) ?? Number.POSITIVE_INFINITY);
    return added.some(exceeds) ? TOO_MANY : undefined;
  };

  return {
    name: NAME,
    events: EVENTS,
    uses: [drivers, volumes, claims, classes],
    filter({ pod }): Filter | undefined {
      if (!(pod.spec?.volumes ?? []).some(mayBeAttached)) return undefined;
      let missing: Rejection | undefined;
      const wantedIf = (isMigrated: boolean) =>
        csiVolumes.of(pod, isMigrated, (message) => {
          missing ??= unresolvable(NAME, message);
        });
      const wanted = { migrated: wantedIf(true), others: wantedIf(false) };
      return {
        check(node) {
          if (missing) return missing;
          const csiNode = nodes.get(node.name);
          const own = csiNode ? wanted.migrated : wanted.others;
          if (own.size === 0) return undefined;
          const driver = missingDriver(own, csiNode);
          if (driver !== undefined) return unschedulable(NAME, `${driver} CSI driver is not installed on the node`);
          return csiNode && checkLimits(own, node, csiNode);
        },
      };
    },
  };
};

function limitsOf({ spec }: CsiNode): Map<string, number> {
  const limits = new Map<string, number>();
  for (const { name, allocatable } of spec.drivers ?? []) {
    if (allocatable?.count !== undefined) limits.set(name, allocatable.count);
  }
  return limits;
}

const EVENTS: readonly EventOfInterest[] = [
  { resource: "CSINode", actions: ["Add"] },
  {
    resource: "CSINode",
    actions: ["Update"],
    hint(_, before, after) {
      const [old, current] = [limitsOf(before as CsiNode), limitsOf(after as CsiNode)];
      return [...current].some(([driver, limit]) => limit > (old.get(driver) ?? 0));
    },
  },
  {
    resource: "AssignedPod",
    actions: ["Delete"],
    hint(_, before) {
      const { spec, status } = before as Pod;
      return Boolean(spec?.nodeName || status?.nominatedNodeName) && (spec?.volumes ?? []).some(mayBeAttached);
    },
  },
  {
    resource: "PersistentVolumeClaim",
    actions: ["Add"],
    hint: (pod, _, after) =>
      after?.metadata.namespace === pod.metadata.namespace && usesClaim(pod, after as PersistentVolumeClaim, true),
  },
  {
    resource: "VolumeAttachment",
    actions: ["Delete"],
    hint(pod, before) {
      const { attacher } = (before as VolumeAttachment).spec;
      return (pod.spec?.volumes ?? []).some((volume) => {
        if (volume.persistentVolumeClaim) return true;
        const plugin = migratedPlugin(volume);
        return plugin !== undefined && driverOf(plugin) === attacher;
      });
    },
  },
];
