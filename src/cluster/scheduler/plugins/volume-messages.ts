import type { PersistentVolumeClaim } from "../../../kinds/types/persistent-volume.ts";
import type { Pod } from "../../../kinds/types/workloads.ts";
import { keyOf } from "../../controllers/shared/informer.ts";

/** The message of client-go if an informer lacks an object. `resource`: in singular, with the group. */
export const notFound = (resource: string, name: string): string => `${resource} ${JSON.stringify(name)} not found`;

/** A missing PersistentVolumeClaim. */
export const claimNotFound = (name: string): string => notFound("persistentvolumeclaim", name);

/** The claim of an ephemeral volume belongs to another Pod. */
export const notForPod = (pod: Pod, claim: PersistentVolumeClaim): string =>
  `PVC ${keyOf(claim)} was not created for pod ${keyOf(pod)} (pod is not owner)`;
