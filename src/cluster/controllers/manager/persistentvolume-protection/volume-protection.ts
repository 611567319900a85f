import type { PersistentVolume } from "../../../../kinds/types/persistent-volume.ts";
import type { Controller } from "../../shared/controller.ts";
import { keyOf } from "../../shared/informer.ts";
import { loop, source } from "../../shared/loop.ts";
import type { ManagerContext } from "../../shared/manager-context.ts";
import { Protection } from "../../shared/protection.ts";

/** persistentvolume-protection-controller: keeps deleted PersistentVolumes while they are bound. */
export function volumeProtection({ resources, client, informers, report }: ManagerContext): Controller {
  const { informer: volumes } = informers.of<PersistentVolume>("", "persistentvolumes");
  const protection = new Protection({ client, informer: volumes, finalizer: "kubernetes.io/pv-protection" });

  return loop({
    name: "persistentvolume-protection-controller",
    workers: 1,
    clock: resources.clock,
    report,
    sources: [
      source(volumes, (queue) => (_, after) => {
        if (after && protection.concerns(after)) queue.add(keyOf(after));
      }),
    ],
    async sync(key) {
      const volume = volumes.get(key);
      if (volume) await protection.sync(volume, () => volume.status?.phase === "Bound");
    },
  });
}
