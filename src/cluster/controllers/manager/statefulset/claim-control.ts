import type { KubeObject } from "../../../../base/api/object.ts";
import type { Pod, StatefulSet } from "../../../../kinds/types/workloads.ts";
import type { ServedResource } from "../../../../resources/model/catalog.ts";
import type { ObjectClient } from "../../../../resources/object-client.ts";
import { isStatus } from "../../shared/controller.ts";
import type { EventRecorder } from "../../shared/event-recorder.ts";
import { type Informer, keyOf } from "../../shared/informer.ts";
import { type ClaimOwners, hasOtherController, isOfEarlierPod, isRetained, retainedReferences } from "./retention.ts";
import { claimNames, claimsOf } from "./storage.ts";

/** What `ClaimControl` works with. */
export interface ClaimControlOptions {
  readonly client: ObjectClient;
  readonly recorder: EventRecorder;
  /** Of PersistentVolumeClaims. */
  readonly claims: Informer;
  readonly setResource: ServedResource;
  readonly podResource: ServedResource;
}

/** Creates the PersistentVolumeClaims of Pods, and keeps their owners as the retention policy wants. */
export class ClaimControl {
  readonly #options: ClaimControlOptions;

  constructor(options: ClaimControlOptions) {
    this.#options = options;
  }

  /** Whether a claim of the Pod is about to be deleted with an earlier Pod. */
  isStale(set: StatefulSet, pod: Pod): boolean {
    if (set.spec.persistentVolumeClaimRetentionPolicy?.whenScaled !== "Delete") return false;
    const owners = this.#owners(set, pod);
    return this.#existing(set, pod).some((claim) => isOfEarlierPod(claim, owners));
  }

  /** Creates the claims that do not exist. */
  async createMissing(set: StatefulSet, pod: Pod): Promise<void> {
    const failures: Error[] = [];
    for (const claim of claimsOf(set, pod)) {
      const existing = this.#options.claims.get(keyOf(claim));
      const { name = "" } = claim.metadata;
      if (existing === undefined) {
        const error = await this.#create(set, pod, claim);
        if (error) failures.push(new Error(`failed to create PVC ${name}: ${error.message}`, { cause: error }));
      } else if (existing.metadata.deletionTimestamp !== undefined) {
        failures.push(new Error(`pvc ${name} is being deleted`));
      }
    }
    const [first] = failures;
    if (failures.length > 1) throw new Error(`[${failures.map(({ message }) => message).join(", ")}]`);
    if (first) throw first;
  }

  async #create(set: StatefulSet, pod: Pod, claim: KubeObject): Promise<Error | undefined> {
    const { client, recorder, claims, setResource } = this.#options;
    const { name = "" } = claim.metadata;
    const where = `Pod ${pod.metadata.name} in StatefulSet ${set.metadata.name}`;
    try {
      const created = await client.create(claims.resource, claim);
      recorder.record(setResource, set, "Normal", "SuccessfulCreate", `Create Claim ${name} ${where} success`);
      await claims.sees(created.metadata.resourceVersion);
      return undefined;
    } catch (error) {
      if (!(error instanceof Error)) throw error;
      if (!isStatus(error, 409)) {
        const message = `Create Claim ${name} for ${where} failed error: ${error.message}`;
        recorder.record(setResource, set, "Warning", "FailedCreate", message);
      }
      return error;
    }
  }

  /** Whether the owners of the Pod's claims are as the retention policy wants them. */
  isRetained(set: StatefulSet, pod: Pod): boolean {
    const owners = this.#owners(set, pod);
    return this.#existing(set, pod).every((claim) => isRetained(claim, owners));
  }

  /** Makes the owners of the Pod's claims those that the retention policy wants. */
  async retain(set: StatefulSet, pod: Pod): Promise<void> {
    const { client, recorder, claims, setResource } = this.#options;
    const owners = this.#owners(set, pod);
    for (const claim of this.#existing(set, pod)) {
      const { name } = claim.metadata;
      if (hasOtherController(claim, owners)) {
        const message = `PersistentVolumeClaim ${name} has a conflicting OwnerReference that acts as a manging controller, the retention policy is ignored for this claim`;
        recorder.record(setResource, set, "Warning", "ConflictingController", message);
      }
      if (isRetained(claim, owners)) continue;
      const ownerReferences = retainedReferences(claim, owners);
      const next = { ...claim, metadata: { ...claim.metadata, ownerReferences } };
      try {
        const written = await client.update(claims.resource, next);
        await claims.sees(written.metadata.resourceVersion);
      } catch (error) {
        if (!(error instanceof Error) || isStatus(error, 409)) throw error;
        const message = `could not update claim ${name} for delete policy ownerRefs: ${error.message}`;
        throw new Error(message, { cause: error });
      }
    }
  }

  #owners(set: StatefulSet, pod: Pod): ClaimOwners {
    const { setResource, podResource } = this.#options;
    return { set, pod, setResource, podResource };
  }

  #existing(set: StatefulSet, pod: Pod): KubeObject[] {
    const { namespace } = set.metadata;
    return claimNames(set, pod).flatMap((name) => this.#options.claims.get(`${namespace}/${name}`) ?? []);
  }
}
