import type { JsonObject } from "../../../base/api/object.ts";

/** PodGroupSchedulingPolicy: `basic` schedules each pod separately, `gang` only if `minCount` of them fit. */
export interface SchedulingPolicy extends JsonObject {
  basic?: JsonObject;
  gang?: { minCount?: number };
}

/** PodGroupTemplate of scheduling.k8s.io. */
export interface GroupTemplate extends JsonObject {
  name?: string;
  schedulingPolicy?: SchedulingPolicy;
  priorityClassName?: string;
  priority?: number;
}

/** CompositePodGroupTemplate of scheduling.k8s.io: groups of groups. */
export interface CompositeTemplate extends GroupTemplate {
  podGroupTemplates?: GroupTemplate[];
  compositePodGroupTemplates?: CompositeTemplate[];
}

/** WorkloadSpec of the stored version of scheduling.k8s.io. */
export interface WorkloadSpec extends JsonObject {
  controllerRef?: JsonObject;
  podGroupTemplates?: GroupTemplate[] | null;
  compositePodGroupTemplates?: CompositeTemplate[];
}

/** PodGroup in the WorkloadSpec of scheduling.k8s.io/v1alpha1. */
export interface OldestGroup extends JsonObject {
  name?: string;
  policy?: SchedulingPolicy;
}

/** WorkloadSpec of scheduling.k8s.io/v1alpha1. */
export interface OldestWorkloadSpec extends JsonObject {
  controllerRef?: { apiGroup?: string; kind?: string; name?: string };
  podGroups?: OldestGroup[] | null;
}
