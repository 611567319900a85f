import { compareQuantities, parseQuantity, type Quantity } from "../../../../base/api/quantity.ts";
import type { PersistentVolume, PersistentVolumeClaim } from "../../../../kinds/types/persistent-volume.ts";
import type { Controller } from "../../shared/controller.ts";
import { driverOf, migratedPlugin } from "../../shared/csi-migration.ts";
import { EventRecorder } from "../../shared/event-recorder.ts";
import { keyOf } from "../../shared/informer.ts";
import { loop, source, unobserved } from "../../shared/loop.ts";
import type { ManagerContext } from "../../shared/manager-context.ts";
import { isSimulated } from "../../shared/simulated-storage.ts";

/** Set on a claim: what is to resize its volume. */
const RESIZER = "volume.kubernetes.io/storage-resizer";
const EXTERNAL = "ExternalExpanding";

const amount = (text: string | undefined): Quantity => parseQuantity(text ?? "0");
const requestOf = ({ spec }: PersistentVolumeClaim): Quantity => amount(spec.resources?.requests?.storage);
const capacityOf = ({ status }: PersistentVolumeClaim): Quantity => amount(status?.capacity?.storage);
const isBound = ({ status }: PersistentVolumeClaim): boolean => status?.phase === "Bound";

/** Whether the request or the capacity of a claim has grown. */
function hasGrown(before: PersistentVolumeClaim | undefined, after: PersistentVolumeClaim): boolean {
  if (before === undefined) return true;
  return [requestOf, capacityOf].some((sizeOf) => compareQuantities(sizeOf(after), sizeOf(before)) > 0);
}

/**
 * persistentvolume-expander-controller: expands volumes of simulated classes, and records that other volumes wait for
 * an external program.
 */
export function volumeExpander(context: ManagerContext): Controller {
  const { resources, client, informers, report } = context;
  const { informer: claims } = informers.of<PersistentVolumeClaim>("", "persistentvolumeclaims");
  const { informer: volumes } = informers.of<PersistentVolume>("", "persistentvolumes");
  const recorder = new EventRecorder(context, "volume_expand");

  const note = (claim: PersistentVolumeClaim, reason: string, message: string): void =>
    recorder.record(claims.resource, claim, "Normal", reason, message);

  /** The volume that a claim is bound to. */
  const volumeOf = async ({ metadata, spec }: PersistentVolumeClaim): Promise<PersistentVolume | undefined> => {
    await volumes.catchUp();
    const volume = volumes.get(spec.volumeName ?? "");
    return volume?.spec.claimRef?.uid === metadata.uid ? volume : undefined;
  };

  const setResizer = async (claim: PersistentVolumeClaim, plugin: string): Promise<void> => {
    note(claim, EXTERNAL, `CSI migration enabled for ${plugin}; waiting for external resizer to expand the pvc`);
    const driver = driverOf(plugin);
    if (driver === undefined || claim.metadata.annotations?.[RESIZER] === driver) return;
    const { namespace = "", name = "", uid, resourceVersion } = claim.metadata;
    const patch = { metadata: { uid, resourceVersion, annotations: { [RESIZER]: driver } } };
    await client.patch(claims.resource, { namespace, name }, patch, { isStrategic: true, subresource: "status" });
  };

  const expand = async (claim: PersistentVolumeClaim, volume: PersistentVolume): Promise<void> => {
    const { storage = "0" } = claim.spec.resources?.requests ?? {};
    const larger = { ...volume, spec: { ...volume.spec, capacity: { ...volume.spec.capacity, storage } } };
    const written = await client.update(volumes.resource, larger);
    await volumes.sees(written.metadata.resourceVersion);
    const { capacity, allocatedResources } = claim.status ?? {};
    const status = {
      ...claim.status,
      capacity: { ...capacity, storage },
      allocatedResources: { ...allocatedResources, storage },
    };
    await client.update(claims.resource, { ...claim, status }, { subresource: "status" });
    note(claim, "VolumeResizeSuccessful", `ExpandVolume succeeded for volume ${keyOf(claim)}`);
  };

  return loop({
    name: "persistentvolume-expander-controller",
    workers: 10,
    clock: resources.clock,
    report,
    sources: [
      source(claims, (queue) => (before, after) => {
        if (after && isBound(after) && hasGrown(before, after)) queue.add(keyOf(after));
      }),
      unobserved(volumes),
    ],
    async sync(key) {
      const claim = claims.get(key);
      if (claim === undefined || compareQuantities(requestOf(claim), capacityOf(claim)) <= 0) return;
      const volume = await volumeOf(claim);
      if (volume === undefined) return;
      const plugin = migratedPlugin(volume.spec);
      if (plugin !== undefined) await setResizer(claim, plugin);
      else if (isSimulated(volume)) await expand(claim, volume);
      else note(claim, EXTERNAL, "waiting for an external controller to expand this PVC");
    },
  });
}
