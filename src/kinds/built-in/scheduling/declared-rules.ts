import type { DeclaredRules, FieldRules, StructRules } from "../shared-rules/declared.ts";

const HIGHEST_PRIORITY = 1_000_000_000;

const FIXED: FieldRules = { immutable: true };
const SHORT_NAME: FieldRules = { required: true, format: "short-name" };
const LONG_NAME: FieldRules = { required: true, format: "long-name" };
const PATH_SEGMENT: FieldRules = { required: true, format: "path-segment-name" };
const CLAIMS: FieldRules = { keys: ["name"], immutable: true, maxItems: 4 };

/** Types that are the same in all versions. */
const COMMON: DeclaredRules = {
  TypedLocalObjectReference: {
    fields: { apiGroup: { format: "long-name" }, kind: PATH_SEGMENT, name: PATH_SEGMENT },
  },
  GangSchedulingPolicy: { fields: { minCount: { required: true, minimum: 1 } } },
  PodGroupResourceClaim: {
    union: ["resourceClaimName", "resourceClaimTemplateName"],
    fields: {
      name: SHORT_NAME,
      resourceClaimName: { format: "long-name" },
      resourceClaimTemplateName: { format: "long-name" },
    },
  },
  PodGroupSchedulingConstraints: { fields: { topology: { maxItems: 1 } } },
  TopologyConstraint: { fields: { key: { required: true, format: "label-key" } } },
  PodGroupStatus: { fields: { resourceClaimStatuses: { keys: ["name"], maxItems: 4 } } },
  PodGroupResourceClaimStatus: { fields: { resourceClaimName: { format: "long-name" } } },
};

/** PodGroupSchedulingPolicy: basic or gang is chosen at creation; of gang, only `minCount` may change later. */
const POLICY: StructRules = { union: ["basic", "gang"], fields: { basic: FIXED, gang: { no: ["set", "unset"] } } };
const MODE: StructRules = { union: ["single", "all"] };

/** Immutable fields of a PodGroup. */
const GROUP: Readonly<Record<string, FieldRules>> = {
  schedulingConstraints: FIXED,
  resourceClaims: CLAIMS,
  disruptionMode: FIXED,
  priorityClassName: { immutable: true, format: "long-name" },
  priority: { immutable: true, maximum: HIGHEST_PRIORITY },
  preemptionPolicy: { immutable: true, closed: true },
};
const TEMPLATES: FieldRules = { keys: ["name"], maxItems: 8, no: ["add-item", "remove-item"] };

/** Declarative validation of scheduling.k8s.io/v1beta1 and v1alpha3. */
export const schedulingRules: DeclaredRules = {
  ...COMMON,
  WorkloadSpec: {
    union: ["podGroupTemplates", "compositePodGroupTemplates"],
    fields: { controllerRef: FIXED, podGroupTemplates: TEMPLATES, compositePodGroupTemplates: TEMPLATES },
  },
  PodGroupTemplate: { fields: { name: SHORT_NAME, ...GROUP } },
  CompositePodGroupTemplate: {
    fields: { name: SHORT_NAME, ...GROUP, podGroupTemplates: TEMPLATES, compositePodGroupTemplates: TEMPLATES },
  },
  PodGroupSchedulingPolicy: POLICY,
  CompositePodGroupSchedulingPolicy: POLICY,
  CompositeGangSchedulingPolicy: { fields: { minGroupCount: { required: true, minimum: 1 } } },
  CompositePodGroupSchedulingConstraints: { fields: { topology: { maxItems: 1 } } },
  DisruptionMode: MODE,
  CompositeDisruptionMode: MODE,
  WorkloadReference: { fields: { workloadName: LONG_NAME, templateName: SHORT_NAME } },
  PodGroupSpec: {
    fields: { parentCompositePodGroupName: { immutable: true, format: "long-name" }, workloadRef: FIXED, ...GROUP },
  },
  CompositePodGroupSpec: {
    fields: {
      parentCompositePodGroupName: { immutable: true, format: "long-name" },
      workloadRef: { immutable: true, required: true },
      schedulingPolicy: FIXED,
      ...GROUP,
    },
  },
};

const OLDER_POLICY: StructRules = { union: ["basic", "gang"] };
const OLDER_PRIORITY: FieldRules = { maximum: HIGHEST_PRIORITY };

/** Declarative validation of scheduling.k8s.io/v1alpha2. */
export const olderSchedulingRules: DeclaredRules = {
  ...COMMON,
  WorkloadSpec: {
    fields: {
      controllerRef: FIXED,
      podGroupTemplates: { keys: ["name"], immutable: true, maxItems: 8, required: true },
    },
  },
  PodGroupTemplate: {
    fields: {
      name: SHORT_NAME,
      resourceClaims: CLAIMS,
      disruptionMode: { closed: true },
      priorityClassName: { format: "long-name" },
      priority: OLDER_PRIORITY,
    },
  },
  PodGroupSchedulingPolicy: OLDER_POLICY,
  PodGroupTemplateReference: { union: ["workload"] },
  WorkloadPodGroupTemplateReference: { fields: { workloadName: LONG_NAME, podGroupTemplateName: SHORT_NAME } },
  PodGroupSpec: {
    fields: {
      podGroupTemplateRef: FIXED,
      schedulingPolicy: FIXED,
      schedulingConstraints: FIXED,
      resourceClaims: CLAIMS,
      disruptionMode: { immutable: true, closed: true },
      priorityClassName: { immutable: true, format: "long-name" },
      priority: { ...OLDER_PRIORITY, immutable: true },
    },
  },
};
