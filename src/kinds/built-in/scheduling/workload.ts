import { duplicateField, type FieldError, invalidField, requiredField } from "../../../base/api/field-error.ts";
import { isObject, type JsonObject, type KubeObject } from "../../../base/api/object.ts";
import { addAll } from "../../../base/util/add-all.ts";
import type { ResourceHooks, WriteContext } from "../../../resources/model/definition.ts";
import { validateConditions } from "../shared-rules/conditions.ts";
import { declaredHook } from "../shared-rules/declared.ts";
import { asGo, type GoShape } from "../shared-rules/go-print.ts";
import { convertPodGroup, convertWorkload, isOldVersion, OLDER_VERSION, OLDEST_VERSION } from "./conversion.ts";
import { olderSchedulingRules, schedulingRules } from "./declared-rules.ts";
import { oldestWorkloadErrors } from "./oldest-workload.ts";
import type { CompositeTemplate, GroupTemplate, WorkloadSpec } from "./types.ts";

const MAX_DEPTH = 4;

const specOf = ({ spec }: KubeObject) => (isObject(spec) ? spec : {}) as WorkloadSpec;

const stored = (kind: string, version: string) => () => `io.k8s.api.scheduling.${version}.${kind}`;

/** Names of templates must be unique in the whole tree; declarative validation reports duplicates within one list. */
function nameErrors(parent: CompositeTemplate | WorkloadSpec, path: string, taken: Set<string>): FieldError[] {
  const { podGroupTemplates, compositePodGroupTemplates } = parent;
  const errors: FieldError[] = [];
  for (const [member, list] of Object.entries({ podGroupTemplates, compositePodGroupTemplates })) {
    const templates: readonly GroupTemplate[] = list ?? [];
    for (const [index, { name = "" }] of templates.entries()) {
      if (taken.has(name)) errors.push(duplicateField(`${path}.${member}[${index}].name`, name));
    }
    for (const { name = "" } of templates) taken.add(name);
  }
  for (const [index, child] of (compositePodGroupTemplates ?? []).entries()) {
    addAll(errors, nameErrors(child, `${path}.compositePodGroupTemplates[${index}]`, taken));
  }
  return errors;
}

function depthOf({ compositePodGroupTemplates = [] }: CompositeTemplate): number {
  return 1 + compositePodGroupTemplates.reduce((deepest, child) => Math.max(deepest, depthOf(child)), 0);
}

/** All PodGroupTemplates and CompositePodGroupTemplates of a tree. */
function templatesOf({
  podGroupTemplates,
  compositePodGroupTemplates,
}: WorkloadSpec | CompositeTemplate): GroupTemplate[] {
  const composites = compositePodGroupTemplates ?? [];
  return [...(podGroupTemplates ?? []), ...composites, ...composites.flatMap(templatesOf)];
}

function hasSeveralPriorities(templates: readonly GroupTemplate[]): boolean {
  const of = ({ priorityClassName = "", priority }: GroupTemplate) => JSON.stringify([priorityClassName, priority]);
  return new Set(templates.map(of)).size > 1;
}

function priorityErrors(spec: WorkloadSpec): FieldError[] {
  if (hasSeveralPriorities(spec.podGroupTemplates ?? [])) {
    return [invalidField("spec", null, "detected multiple priority configurations")];
  }
  if (!hasSeveralPriorities(templatesOf(spec))) return [];
  const text = "all priority and priorityClassName values must be identical, detected multiple values";
  return [invalidField("spec", null, text)];
}

function childlessErrors(composite: CompositeTemplate, path: string): FieldError[] {
  const { name = "", podGroupTemplates = [], compositePodGroupTemplates = [] } = composite;
  const isChildless = podGroupTemplates.length === 0 && compositePodGroupTemplates.length === 0;
  const text = "must have at least one child PodGroupTemplate or CompositePodGroupTemplate";
  return [
    ...(isChildless ? [invalidField(path, name, text)] : []),
    ...compositePodGroupTemplates.flatMap((child, index) =>
      childlessErrors(child, `${path}.compositePodGroupTemplates[${index}]`),
    ),
  ];
}

