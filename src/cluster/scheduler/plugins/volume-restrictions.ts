import type { PersistentVolumeClaim } from "../../../kinds/types/persistent-volume.ts";
import type { Volume } from "../../../kinds/types/volume.ts";
import type { Pod } from "../../../kinds/types/workloads.ts";
import { usesClaim } from "../../controllers/shared/pod-claims.ts";
import type { NodeInfo } from "../node-info.ts";
import { type ChangingFilter, type Filter, type MakePlugin, unresolvable, unschedulable } from "../plugin.ts";
import type { PodInfo } from "../pod-info.ts";
import { isConflicting, isRestricted } from "./disk-conflicts.ts";
import { claimNotFound } from "./volume-messages.ts";

const NAME = "VolumeRestrictions";
const DISK_CONFLICT = unschedulable(NAME, "node(s) had no available disk");
const CLAIM_IN_USE = unschedulable(
  NAME,
  "node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod",
);

/** Rejects nodes by disks that only one Pod can use, and Pods by claims that only one Pod can use. */
export const volumeRestrictions: MakePlugin = ({ informers, cluster }) => {
  const { informer: claims } = informers.of<PersistentVolumeClaim>("", "persistentvolumeclaims");
  const isUsed = (claim: string) => cluster.nodes.some((node) => node.claims.has(claim));

  return {
    name: NAME,
    events: [
      {
        resource: "AssignedPod",
        actions: ["Delete"],
        hint(pod, before) {
          const deleted = before as Pod;
          if (deleted.metadata.namespace !== pod.metadata.namespace) return false;
          const names = new Set(claimNames(pod));
          return conflicts(restrictedVolumes(pod), deleted) || claimNames(deleted).some((name) => names.has(name));
        },
      },
      { resource: "Node", actions: ["Add"] },
      {
        resource: "PersistentVolumeClaim",
        actions: ["Add"],
        hint(pod, _, after) {
          const claim = after as PersistentVolumeClaim;
          return claim.metadata.namespace === pod.metadata.namespace && usesClaim(pod, claim, false);
        },
      },
    ],
    filter({ pod, namespace }): Filter | undefined {
      const exclusive = new Set<string>();
      for (const name of claimNames(pod)) {
        const claim = claims.get(`${namespace}/${name}`);
        if (claim === undefined) return rejecting(claimNotFound(name));
        if (claim.spec.accessModes?.includes("ReadWriteOncePod")) exclusive.add(name);
      }
      const volumes = restrictedVolumes(pod);
      const used = [...exclusive].filter((name) => isUsed(`${namespace}/${name}`));
      if (volumes.length === 0 && used.length === 0) return undefined;
      return new RestrictionsFilter(volumes, exclusive, used.length);
    },
  };
};

const rejecting = (reason: string): Filter => {
  const rejection = unresolvable(NAME, reason);
  return { rejection, check: () => rejection };
};

class RestrictionsFilter implements ChangingFilter {
  readonly #volumes: readonly Volume[];
  readonly #exclusive: ReadonlySet<string>;
  /** How often other Pods use the exclusive claims. */
  #uses: number;

  constructor(volumes: readonly Volume[], exclusive: ReadonlySet<string>, uses: number) {
    this.#volumes = volumes;
    this.#exclusive = exclusive;
    this.#uses = uses;
  }

  check({ pods }: NodeInfo) {
    if (this.#volumes.length > 0) {
      for (const { pod } of pods.values()) if (conflicts(this.#volumes, pod)) return DISK_CONFLICT;
    }
    return this.#uses > 0 ? CLAIM_IN_USE : undefined;
  }

  copy(): RestrictionsFilter {
    return new RestrictionsFilter(this.#volumes, this.#exclusive, this.#uses);
  }

  addPod(pod: PodInfo): void {
    this.#uses += this.#usesBy(pod);
  }

  removePod(pod: PodInfo): void {
    this.#uses -= this.#usesBy(pod);
  }

  /** Compat: Upstream's `conflictingPVCRefCountForPod` ignores the namespace. */
  #usesBy({ pod }: PodInfo): number {
    return claimNames(pod).filter((name) => this.#exclusive.has(name)).length;
  }
}

const restrictedVolumes = ({ spec }: Pod) => (spec?.volumes ?? []).filter(isRestricted);
const claimNames = ({ spec }: Pod) =>
  (spec?.volumes ?? []).flatMap((one) => one.persistentVolumeClaim?.claimName ?? []);

function conflicts(volumes: readonly Volume[], { spec }: Pod): boolean {
  return volumes.some((volume) => (spec?.volumes ?? []).some((other) => isConflicting(volume, other)));
}
