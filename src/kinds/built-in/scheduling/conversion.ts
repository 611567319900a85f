import { isObject, type Json, type JsonObject, type KubeObject } from "../../../base/api/object.ts";
import type { ResourceHooks } from "../../../resources/model/definition.ts";
import { sameValue } from "../shared-rules/immutable.ts";
import type { CompositeTemplate, GroupTemplate, OldestGroup, WorkloadSpec } from "./types.ts";

/** The version in which a Workload has `podGroups` itself. */
export const OLDEST_VERSION = "scheduling.k8s.io/v1alpha1";
/** The version in which a Workload has PodGroupTemplates, and a PodGroup refers to one by `podGroupTemplateRef`. */
export const OLDER_VERSION = "scheduling.k8s.io/v1alpha2";

/** Whether Workload and PodGroup of an apiVersion differ from the stored version. */
export function isOldVersion(apiVersion: string): boolean {
  return apiVersion === OLDEST_VERSION || apiVersion === OLDER_VERSION;
}

const specOf = (object: KubeObject | undefined) => (isObject(object?.spec) ? object.spec : {});

/** A copy without undefined fields. */
function compact(object: Readonly<Record<string, Json | undefined>>): JsonObject {
  return Object.fromEntries(Object.entries(object).filter((entry): entry is [string, Json] => entry[1] !== undefined));
}

/** `disruptionMode` as the string that the older version has for it. */
function modeToWord(mode: Json | undefined): Json | undefined {
  if (!isObject(mode)) return mode;
  return mode.all === undefined ? "Pod" : "PodGroup";
}

/** A string that is not a DisruptionMode is kept, for validation to reject. */
function modeFromWord(word: Json | undefined): Json | undefined {
  if (word === "Pod") return { single: {} };
  return word === "PodGroup" ? { all: {} } : word;
}

/** The PodGroupTemplates at the leaves of a tree of CompositePodGroupTemplates, in order. */
function leavesOf({
  podGroupTemplates,
  compositePodGroupTemplates,
}: WorkloadSpec | CompositeTemplate): GroupTemplate[] {
  return [...(podGroupTemplates ?? []), ...(compositePodGroupTemplates ?? []).flatMap(leavesOf)];
}

function templateToOlder(template: GroupTemplate): JsonObject {
  const { preemptionPolicy: _hidden, disruptionMode, ...rest } = template;
  return compact({ ...rest, disruptionMode: modeToWord(disruptionMode) });
}

function templateToOldest({ name = "", schedulingPolicy = {} }: GroupTemplate): JsonObject {
  return { name, policy: schedulingPolicy };
}

function workloadToOld(spec: WorkloadSpec, toApiVersion: string): JsonObject {
  const { controllerRef } = spec;
  const leaves = leavesOf(spec);
  const isOldest = toApiVersion === OLDEST_VERSION;
  const shown = leaves.map(isOldest ? templateToOldest : templateToOlder);
  return compact({ controllerRef, [isOldest ? "podGroups" : "podGroupTemplates"]: shown.length > 0 ? shown : null });
}

/**
 * A PodGroupTemplate in the stored form. Fields that its version lacks are kept from the stored one of the same name.
 */
function templateFromOld(group: JsonObject, isOldest: boolean, stored: GroupTemplate | undefined): JsonObject {
  const { name = "" } = group;
  if (isOldest) {
    const { policy = {} } = group as OldestGroup;
    return { schedulingConstraints: null, ...stored, name, schedulingPolicy: policy };
  }
  const { preemptionPolicy } = stored ?? {};
  return compact({
    schedulingConstraints: null,
    ...group,
    disruptionMode: modeFromWord(group.disruptionMode),
    preemptionPolicy,
  });
}

function workloadFromOld(object: KubeObject, stored: KubeObject | undefined): JsonObject {
  const isOldest = object.apiVersion === OLDEST_VERSION;
  const member = isOldest ? "podGroups" : "podGroupTemplates";
  const { controllerRef, [member]: list } = specOf(object);
  const before: WorkloadSpec = specOf(stored);
  const tree = before.compositePodGroupTemplates ?? [];
  // The older versions only show the leaves of a tree; the tree is kept while they are unchanged.
  if (tree.length > 0 && sameValue(workloadToOld(before, object.apiVersion)[member], list)) {
    return compact({ controllerRef, podGroupTemplates: null, compositePodGroupTemplates: tree });
  }
  const known = new Map(leavesOf(before).map((template) => [template.name, template]));
  const groups = Array.isArray(list) ? list.filter(isObject) : [];
  const templates = groups.map((group) => templateFromOld(group, isOldest, known.get(group.name as string)));
  return compact({ controllerRef, podGroupTemplates: templates.length > 0 ? templates : null });
}

/** Converts a Workload to another version. */
export const convertWorkload: NonNullable<ResourceHooks["convert"]> = (object, toApiVersion, stored) => {
  const isFromOld = isOldVersion(object.apiVersion);
  if (isFromOld && isOldVersion(toApiVersion)) {
    // There is no direct conversion between the two.
    const between = convertWorkload(object, "scheduling.k8s.io/v1beta1", stored);
    return convertWorkload(between, toApiVersion);
  }
  if (isFromOld) return { ...object, apiVersion: toApiVersion, spec: workloadFromOld(object, stored) };
  if (!isOldVersion(toApiVersion)) return { ...object, apiVersion: toApiVersion };
  return { ...object, apiVersion: toApiVersion, spec: workloadToOld(specOf(object), toApiVersion) };
};

function groupToOlder(spec: JsonObject): JsonObject {
  const {
    workloadRef,
    disruptionMode,
    preemptionPolicy: _policy,
    parentCompositePodGroupName: _parent,
    ...rest
  } = spec;
  const { workloadName = "", templateName = "" } = isObject(workloadRef) ? workloadRef : {};
  const workload = { workloadName, podGroupTemplateName: templateName };
  return compact({
    podGroupTemplateRef: isObject(workloadRef) ? { workload } : null,
    ...rest,
    disruptionMode: modeToWord(disruptionMode),
  });
}

function groupFromOlder(spec: JsonObject, stored: JsonObject): JsonObject {
  const { podGroupTemplateRef, disruptionMode, ...rest } = spec;
  const { preemptionPolicy, parentCompositePodGroupName } = stored;
  const { workload } = isObject(podGroupTemplateRef) ? podGroupTemplateRef : {};
  const { workloadName = "", podGroupTemplateName = "" } = isObject(workload) ? workload : {};
  const workloadRef = isObject(podGroupTemplateRef) ? { workloadName, templateName: podGroupTemplateName } : undefined;
  const hidden = { parentCompositePodGroupName, preemptionPolicy };
  return compact({ workloadRef, ...rest, disruptionMode: modeFromWord(disruptionMode), ...hidden });
}

/** Converts a PodGroup to another version. */
export const convertPodGroup: NonNullable<ResourceHooks["convert"]> = (object, toApiVersion, stored) => {
  const converted: KubeObject = { ...object, apiVersion: toApiVersion };
  if (!isObject(object.spec)) return converted;
  if (isOldVersion(object.apiVersion)) converted.spec = groupFromOlder(object.spec, specOf(stored));
  else if (isOldVersion(toApiVersion)) converted.spec = groupToOlder(object.spec);
  return converted;
};
