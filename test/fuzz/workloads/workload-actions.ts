import type { JsonObject, KubeObject } from "../../../src/base/api/object.ts";
import type { ReplicaSet } from "../../../src/kinds/types/workloads.ts";
import type { Random } from "../random.ts";
import type { Collection, NamespaceView } from "./cluster-view.ts";
import { type Action, mergeStep, pathOf, type World } from "./steps.ts";
import { HOLD, randomTemplate } from "./templates.ts";

/** An object with a Pod template. */
export interface Workload extends KubeObject {
  spec: ReplicaSet["spec"];
  status?: NonNullable<ReplicaSet["status"]>;
}

const POLICIES = ["Background", "Foreground", "Orphan"];

/** Most sizes are small, so that a rollout takes few steps. */
export const randomSize = (random: Random): number => random.pick([0, 1, 1, 2, 2, 3, 3, 4, 5, 7]);

/** The labels that the Pods of a workload need. */
export const labelsFor = (name: string): JsonObject => ({ app: name });

/** A random Pod template for a workload. */
export function templateFor({ random, namespace }: World, name: string): JsonObject {
  return randomTemplate(random, namespace, labelsFor(name), random.chance(0.15));
}

/** Changes `spec.replicas`. */
export const scaleAction = (collection: Collection, weight = 6): Action => ({
  weight,
  plan: (world, target) =>
    mergeStep(world, "scale", collection, target, { spec: { replicas: randomSize(world.random) } }),
});

/** Replaces the Pod template. */
export const templateAction = (collection: Collection, weight = 5): Action => ({
  weight,
  plan(world, target) {
    const template = templateFor(world, target.metadata.name ?? "");
    const path = pathOf(world, collection, target.metadata.name);
    const body = [{ op: "replace", path: "/spec/template", value: template }];
    return {
      title: `replace the template of ${target.kind} ${target.metadata.name} by ${JSON.stringify(template)}`,
      requests: () => [{ method: "PATCH", path, body, type: "application/json-patch+json" }],
    };
  },
});

/** Merges one of these changes. */
export const changeAction = (collection: Collection, weight: number, changes: readonly JsonObject[]): Action => ({
  weight,
  plan: (world, target) => mergeStep(world, "change", collection, target, world.random.pick(changes)),
});

/** Deletes the object with a random propagation policy. */
export const deleteAction = (collection: Collection, weight = 1): Action => ({
  weight,
  plan(world, { kind, metadata }) {
    const propagationPolicy = world.random.pick(POLICIES);
    const path = pathOf(world, collection, metadata.name);
    return {
      title: `delete ${kind} ${metadata.name} with ${propagationPolicy}`,
      requests: () => [{ method: "DELETE", path, body: { propagationPolicy } }],
    };
  },
});

/** Adds a finalizer, so that a deleted object stays for a while, or removes it. */
export const holdAction = (collection: Collection, weight = 0.5): Action => ({
  weight,
  plan(world, target) {
    const isHeld = target.metadata.finalizers?.includes(HOLD) ?? false;
    const finalizers = (target.metadata.finalizers ?? []).filter((one) => one !== HOLD);
    const body = { metadata: { finalizers: isHeld ? finalizers : [...finalizers, HOLD] } };
    return mergeStep(world, isHeld ? "let go" : "hold", collection, target, body);
  },
});

/** Whether an object is being deleted and only waits for a step that lets go. */
export function isKept({ metadata }: KubeObject): boolean {
  return (
    metadata.deletionTimestamp !== undefined && metadata.finalizers?.length === 1 && metadata.finalizers[0] === HOLD
  );
}

/** Whether a controller has seen the newest spec. */
export function isObserved(object: KubeObject & { status?: JsonObject }): boolean {
  const { metadata, status } = object;
  if (metadata.deletionTimestamp !== undefined) return isKept(object);
  return status?.observedGeneration === metadata.generation;
}

/** Whether a controller has seen the newest spec and created or deleted all Pods. */
export function hasAllReplicas(object: Workload, view: NamespaceView): boolean {
  const { metadata, spec, status } = object;
  if (metadata.deletionTimestamp !== undefined) return isKept(object);
  const isFull = (status?.replicas ?? 0) === (spec.replicas ?? 1) || view.of("ResourceQuota").length > 0;
  return isObserved(object) && isFull && (status?.readyReplicas ?? 0) === (status?.availableReplicas ?? 0);
}
