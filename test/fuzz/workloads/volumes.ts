import type { JsonObject } from "../../../src/base/api/object.ts";
import type { PersistentVolume } from "../../../src/kinds/types/persistent-volume.ts";
import type { Random } from "../random.ts";
import { type Action, mergeStep, type WorkloadKind, type World } from "./steps.ts";
import {
  ACCESS_MODES,
  attributesOf,
  CLAIM_NAMES,
  claimsOf,
  freeName,
  isCompeting,
  randomAttributes,
  randomClass,
  randomMode,
  VOLUME_COMPONENTS,
  VOLUME_CONTROLLERS,
  VOLUME_NAMES,
  volumesOf,
} from "./volume-parts.ts";
import { changeAction, deleteAction, holdAction, isKept } from "./workload-actions.ts";

const COLLECTION = {
  kind: "PersistentVolume",
  root: "/api/v1",
  plural: "persistentvolumes",
  isClusterScoped: true,
} as const;

const ISCSI = { targetPortal: "10.0.0.1:3260", iqn: "iqn.2026-01.com.example:disk", lun: 0 };
/** The real program deletes the folder below /tmp, and recycles volumes of hostPath and nfs by Pods. */
const SOURCES: readonly { readonly source: JsonObject; readonly policies: readonly string[] }[] = [
  { source: { csi: { driver: "example.com", volumeHandle: "1" } }, policies: ["Retain", "Delete", "Recycle"] },
  { source: { iscsi: ISCSI }, policies: ["Retain", "Delete", "Recycle"] },
  { source: { hostPath: { path: "/tmp/binnacle-fuzz/volume" } }, policies: ["Retain", "Delete"] },
  { source: { hostPath: { path: "/srv/volume" } }, policies: ["Retain", "Delete"] },
  { source: { nfs: { server: "example.com", path: "/" } }, policies: ["Retain", "Delete"] },
  { source: { awsElasticBlockStore: { volumeID: "vol-1" } }, policies: ["Retain", "Delete"] },
];

const CHANGES: readonly JsonObject[] = [
  { metadata: { labels: { tier: "gold" } } },
  { metadata: { labels: { tier: "silver" } } },
  { metadata: { annotations: { "pv.kubernetes.io/provisioned-by": "example.com/disks" } } },
  { metadata: { annotations: { "pv.kubernetes.io/provisioned-by": "kubernetes.io/aws-ebs" } } },
  { metadata: { annotations: { "pv.kubernetes.io/provisioned-by": null } } },
];

/** All volumes have different sizes, so that the choice between them is never random. */
const randomSize = (world: World): string => `${world.random.pick([0.5, 1, 2, 4]) * 1024 + world.nextNumber() + 1}Mi`;

const policyFor = (random: Random, volume: JsonObject): string => {
  const found = SOURCES.find(({ source }) => Object.keys(source).every((member) => member in volume));
  return random.pick(found?.policies ?? ["Retain"]);
};

/** A reference to a claim that no other volume has. */
function randomReference({ random, view, namespace }: World): JsonObject | undefined {
  const taken = new Set(volumesOf(view).map(({ spec }) => spec.claimRef?.name));
  const free = CLAIM_NAMES.filter((name) => !taken.has(name));
  return free.length === 0 ? undefined : { namespace, name: random.pick(free) };
}

const policyAction: Action<PersistentVolume> = {
  weight: 3,
  plan: (world, target) =>
    mergeStep(world, "change the policy of", COLLECTION, target, {
      spec: { persistentVolumeReclaimPolicy: policyFor(world.random, target.spec) },
    }),
};

const classAction: Action<PersistentVolume> = {
  weight: 2,
  plan: (world, target) =>
    mergeStep(world, "change the class of", COLLECTION, target, { spec: { storageClassName: randomClass(world) } }),
};

const sizeAction: Action<PersistentVolume> = {
  weight: 1,
  plan: (world, target) =>
    mergeStep(world, "resize", COLLECTION, target, { spec: { capacity: { storage: randomSize(world) } } }),
};

/**
 * Makes a volume available again, as an administrator does. At most one claim may want it: the one that it is bound to,
 * or one that waits. With two, it depends on time which of them is synced first.
 */
const freeAction: Action<PersistentVolume> = {
  weight: 4,
  plan(world, target) {
    const isBound = target.status?.phase === "Bound";
    const waiting = claimsOf(world.view).filter(isCompeting).length;
    if (target.spec.claimRef === undefined || waiting > (isBound ? 0 : 1)) return undefined;
    return mergeStep(world, "free", COLLECTION, target, { spec: { claimRef: null } });
  },
};

const reserveAction: Action<PersistentVolume> = {
  weight: 2,
  plan(world, target) {
    const claimRef = target.spec.claimRef === undefined ? randomReference(world) : undefined;
    return claimRef && mergeStep(world, "reserve", COLLECTION, target, { spec: { claimRef } });
  },
};

/** PersistentVolumes. */
export const VOLUMES: WorkloadKind<PersistentVolume> = {
  collection: COLLECTION,
  isSmall: true,
  controllers: VOLUME_CONTROLLERS,
  components: VOLUME_COMPONENTS,
  create: (world, fallback) => {
    const { random, view, namespace } = world;
    const { source, policies } = random.pick(SOURCES);
    const names = VOLUME_NAMES.map((name) => `${namespace}.${name}`);
    const claimRef = random.chance(0.3) ? randomReference(world) : undefined;
    const waiting = random.chance(0.7) ? claimsOf(view).find(isCompeting) : undefined;
    return {
      metadata: {
        name: freeName(volumesOf(view), names, fallback),
        labels: { tier: random.pick(["gold", "silver"]) },
      },
      spec: {
        ...source,
        persistentVolumeReclaimPolicy: random.pick(policies),
        accessModes: waiting?.spec.accessModes ?? random.pick(ACCESS_MODES),
        capacity: { storage: randomSize(world) },
        storageClassName: waiting?.spec.storageClassName ?? randomClass(world),
        volumeMode: waiting?.spec.volumeMode ?? randomMode(random),
        ...(waiting === undefined ? randomAttributes(world) : attributesOf(waiting)),
        ...(claimRef && { claimRef }),
      },
    };
  },
  actions: [
    policyAction,
    classAction,
    sizeAction,
    freeAction,
    reserveAction,
    changeAction(COLLECTION, 2, CHANGES),
    deleteAction(COLLECTION, 2),
    holdAction(COLLECTION),
  ],
  isSettled: (volume) =>
    volume.metadata.deletionTimestamp === undefined || isKept(volume) || volume.status?.phase === "Bound",
};
