import type { JsonObject } from "../../api/object.ts";

/** How the pods of a group are placed: each by itself, or only when enough of them can be. */
export interface SchedulingPolicy extends JsonObject {
  basic?: JsonObject;
  gang?: { minCount?: number };
}

/** A group of pods as a workload describes it. */
export interface GroupTemplate extends JsonObject {
  name?: string;
  schedulingPolicy?: SchedulingPolicy;
  priorityClassName?: string;
  priority?: number;
}

/** Groups of groups. */
export interface CompositeTemplate extends GroupTemplate {
  podGroupTemplates?: GroupTemplate[];
  compositePodGroupTemplates?: CompositeTemplate[];
}

/** A workload in the version it is stored in. */
export interface WorkloadSpec extends JsonObject {
  controllerRef?: JsonObject;
  podGroupTemplates?: GroupTemplate[] | null;
  compositePodGroupTemplates?: CompositeTemplate[];
}

/** A pod group as the oldest version of workloads has it. */
export interface OldestGroup extends JsonObject {
  name?: string;
  policy?: SchedulingPolicy;
}

/** A workload in its oldest version. */
export interface OldestWorkloadSpec extends JsonObject {
  controllerRef?: { apiGroup?: string; kind?: string; name?: string };
  podGroups?: OldestGroup[] | null;
}
