import { isDeepStrictEqual } from "node:util";
import type { KubeObject } from "../../../../base/api/object.ts";
import type { Deployment, DeploymentStatus, ReplicaSet } from "../../../../kinds/types/workloads.ts";
import type { ServedResource } from "../../../../resources/model/catalog.ts";
import type { ObjectClient } from "../../../../resources/object-client.ts";
import { isNamespaceTerminating, isStatus, unlessCode } from "../../shared/controller.ts";
import type { EventRecorder } from "../../shared/event-recorder.ts";
import type { Informer } from "../../shared/informer.ts";
import { byCreation } from "../../shared/order.ts";
import {
  conditionOf,
  countedStatus,
  hasDeadline,
  historyLimit,
  isComplete,
  nextDeadlineMs,
  pausedStatus,
  progressing,
  rolloutStatus,
  type Sets,
  withCondition,
} from "./deployment-status.ts";
import { isRolling, maxUnavailable, sizeOf, sum } from "./limits.ts";
import { isSameTemplate, newestSet, newestSize, withoutHash } from "./newest-set.ts";
import { proportionalSizes } from "./proportions.ts";
import {
  annotationsAfterRollback,
  byRevision,
  desiredReplicas,
  lastRevision,
  maxRevision,
  newestAnnotations,
  revisionOf,
  rollbackTarget,
  sizeAnnotations,
  withRevision,
} from "./revisions.ts";

/** What a rollout works with. */
export interface RolloutContext {
  readonly client: ObjectClient;
  readonly recorder: EventRecorder;
  readonly deployments: Informer<Deployment>;
  readonly sets: Informer<ReplicaSet>;
  readonly now: () => number;
  /** Whether Pods run that the newest ReplicaSet does not control. */
  readonly hasOldPods: (sets: Sets) => boolean;
}

/** One sync of a Deployment with its ReplicaSets. */
export class Rollout {
  readonly #context: RolloutContext;
  readonly #resource: ServedResource;
  #deployment: Deployment;
  #newest: ReplicaSet | undefined;
  #old: ReplicaSet[];

  /** `owned`: the ReplicaSets that the Deployment controls. */
  constructor(context: RolloutContext, deployment: Deployment, owned: readonly ReplicaSet[]) {
    this.#context = context;
    this.#resource = context.deployments.resource;
    this.#deployment = deployment;
    const sorted = [...owned].sort(byCreation);
    this.#newest = sorted.find((set) => isSameTemplate(set.spec.template, deployment.spec.template));
    this.#old = sorted.filter((set) => set !== this.#newest);
  }

  /** Takes the next step. Returns the milliseconds after which it must be called again if nothing changes. */
  async step(): Promise<number | undefined> {
    const { spec, metadata } = this.#deployment;
    if (metadata.deletionTimestamp !== undefined) return this.#writeCounts();
    const paused = pausedStatus(this.#deployment, this.#context.now());
    if (paused) await this.#writeStatus(paused);
    if (spec.paused) {
      await this.#updateNewest();
      return this.#scale();
    }
    if (rollbackTarget(this.#deployment) !== undefined) return this.#rollBack();
    await this.#updateNewest();
    if (this.#isScaled()) return this.#scale();
    return isRolling(this.#deployment) ? this.#roll() : this.#recreate();
  }

  get #sets(): Sets {
    return { newest: this.#newest, old: this.#old };
  }

  get #all(): ReplicaSet[] {
    return this.#newest ? [...this.#old, this.#newest] : [...this.#old];
  }

  get #size(): number {
    return this.#deployment.spec.replicas ?? 1;
  }

  /** Whether `spec.replicas` has changed since the ReplicaSets were scaled. */
  #isScaled(): boolean {
    return this.#all.some((set) => {
      const desired = sizeOf(set) > 0 ? desiredReplicas(set) : undefined;
      return desired !== undefined && desired !== this.#size;
    });
  }

  /** Gives a scaled or paused Deployment its size, without a step of the rollout. */
  async #scale(): Promise<number | undefined> {
    await this.#distribute();
    if (this.#deployment.spec.paused && rollbackTarget(this.#deployment) === undefined) await this.#cleanUp();
    return this.#writeCounts();
  }

