import type { PersistentVolumeClaim } from "../../../../kinds/types/persistent-volume.ts";
import type { Volume } from "../../../../kinds/types/volume.ts";
import type { Pod } from "../../../../kinds/types/workloads.ts";
import { type Controller, isNamespaceTerminating, messageOf } from "../../shared/controller.ts";
import { EventRecorder } from "../../shared/event-recorder.ts";
import { keyOf } from "../../shared/informer.ts";
import { loop, source } from "../../shared/loop.ts";
import type { ManagerContext } from "../../shared/manager-context.ts";
import { controllerReference } from "../../shared/owners.ts";
import { claimKeysOf, ephemeralClaimName, isForPod } from "../../shared/pod-claims.ts";

const ephemeralVolumes = ({ spec }: Pod): Volume[] => (spec?.volumes ?? []).filter(({ ephemeral }) => ephemeral);

const needsClaims = (pod: Pod): boolean =>
  pod.metadata.deletionTimestamp === undefined && ephemeralVolumes(pod).length > 0;

/** ephemeral-volume-controller: creates the PersistentVolumeClaims of ephemeral volumes. Their Pods own them. */
export function ephemeralVolumeClaims(context: ManagerContext): Controller {
  const { resources, client, informers, report } = context;
  const { informer: pods } = informers.of<Pod>("", "pods");
  const { informer: claims } = informers.of<PersistentVolumeClaim>("", "persistentvolumeclaims");
  const podsByClaim = pods.index(claimKeysOf);
  const recorder = new EventRecorder(context, "ephemeral_volume");

  const createClaim = async (pod: Pod, volume: Volume): Promise<void> => {
    const name = ephemeralClaimName(pod, volume);
    const { namespace = "" } = pod.metadata;
    const known = claims.get(`${namespace}/${name}`);
    if (known && isForPod(pod, known)) return;
    if (known) {
      throw new Error(`PVC ${keyOf(known)} was not created for pod ${keyOf(pod)} (pod is not owner)`);
    }
    const { metadata: { labels, annotations } = {}, spec = {} } = volume.ephemeral?.volumeClaimTemplate ?? {};
    const ownerReferences = [controllerReference(pods.resource, pod)];
    const metadata = {
      name,
      namespace,
      ownerReferences,
      ...(labels && { labels }),
      ...(annotations && { annotations }),
    };
    const { apiVersion, definition } = claims.resource;
    try {
      const created = await client.create(claims.resource, { kind: definition.kind, apiVersion, metadata, spec });
      await claims.sees(created.metadata.resourceVersion);
    } catch (error) {
      throw new Error(`create PVC ${name}: ${messageOf(error)}`, { cause: error });
    }
  };

  return loop({
    name: "ephemeral-volume-controller",
    workers: 5,
    clock: resources.clock,
    report,
    sources: [
      source(pods, (queue) => (before, after) => {
        if (before === undefined && after && needsClaims(after)) queue.add(keyOf(after));
      }),
      // A deleted claim is created again.
      source(claims, (queue) => (before, after) => {
        if (after || !before) return;
        for (const pod of podsByClaim.get(keyOf(before))) if (needsClaims(pod)) queue.add(keyOf(pod));
      }),
    ],
    async sync(key) {
      const pod = pods.get(key);
      if (pod === undefined || !needsClaims(pod)) return;
      for (const volume of ephemeralVolumes(pod)) {
        try {
          await createClaim(pod, volume);
        } catch (error) {
          const message = `ephemeral volume ${volume.name}: ${messageOf(error)}`;
          recorder.record(pods.resource, pod, "Warning", "FailedBinding", message);
          // Nothing can be created there any more, and the Pod will be deleted as well.
          if (error instanceof Error && isNamespaceTerminating(error.cause)) return;
          throw new Error(`pod ${key}, ${message}`, { cause: error });
        }
      }
    },
  });
}
