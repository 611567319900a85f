import { cloneJson } from "../../../../base/util/clone.ts";
import type { Pod, StatefulSet } from "../../../../kinds/types/workloads.ts";
import type { ServedResource } from "../../../../resources/model/catalog.ts";
import type { ObjectClient } from "../../../../resources/object-client.ts";
import { isStatus, unlessCode } from "../../shared/controller.ts";
import type { EventRecorder } from "../../shared/event-recorder.ts";
import type { Informer } from "../../shared/informer.ts";
import type { ClaimControl } from "./claim-control.ts";
import { hasIdentity, ordinalOf, withIdentity } from "./identity.ts";
import { hasStorage, withStorage } from "./storage.ts";

/** What `StatefulPodControl` works with. */
export interface StatefulPodControlOptions {
  readonly client: ObjectClient;
  readonly recorder: EventRecorder;
  readonly pods: Informer<Pod>;
  readonly claims: ClaimControl;
  readonly setResource: ServedResource;
}

type Action = "Create" | "Update" | "Delete";

/** Creates, changes and deletes the Pods of StatefulSets, with their claims, and records Events about it. */
export class StatefulPodControl {
  readonly #options: StatefulPodControlOptions;

  constructor(options: StatefulPodControlOptions) {
    this.#options = options;
  }

  async create(set: StatefulSet, pod: Pod): Promise<void> {
    const { client, pods, claims } = this.#options;
    await this.#recordFailure("Create", set, pod, () => claims.createMissing(set, pod));
    let failure: unknown;
    try {
      const created = await client.create(pods.resource, cloneJson(pod));
      await pods.sees(created.metadata.resourceVersion);
    } catch (error) {
      if (isStatus(error, 409)) throw error;
      failure = error;
    }
    await this.retain(set, pod);
    this.#record("Create", set, pod, failure);
    if (failure !== undefined) throw failure;
  }

  /** Gives the Pod its identity, volumes and claims. */
  async update(set: StatefulSet, pod: Pod): Promise<void> {
    const { client, pods, claims } = this.#options;
    let next = pod;
    if (!hasIdentity(set, next)) next = withIdentity(set, next, ordinalOf(pod));
    if (!hasStorage(set, next)) {
      next = withStorage(set, next);
      await this.#recordFailure("Update", set, pod, () => claims.createMissing(set, pod));
    }
    const isRetained = claims.isRetained(set, next);
    if (!isRetained) await this.retain(set, next);
    if (next === pod && isRetained) return;
    await this.#recordFailure("Update", set, pod, async () => {
      const written = await client.update(pods.resource, cloneJson(next));
      await pods.sees(written.metadata.resourceVersion);
    });
    this.#record("Update", set, pod);
  }

  /** Creates the claims that a pending Pod misses. */
  async createMissingClaims(set: StatefulSet, pod: Pod): Promise<void> {
    await this.#options.claims.createMissing(set, pod);
    await this.retain(set, pod);
  }

  /** Makes the owners of the Pod's claims those that the retention policy wants. */
  retain(set: StatefulSet, pod: Pod): Promise<void> {
    return this.#recordFailure("Update", set, pod, () => this.#options.claims.retain(set, pod));
  }

  async delete(set: StatefulSet, pod: Pod): Promise<void> {
    const { client, pods } = this.#options;
    const { namespace = "", name = "" } = pod.metadata;
    await this.#recordFailure("Delete", set, pod, async () => {
      await client.delete(pods.resource, { namespace, name }).catch(unlessCode(404));
    });
    this.#record("Delete", set, pod);
    await pods.changes(pod);
  }

  /** A conflict is no failure: the next sync, with a newer state, tries again. */
  async #recordFailure(action: Action, set: StatefulSet, pod: Pod, work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      if (!isStatus(error, 409)) this.#record(action, set, pod, error);
      throw error;
    }
  }

  #record(action: Action, set: StatefulSet, pod: Pod, error?: unknown): void {
    const { recorder, setResource } = this.#options;
    const what = `${action} Pod ${pod.metadata.name} in StatefulSet ${set.metadata.name}`;
    if (error === undefined) {
      recorder.record(setResource, set, "Normal", `Successful${action}`, `${what} successful`);
    } else {
      const text = error instanceof Error ? error.message : String(error);
      recorder.record(setResource, set, "Warning", `Failed${action}`, `${what} failed error: ${text}`);
    }
  }
}