  async #distribute(): Promise<void> {
    const active = this.#all.filter((set) => sizeOf(set) > 0);
    const [only = this.#newest ?? this.#old.at(-1)] = active;
    if (active.length <= 1) {
      if (only) await this.#resize(only, this.#size);
    } else if (this.#isSaturated()) {
      for (const set of this.#old) if (sizeOf(set) > 0) await this.#resize(set, 0);
    } else if (isRolling(this.#deployment)) {
      for (const [set, size] of proportionalSizes(this.#deployment, active)) {
        await this.#resize(set, size, { updatesAnnotations: true });
      }
    }
  }

  /** Whether the newest ReplicaSet has the size of the Deployment, and all its Pods are available. */
  #isSaturated(): boolean {
    if (this.#newest === undefined) return false;
    const counts = [sizeOf(this.#newest), desiredReplicas(this.#newest), this.#newest.status?.availableReplicas ?? 0];
    return counts.every((count) => count === this.#size);
  }

  /** Strategy RollingUpdate: grows the newest ReplicaSet, then shrinks old ones, within the limits. */
  async #roll(): Promise<number | undefined> {
    const newest = await this.#ensureNewest();
    const isDone = (await this.#growNewest(newest)) || (await this.#shrinkOld());
    if (!isDone && isComplete(this.#deployment, this.#deployment.status)) await this.#cleanUp();
    return this.#writeRollout();
  }

  async #growNewest(newest: ReplicaSet): Promise<boolean> {
    const size = sizeOf(newest);
    if (size === this.#size) return false;
    return this.#resize(newest, size > this.#size ? this.#size : newestSize(this.#deployment, this.#old, size));
  }

  /** First removes Pods that are not available anyway, then as many as the limit allows. */
  async #shrinkOld(): Promise<boolean> {
    const newest = this.#newest;
    if (newest === undefined || this.#old.every((set) => sizeOf(set) === 0)) return false;
    const least = this.#size - maxUnavailable(this.#deployment);
    // Differs: kube-controller-manager also counts Pods that a ReplicaSet is about to delete, because its status still has
    // them. If Pods become ready within milliseconds, fewer would be available than the limit allows.
    const available = (set: ReplicaSet) => Math.min(set.status?.availableReplicas ?? 0, sizeOf(set));
    const surplus = sum(this.#all, sizeOf) - least - (sizeOf(newest) - available(newest));
    if (surplus <= 0) return false;
    const unhealthy = await this.#shrink(surplus, (set) => sizeOf(set) - available(set));
    const healthy = await this.#shrink(sum(this.#all, available) - least, sizeOf);
    return unhealthy + healthy > 0;
  }

  /** Removes up to `count` Pods from old ReplicaSets, the oldest first. Returns how many. */
  async #shrink(count: number, removable: (set: ReplicaSet) => number): Promise<number> {
    let removed = 0;
    for (const set of [...this.#old]) {
      if (removed >= count) break;
      const here = sizeOf(set) === 0 ? 0 : Math.min(count - removed, removable(set));
      if (here <= 0) continue;
      await this.#resize(set, sizeOf(set) - here);
      removed += here;
    }
    return removed;
  }

  /** Strategy Recreate: removes all old Pods before it creates new ones. */
  async #recreate(): Promise<number | undefined> {
    const active = this.#old.filter((set) => sizeOf(set) > 0);
    for (const set of active) await this.#resize(set, 0);
    if (active.length > 0 || this.#context.hasOldPods(this.#sets)) return this.#writeRollout();
    await this.#resize(await this.#ensureNewest(), this.#size);
    if (isComplete(this.#deployment, this.#deployment.status)) await this.#cleanUp();
    return this.#writeRollout();
  }

  /** Goes back to the template that the annotation of the removed field rollbackTo names. */
  async #rollBack(): Promise<undefined> {
    const { recorder } = this.#context;
    await this.#ensureNewest();
    const warn = (reason: string, message: string) =>
      recorder.record(this.#resource, this.#deployment, "Warning", reason, message);
    const wanted = rollbackTarget(this.#deployment) || lastRevision(this.#all);
    const target = wanted === 0n ? undefined : this.#all.find((set) => revisionOf(set) === wanted);
    const { name } = this.#deployment.metadata;
    if (target === undefined) {
      const which = wanted === 0n ? "last revision" : "the revision to rollback to";
      warn("DeploymentRollbackRevisionNotFound", `Unable to find ${which}.`);
      await this.#writeTemplate(undefined);
    } else if (isSameTemplate(target.spec.template, this.#deployment.spec.template)) {
      const message = `The rollback revision contains the same template as current deployment "${name}"`;
      warn("DeploymentRollbackTemplateUnchanged", message);
      await this.#writeTemplate(undefined);
    } else {
      await this.#writeTemplate(target);
      const message = `Rolled back deployment "${name}" to revision ${wanted}`;
      recorder.record(this.#resource, this.#deployment, "Normal", "DeploymentRollback", message);
    }
  }

  /** Ends a rollback. The Deployment gets the template and annotations of the target, if there is one. */
  async #writeTemplate(target: ReplicaSet | undefined): Promise<void> {
    const { metadata, spec } = this.#deployment;
    const annotations = { ...annotationsAfterRollback(this.#deployment, target) };
    const template = target ? withoutHash(target.spec.template ?? {}) : spec.template;
    const next = { ...this.#deployment, metadata: { ...metadata, annotations }, spec: { ...spec, template } };
    await this.#context.client.update(this.#resource, next as KubeObject);
  }

  /** Gives the newest ReplicaSet its annotations, and the Deployment its revision. */
  async #updateNewest(): Promise<void> {
    const newest = this.#newest;
    if (newest === undefined) return;
    const { minReadySeconds } = this.#deployment.spec;
    const annotations = { ...newestAnnotations(this.#deployment, newest, maxRevision(this.#old) + 1n) };
    const isRight =
      isDeepStrictEqual(annotations, newest.metadata.annotations ?? {}) &&
      (newest.spec.minReadySeconds ?? 0) === (minReadySeconds ?? 0);
    if (!isRight) {
      const { minReadySeconds: _, ...spec } = newest.spec;
      await this.#writeSet(newest, {
        metadata: { ...newest.metadata, annotations },
        spec: { ...spec, ...(minReadySeconds !== undefined && { minReadySeconds }) },
      });
      return;
    }
    const revision = String(revisionOf(newest) ?? "");
    const isFound = hasDeadline(this.#deployment) && !conditionOf(this.#deployment.status, "Progressing");
    const message = `Found new replica set "${newest.metadata.name}"`;
    await this.#noteRevision(revision, isFound ? progressing("True", "FoundNewReplicaSet", message) : undefined);
  }

  async #noteRevision(revision: string, condition: ReturnType<typeof progressing> | undefined): Promise<void> {
    const annotations = { ...withRevision(this.#deployment, revision) };
    const isKnown = isDeepStrictEqual(annotations, this.#deployment.metadata.annotations ?? {});
    if (isKnown && condition === undefined) return;
    const { metadata, status = {} } = this.#deployment;
    this.#deployment = { ...this.#deployment, metadata: { ...metadata, annotations } };
    await this.#writeStatus(condition ? withCondition(status, condition, this.#context.now()) : status);
  }

  /** The newest ReplicaSet. Creates it if it is missing. */
  async #ensureNewest(): Promise<ReplicaSet> {
    return this.#newest ?? (await this.#createNewest());
  }

  async #createNewest(): Promise<ReplicaSet> {
    const { client, sets, recorder } = this.#context;
    const wanted = newestSet(this.#deployment, this.#old, sets.resource, this.#resource);
    const { name = "" } = wanted.metadata;
    let created: ReplicaSet;
    try {
      created = (await client.create(sets.resource, wanted)) as ReplicaSet;
      await sets.sees(created.metadata.resourceVersion);
    } catch (error) {
      if (isStatus(error, 409)) throw await this.#noteCollision(error);
      if (!isNamespaceTerminating(error)) await this.#noteFailure(name, error);
      throw error;
    }
    this.#newest = created;
    const size = sizeOf(created);
    if (size > 0) {
      const message = `Scaled up replica set ${name} from 0 to ${size}`;
      recorder.record(this.#resource, this.#deployment, "Normal", "ScalingReplicaSet", message);
    }
    const condition = progressing("True", "NewReplicaSetCreated", `Created new replica set "${name}"`);
    await this.#noteRevision(String(revisionOf(created)), hasDeadline(this.#deployment) ? condition : undefined);
    return created;
  }

  /** Another ReplicaSet has the name. The next attempt uses another hash. */
  async #noteCollision(error: Error): Promise<Error> {
    const { status = {} } = this.#deployment;
    await this.#writeStatus({ ...status, collisionCount: (status.collisionCount ?? 0) + 1 });
    return error;
  }

  async #noteFailure(name: string, error: unknown): Promise<void> {
    const { recorder, now } = this.#context;
    const reason = "ReplicaSetCreateError";
    const text = error instanceof Error ? error.message : String(error);
    const message = `Failed to create new replica set "${name}": ${text}`;
    if (hasDeadline(this.#deployment)) {
      const { status = {} } = this.#deployment;
      await this.#writeStatus(withCondition(status, progressing("False", reason, message), now()));
    }
    recorder.record(this.#resource, this.#deployment, "Warning", reason, message);
  }

  /** Changes the size of a ReplicaSet. Returns whether it had another one. */
  async #resize(set: ReplicaSet, size: number, { updatesAnnotations = false } = {}): Promise<boolean> {
    const before = sizeOf(set);
    const annotations = { ...set.metadata.annotations, ...sizeAnnotations(this.#deployment) };
    const isSized = before === size;
    const isAnnotated = isDeepStrictEqual(annotations, set.metadata.annotations ?? {});
    if (isSized && (!updatesAnnotations || isAnnotated)) return false;
    await this.#writeSet(set, { metadata: { ...set.metadata, annotations }, spec: { ...set.spec, replicas: size } });
    if (isSized) return false;
    const direction = before < size ? "up" : "down";
    const message = `Scaled ${direction} replica set ${set.metadata.name} from ${before} to ${size}`;
    this.#context.recorder.record(this.#resource, this.#deployment, "Normal", "ScalingReplicaSet", message);
    return true;
  }

  async #writeSet(set: ReplicaSet, change: Pick<ReplicaSet, "metadata" | "spec">): Promise<void> {
    const { client, sets } = this.#context;
    const written = (await client.update(sets.resource, { ...set, ...change })) as ReplicaSet;
    await sets.sees(written.metadata.resourceVersion);
    if (set === this.#newest) this.#newest = written;
    else this.#old = this.#old.map((one) => (one === set ? written : one));
  }

  /** Deletes the oldest ReplicaSets without Pods, except as many as the history may hold. */
  async #cleanUp(): Promise<void> {
    const limit = historyLimit(this.#deployment);
    if (limit === undefined) return;
    const { client, sets } = this.#context;
    const alive = this.#old.filter(({ metadata }) => metadata.deletionTimestamp === undefined).sort(byRevision);
    for (const set of alive.slice(0, Math.max(0, alive.length - limit))) {
      const { metadata, status } = set;
      const isObserved = (metadata.generation ?? 0) <= (status?.observedGeneration ?? 0);
      if ((status?.replicas ?? 0) !== 0 || sizeOf(set) !== 0 || !isObserved) continue;
      const { namespace = "", name = "" } = metadata;
      await client.delete(sets.resource, { namespace, name }).catch(unlessCode(404));
    }
  }

  async #writeCounts(): Promise<undefined> {
    const status = countedStatus(this.#deployment, this.#sets, this.#context.now());
    if (!isSameStatus(this.#deployment.status, status)) await this.#writeStatus(status);
  }

  async #writeRollout(): Promise<number | undefined> {
    const now = this.#context.now();
    const status = rolloutStatus(this.#deployment, this.#sets, now);
    if (isSameStatus(this.#deployment.status, status)) return nextDeadlineMs(this.#deployment, status, now);
    await this.#writeStatus(status);
    return undefined;
  }

  /**
   * Compat: the sync goes on with the old resourceVersion. Its next write of the Deployment conflicts, and a new sync follows. So a
   * resumed Deployment does not get the condition NewReplicaSetCreated, and Events before that write are recorded twice.
   */
  async #writeStatus(status: DeploymentStatus): Promise<void> {
    const { client, deployments } = this.#context;
    this.#deployment = { ...this.#deployment, status };
    const written = await client.update(this.#resource, this.#deployment, { subresource: "status" });
    await deployments.sees(written.metadata.resourceVersion);
  }
}

/** Zero and absent counts are the same. */
function isSameStatus(before: DeploymentStatus | undefined, after: DeploymentStatus): boolean {
  return isDeepStrictEqual(comparable(before ?? {}), comparable(after));
}

function comparable({ terminatingReplicas, conditions = [], ...counts }: DeploymentStatus): unknown {
  const present = Object.entries(counts).filter(([, count]) => count !== 0);
  return { terminatingReplicas, conditions, ...Object.fromEntries(present) };
}
