import { BETA_STORAGE_CLASS, storageClassOf } from "../../../../access/admission/plugins/storage-class-name.ts";
import type { PersistentVolume, PersistentVolumeClaim } from "../../../../kinds/types/persistent-volume.ts";
import type { Pod } from "../../../../kinds/types/workloads.ts";
import type { Controller } from "../../shared/controller.ts";
import { EventRecorder } from "../../shared/event-recorder.ts";
import { keyOf, type Observer } from "../../shared/informer.ts";
import { loop, type Queue, source, unobserved } from "../../shared/loop.ts";
import type { ManagerContext } from "../../shared/manager-context.ts";
import { claimKeysOf } from "../../shared/pod-claims.ts";
import { isDefaultClass, type StorageClass } from "../../shared/storage-class.ts";
import { BIND_COMPLETED, claimRefKey, hasAnnotation, isUnbound } from "../../shared/volume-facts.ts";
import { AvailableVolumes } from "./available-volumes.ts";
import { ClaimSync } from "./claim-sync.ts";
import { Provisioning } from "./provision.ts";
import { Reclaiming } from "./reclaim.ts";
import { VolumeSync } from "./volume-sync.ts";
import { WaitingClaims } from "./waiting-claims.ts";
import { Writer } from "./writer.ts";

/**
 * Upstream: PVClaimBinderSyncPeriod. Only what is not bound is synced again: nothing else changes without an event of a
 * claim, volume or class.
 */
const RESYNC_MS = 15_000;

const CLAIM = "claim/";
const VOLUME = "volume/";

const claimsOfVolume = ({ spec: { claimRef } }: PersistentVolume) => (claimRef ? [claimRefKey(claimRef)] : []);
const volumesOfClaim = ({ spec: { volumeName = "" } }: PersistentVolumeClaim) =>
  volumeName === "" ? [] : [volumeName];

const NO_CLASS = "no class";
const classKey = (name: string): string => `class ${name}`;

/** Finds claims that wait for any volume by class, and those to which a default class applies. */
function unboundKeys(claim: PersistentVolumeClaim): string[] {
  if (!isUnbound(claim)) return [];
  const hasClass = claim.spec.storageClassName !== undefined || hasAnnotation(claim, BETA_STORAGE_CLASS);
  return [hasClass ? classKey(storageClassOf(claim)) : NO_CLASS];
}

/** persistentvolume-binder-controller: binds claims and volumes, provisions volumes, and reclaims released ones. */
export function volumeBinder(context: ManagerContext): Controller {
  const { resources, client, informers, report } = context;
  const { clock } = resources;
  const { informer: claims } = informers.of<PersistentVolumeClaim>("", "persistentvolumeclaims");
  const { informer: volumes } = informers.of<PersistentVolume>("", "persistentvolumes");
  const { informer: classes } = informers.of<StorageClass>("storage.k8s.io", "storageclasses");
  const { informer: pods } = informers.of<Pod>("", "pods");
  const volumesByClaim = volumes.index(claimsOfVolume);
  const claimsByVolume = claims.index(volumesOfClaim);
  const unboundBy = claims.index(unboundKeys);
  const podsByClaim = pods.index(claimKeysOf);
  const available = new AvailableVolumes();
  const waiting = new WaitingClaims();

  const recorder = new EventRecorder(context, "persistentvolume-controller");
  const writer = new Writer({ client, recorder, volumes, claims });
  const provisioning = new Provisioning({ client, writer, volumes, claims, classes });
  const reclaiming = new Reclaiming({ client, writer, volumes, claims, podsByClaim });
  const claimSync = new ClaimSync({ writer, provisioning, volumes, classes, available, volumesByClaim, podsByClaim });
  const volumeSync = new VolumeSync({ resources, writer, reclaiming, claims });

  const observeClaim = (queue: Queue): Observer<PersistentVolumeClaim> => {
    waiting.clear();
    return (before, after) => {
      waiting.change(before, after);
      const claim = after ?? before;
      if (claim === undefined) return;
      queue.add(CLAIM + keyOf(claim));
      if (before?.spec.volumeName === after?.spec.volumeName && before && after) return;
      for (const volume of volumesByClaim.get(keyOf(claim))) queue.add(VOLUME + keyOf(volume));
      if (before?.spec.volumeName) queue.add(VOLUME + before.spec.volumeName);
    };
  };

  const observeVolume = (queue: Queue): Observer<PersistentVolume> => {
    available.clear();
    return (before, after) => {
      available.change(before, after);
      const volume = after ?? before;
      if (volume === undefined) return;
      queue.add(VOLUME + keyOf(volume));
      for (const claim of claimsByVolume.get(keyOf(volume))) queue.add(CLAIM + keyOf(claim));
    };
  };

  const observeClass =
    (queue: Queue): Observer<StorageClass> =>
    (_, after) => {
      if (after === undefined) return;
      const keys = [classKey(keyOf(after)), ...(isDefaultClass(after) ? [NO_CLASS] : [])];
      for (const key of keys) for (const claim of unboundBy.get(key)) queue.add(CLAIM + keyOf(claim));
    };

  const syncClaim = async (key: string, queue: Queue): Promise<void> => {
    const claim = claims.get(key);
    if (claim === undefined) return;
    await claimSync.sync(claim);
    const after = claims.get(key);
    if (after && !hasAnnotation(after, BIND_COMPLETED)) queue.addAfter(CLAIM + key, RESYNC_MS);
  };

  /** Of all claims that wait, none matches another available volume. So one that matches this volume gets it. */
  const offer = async (volume: PersistentVolume, queue: Queue): Promise<void> => {
    const claim = waiting.first(volume);
    if (claim && !claimSync.isDelayed(claim)) await syncClaim(keyOf(claim), queue);
  };

  const syncVolume = async (key: string, queue: Queue): Promise<void> => {
    const volume = volumes.get(key);
    if (volume === undefined) return;
    const outcome = await volumeSync.sync(volume);
    if (outcome === "retry") queue.addAfter(VOLUME + key, RESYNC_MS);
    else if (outcome === "claim") queue.add(CLAIM + claimRefKey(volume.spec.claimRef ?? {}));
    else if (outcome === "available" && volume.metadata.deletionTimestamp === undefined) await offer(volume, queue);
  };

  return loop({
    name: "persistentvolume-binder-controller",
    // Two claims must not get the same volume.
    workers: 1,
    clock,
    report,
    sources: [
      unobserved(pods),
      source(classes, observeClass),
      source(volumes, observeVolume),
      source(claims, observeClaim),
    ],
    sync: (key, queue) =>
      key.startsWith(CLAIM) ? syncClaim(key.slice(CLAIM.length), queue) : syncVolume(key.slice(VOLUME.length), queue),
  });
}