const TEMPLATE_BEGIN: GoShape = [["Name", "name", ""]];
const TEMPLATE_END: GoShape = [
  ["PriorityClassName", "priorityClassName", ""],
  ["Priority", "priority"],
  ["PreemptionPolicy", "preemptionPolicy"],
];
const CONSTRAINTS: GoShape = [["Topology", "topology", null, [["Key", "key", ""]]]];
const MODES: GoShape = [
  ["Single", "single"],
  ["All", "all"],
];
const CLAIM: GoShape = [
  ["Name", "name", ""],
  ["ResourceClaimName", "resourceClaimName"],
  ["ResourceClaimTemplateName", "resourceClaimTemplateName"],
];

function policyShape(name: string, member: string): GoShape {
  return [
    ["Basic", "basic"],
    ["Gang", "gang", null, [[name, member, 0]]],
  ];
}

const NO_POLICY = { Basic: null, Gang: null };
const GROUP_SHAPE: GoShape = [
  ...TEMPLATE_BEGIN,
  ["SchedulingPolicy", "schedulingPolicy", NO_POLICY, policyShape("MinCount", "minCount")],
  ["SchedulingConstraints", "schedulingConstraints", null, CONSTRAINTS],
  ["ResourceClaims", "resourceClaims", null, CLAIM],
  ["DisruptionMode", "disruptionMode", null, MODES],
  ...TEMPLATE_END,
];

/** Compat: "field is immutable" shows `compositePodGroupTemplates` as the internal Go struct, at every depth. */
function compositeShape(depth: number): GoShape {
  return [
    ...TEMPLATE_BEGIN,
    ["SchedulingPolicy", "schedulingPolicy", NO_POLICY, policyShape("MinGroupCount", "minGroupCount")],
    ["SchedulingConstraints", "schedulingConstraints", null, CONSTRAINTS],
    ["DisruptionMode", "disruptionMode", null, MODES],
    ...TEMPLATE_END,
    ["PodGroupTemplates", "podGroupTemplates", null, GROUP_SHAPE],
    ["CompositePodGroupTemplates", "compositePodGroupTemplates", null, depth > 0 ? compositeShape(depth - 1) : []],
  ];
}

function treeErrors(spec: WorkloadSpec): FieldError[] {
  const path = "spec.compositePodGroupTemplates";
  const composites = spec.compositePodGroupTemplates ?? [];
  const tooDeep = composites.flatMap((composite, index) => {
    if (depthOf(composite) < MAX_DEPTH) return [];
    const text = `maximum template hierarchy depth is ${MAX_DEPTH}`;
    const shown = asGo(composite.compositePodGroupTemplates, compositeShape(depthOf(composite)));
    return [invalidField(`${path}[${index}]`, shown, text)];
  });
  return [
    ...nameErrors({ ...spec, podGroupTemplates: [] }, "spec", new Set(templateNames(spec))),
    ...tooDeep,
    ...priorityErrors(spec),
    ...composites.flatMap((composite, index) => childlessErrors(composite, `${path}[${index}]`)),
  ];
}

const templateNames = ({ podGroupTemplates }: WorkloadSpec) => (podGroupTemplates ?? []).map(({ name = "" }) => name);

/** Compat: preemptionPolicy is dropped unless the feature gate PodGroupPreemptionPolicy is on. */
function dropPreemptionPolicy(object: JsonObject, previous: JsonObject | undefined, { features }: WriteContext): void {
  if (!features.enabled("PodGroupPreemptionPolicy") && previous?.preemptionPolicy === undefined)
    delete object.preemptionPolicy;
}

function dropPreemptionPolicies(next: KubeObject, previous: KubeObject | undefined, context: WriteContext): void {
  const before = new Map(previous ? templatesOf(specOf(previous)).map((one) => [one.name, one]) : []);
  for (const template of templatesOf(specOf(next))) {
    dropPreemptionPolicy(template, before.get(template.name), context);
  }
}

const workloadDeclared = declaredHook(schedulingRules, stored("Workload", "v1beta1"));
const olderWorkloadDeclared = declaredHook(olderSchedulingRules, stored("Workload", "v1alpha2"), convertWorkload);

function spokenWorkloadErrors(next: KubeObject, previous: KubeObject | undefined, context: WriteContext): FieldError[] {
  if (context.apiVersion === OLDER_VERSION) return olderWorkloadDeclared(next, previous, context);
  const spoken = (object: KubeObject) => convertWorkload(object, OLDEST_VERSION);
  return oldestWorkloadErrors(spoken(next), previous && spoken(previous));
}

/** Workload: PodGroupTemplates, or CompositePodGroupTemplates that contain them. Only `minCount` may change. */
export const workloadHooks: ResourceHooks = {
  convert: convertWorkload,
  prepare: dropPreemptionPolicies,
  validate(next, previous, context) {
    // Violations of the client's version are reported with its messages; older versions have rules for all their
    // fields.
    if (!isOldVersion(context.apiVersion))
      return [...treeErrors(specOf(next)), ...workloadDeclared(next, previous, context)];
    const spoken = spokenWorkloadErrors(next, previous, context);
    return spoken.length > 0 ? spoken : treeErrors(specOf(next));
  },
};

const groupDeclared = declaredHook(schedulingRules, stored("PodGroup", "v1beta1"));
const olderGroupDeclared = declaredHook(olderSchedulingRules, stored("PodGroup", "v1alpha2"), convertPodGroup);

function groupStatusErrors({ spec, status }: KubeObject): FieldError[] {
  const { conditions, resourceClaimStatuses } = isObject(status) ? status : {};
  const { resourceClaims } = isObject(spec) ? spec : {};
  const names = new Set((Array.isArray(resourceClaims) ? resourceClaims : []).map((one) => isObject(one) && one.name));
  const errors = validateConditions(conditions, "status.conditions");
  for (const [index, one] of (Array.isArray(resourceClaimStatuses) ? resourceClaimStatuses : []).entries()) {
    const name = isObject(one) ? (one.name ?? "") : "";
    if (names.has(name as string)) continue;
    const text = "must match the name of an entry in `spec.resourceClaims`";
    errors.push(invalidField(`status.resourceClaimStatuses[${index}].name`, name, text));
  }
  return errors;
}

/** PodGroup: pods that are scheduled together. Only `minCount` may change. */
export const podGroupHooks: ResourceHooks = {
  convert: convertPodGroup,
  setDefaults({ spec }, apiVersion) {
    if (isObject(spec)) spec.disruptionMode ??= apiVersion === OLDER_VERSION ? "Pod" : { single: {} };
  },
  prepare: (next, previous, context) => dropPreemptionPolicy(specOf(next), previous && specOf(previous), context),
  validate(next, previous, context) {
    const errors = previous && context.subresource === "status" ? groupStatusErrors(next) : [];
    const { parentCompositePodGroupName, workloadRef } = specOf(next);
    if (!previous && parentCompositePodGroupName !== undefined && workloadRef === undefined) {
      errors.push(requiredField("spec.workloadRef", "must be set when parentCompositePodGroupName is set"));
    }
    const check = context.apiVersion === OLDER_VERSION ? olderGroupDeclared : groupDeclared;
    return [...errors, ...check(next, previous, context)];
  },
};

const compositeDeclared = declaredHook(schedulingRules, stored("CompositePodGroup", "v1alpha3"));

/** CompositePodGroup: a group of PodGroups; its spec is immutable. */
export const compositePodGroupHooks: ResourceHooks = {
  setDefaults({ spec }) {
    if (isObject(spec)) spec.disruptionMode ??= { single: {} };
  },
  prepare: (next, previous, context) => dropPreemptionPolicy(specOf(next), previous && specOf(previous), context),
  validate(next, previous, context) {
    const { conditions } = isObject(next.status) ? next.status : {};
    const isStatus = previous !== undefined && context.subresource === "status";
    const errors = isStatus ? validateConditions(conditions, "status.conditions") : [];
    return [...errors, ...compositeDeclared(next, previous, context)];
  },
};
