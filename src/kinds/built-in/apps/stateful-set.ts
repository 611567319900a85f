import type { FeatureGates } from "../../../base/api/feature-gates.ts";
import { type FieldError, invalidField, notSupportedField, requiredField } from "../../../base/api/field-error.ts";
import { isObject, type Json, type JsonObject, type KubeObject, type ObjectMeta } from "../../../base/api/object.ts";
import { addAll } from "../../../base/util/add-all.ts";
import type { ResourceHooks } from "../../../resources/model/definition.ts";
import { validateLabels } from "../../../resources/write/metadata-validation.ts";
import type { PodSpec } from "../../types/pod.ts";
import type { PersistentVolumeClaimSpec, Volume } from "../../types/volume.ts";
import { internalForm } from "../core/pod/internal-form.ts";
import { setPodTemplateDefaults } from "../core/pod/pod-spec-defaults.ts";
import { validatePodTemplate } from "../core/pod/pod-spec-validation.ts";
import { podTemplateWarnings } from "../core/pod/pod-warnings.ts";
import { validateClaimSpec } from "../core/volume/claim-spec-validation.ts";
import { claimWarnings } from "../core/volume/volume-warnings.ts";
import type { Defaults } from "../shared-rules/defaults.ts";
import { labelName } from "../shared-rules/formats.ts";
import { asGo, type GoShape } from "../shared-rules/go-print.ts";
import { immutable } from "../shared-rules/immutable.ts";
import { atMostAll, intOrPercentValue, validateIntOrPercent } from "../shared-rules/int-or-percent.ts";
import { orderedSelector } from "../shared-rules/label-selector.ts";
import { nonNegative, nonNegativeMembers, notDecremented } from "../shared-rules/numbers.ts";
import { roundResources } from "../shared-rules/quantities.ts";
import {
  isChanged,
  isUsable,
  memberOf,
  type PodTemplate,
  prepareTemplate,
  templateOf,
  validateNotMoreThan,
  validateRunsForever,
  validateSelector,
  validateTemplateLabels,
  type WorkloadSpec,
} from "./workload.ts";

interface StatefulSetSpec extends WorkloadSpec {
  serviceName?: string;
  podManagementPolicy?: string;
  updateStrategy?: UpdateStrategy;
  persistentVolumeClaimRetentionPolicy?: JsonObject;
  volumeClaimTemplates?: ClaimTemplate[];
  ordinals?: JsonObject;
}

interface UpdateStrategy extends JsonObject {
  type?: string;
  rollingUpdate?: JsonObject;
}

interface ClaimTemplate extends JsonObject {
  metadata?: ObjectMeta;
  spec?: PersistentVolumeClaimSpec;
  status?: JsonObject;
}

/** Defaults of a StatefulSet. */
export const statefulSetDefaults: Defaults = {
  "spec.podManagementPolicy": "OrderedReady",
  "spec.persistentVolumeClaimRetentionPolicy": {},
  "spec.persistentVolumeClaimRetentionPolicy.whenDeleted": "Retain",
  "spec.persistentVolumeClaimRetentionPolicy.whenScaled": "Retain",
  "spec.replicas": 1,
  "spec.revisionHistoryLimit": 10,
  "spec.volumeClaimTemplates[*].spec.volumeMode": "Filesystem",
  "spec.volumeClaimTemplates[*].status.phase": "Pending",
};

const ROLLING: GoShape = [
  ["Partition", "partition", 0],
  ["MaxUnavailable", "maxUnavailable"],
];
const STRATEGY: GoShape = [
  ["Type", "type", ""],
  ["RollingUpdate", "rollingUpdate", null, ROLLING],
];

function setDefaults(statefulSet: KubeObject): void {
  const { updateStrategy, template, volumeClaimTemplates = [] } = memberOf<StatefulSetSpec>(statefulSet, "spec");
  if (updateStrategy && (updateStrategy.type ?? "") === "") {
    updateStrategy.type = "RollingUpdate";
    updateStrategy.rollingUpdate ??= {};
  }
  // Compat: `updateStrategy.type` RollingUpdate without `rollingUpdate` gets no `partition` or `maxUnavailable`
  // (`SetDefaults_StatefulSet`).
  if (updateStrategy?.type === "RollingUpdate" && updateStrategy.rollingUpdate) {
    updateStrategy.rollingUpdate.partition ??= 0;
    updateStrategy.rollingUpdate.maxUnavailable ??= 1;
  }
  setPodTemplateDefaults(template);
  for (const claim of volumeClaimTemplates) {
    claim.apiVersion = "v1";
    claim.kind = "PersistentVolumeClaim";
    roundResources(claim.spec?.resources);
  }
}

function validateStrategy(strategy: UpdateStrategy, path: string, allowsRecreate: boolean): FieldError[] {
  const { type = "", rollingUpdate } = strategy;
  if (type === "") return [requiredField(path)];
  if (type === "OnDelete" || (type === "Recreate" && allowsRecreate)) {
    if (rollingUpdate === undefined) return [];
    const text = "only allowed for updateStrategy 'RollingUpdate'";
    return [invalidField(`${path}.rollingUpdate`, asGo(rollingUpdate, ROLLING), text)];
  }
  if (type === "RollingUpdate") {
    return rollingUpdate ? validateRollingUpdate(rollingUpdate, `${path}.rollingUpdate`) : [];
  }
  const known = allowsRecreate ? "'RollingUpdate', 'OnDelete', or 'Recreate'" : "'RollingUpdate' or 'OnDelete'";
  return [invalidField(path, asGo(strategy, STRATEGY), `must be ${known}`)];
}

function validateRollingUpdate({ partition, maxUnavailable }: JsonObject, path: string): FieldError[] {
  const errors = nonNegative(partition, `${path}.partition`);
  if (maxUnavailable === undefined) return errors;
  const field = `${path}.maxUnavailable`;
  addAll(errors, validateIntOrPercent(maxUnavailable, field));
  if (intOrPercentValue(maxUnavailable) === 0) errors.push(invalidField(field, maxUnavailable, "cannot be 0"));
  return [...errors, ...atMostAll(maxUnavailable, field)];
}

const RETENTIONS = ["Retain", "Delete"];

function validateRetention(policy: JsonObject | undefined, path: string): FieldError[] {
  if (!isObject(policy)) return [];
  return ["whenDeleted", "whenScaled"]
    .filter((member) => !RETENTIONS.includes(String(policy[member])))
    .map((member) => notSupportedField(`${path}.${member}`, policy[member] ?? "", RETENTIONS));
}

/** What validation tolerates because the stored object has it. */
interface Leniency {
  /** The stored spec; undefined for a new object. */
  readonly before?: StatefulSetSpec;
  readonly allowsRecreate: boolean;
  readonly features: FeatureGates;
  /** The stored template is invalid too. */
  readonly skipsTemplate: boolean;
}

function validateSpec(spec: StatefulSetSpec, leniency: Leniency): FieldError[] {
  const { podManagementPolicy = "", updateStrategy = {}, ordinals, serviceName = "", selector, template = {} } = spec;
  const errors: FieldError[] = [];
  if (podManagementPolicy !== "OrderedReady" && podManagementPolicy !== "Parallel") {
    errors.push(invalidField("spec.podManagementPolicy", podManagementPolicy, "must be 'OrderedReady' or 'Parallel'"));
  }
  addAll(errors, validateStrategy(updateStrategy, "spec.updateStrategy", leniency.allowsRecreate));
  const retention = "persistentVolumeClaimRetentionPolicy";
  addAll(errors, validateRetention(spec[retention], `spec.${retention}`));
  if (!leniency.before) {
    for (const [index, claim] of (spec.volumeClaimTemplates ?? []).entries()) {
      validateClaimSpec(errors, claim.spec ?? {}, `spec.volumeClaimTemplates[${index}].spec`);
    }
  }
  addAll(errors, nonNegativeMembers(spec, "spec", ["replicas", "minReadySeconds"]));
  addAll(errors, nonNegative(ordinals?.start, "spec.ordinals.start"));
  if (!leniency.before && serviceName !== "") {
    addAll(
      errors,
      labelName(serviceName).map((text) => invalidField("spec.serviceName", serviceName, text)),
    );
  }
  addAll(errors, validateSelector(selector, "spec.selector", "statefulset"));
  if (isUsable(selector)) addAll(errors, validateTemplate(spec, leniency));
  else errors.push(invalidField("spec.selector", orderedSelector(selector), ""));
  addAll(errors, validateRunsForever(template, "spec.template", "StatefulSet"));
  return errors;
}

function validateTemplate(spec: StatefulSetSpec, { before, features, skipsTemplate }: Leniency): FieldError[] {
  const { selector, template = {} } = spec;
  const path = "spec.template";
  const shown = withClaims(template, spec.volumeClaimTemplates ?? []);
  return [
    ...validateTemplateLabels(selector, template, path),
    ...(skipsTemplate ? [] : validatePodTemplate(shown, path, features, before?.template)),
    ...validateLabels(memberOf<ObjectMeta>(template, "metadata").labels ?? {}, `${path}.labels`),
  ];
}

/** The pod template with volumes of volumeClaimTemplates, and without hostname and subdomain, which pods get anyway. */
function withClaims(template: PodTemplate, claims: readonly ClaimTemplate[]): PodTemplate {
  const { subdomain: _subdomain, hostname: _hostname, ...spec } = memberOf<PodSpec>(template, "spec");
  if (claims.length === 0) return { ...template, spec };
  const byName = new Map<string, Volume>();
  for (const { metadata } of claims) {
    const name = metadata?.name ?? "";
    byName.set(name, { name, persistentVolumeClaim: { claimName: name } });
  }
  const others = (spec.volumes ?? []).filter(({ name = "" }) => !byName.has(name));
  return { ...template, spec: { ...spec, volumes: [...byName.values(), ...others] } };
}

function validateUpdate(spec: StatefulSetSpec, before: StatefulSetSpec, features: FeatureGates): FieldError[] {
  const isRecreated = before.updateStrategy?.type === "Recreate";
  const allowsRecreate = isRecreated || features.enabled("StatefulSetRecreateStrategy");
  const leniency = { before, allowsRecreate, features, skipsTemplate: false };
  const errors = validateSpec(spec, leniency);
  const isOldInvalid = errors.length > 0 && validateSpec(before, leniency).length > 0;
  const print: Readonly<Record<string, (value: Json | undefined) => unknown>> = {
    selector: orderedSelector,
    volumeClaimTemplates: (value) => value && internalForm(value, "PersistentVolumeClaim"),
  };
  const fixed = ["selector", "volumeClaimTemplates", "serviceName", "podManagementPolicy"];
  return [
    ...(isOldInvalid ? validateSpec(spec, { ...leniency, skipsTemplate: true }) : errors),
    ...fixed.flatMap((member) => immutable(spec[member], before[member], `spec.${member}`, print[member])),
  ];
}

const COUNTERS = [
  "replicas",
  "readyReplicas",
  "currentReplicas",
  "updatedReplicas",
  "availableReplicas",
  "observedGeneration",
  "collisionCount",
];

function validateStatus(next: KubeObject, previous: KubeObject | undefined): FieldError[] {
  const status = memberOf(next, "status");
  const all = { member: "replicas", named: "status.replicas" };
  const ready = { member: "readyReplicas", named: "status.readyReplicas" };
  const limited = ["readyReplicas", "currentReplicas", "updatedReplicas", "availableReplicas"];
  return [
    ...nonNegativeMembers(status, "status", COUNTERS),
    ...validateNotMoreThan(status, "status", limited, all),
    ...validateNotMoreThan(status, "status", ["availableReplicas"], ready),
    ...notDecremented(status.collisionCount, memberOf(previous, "status").collisionCount, "status.collisionCount"),
  ];
}

const NEGATIVE_HISTORY =
  "spec.revisionHistoryLimit: a negative value retains all historical revisions; a value >= 0 is recommended";

/** StatefulSet: pods with stable names and volume claims. */
export const statefulSetHooks: ResourceHooks = {
  setDefaults,
  prepare: (next, previous, context) => prepareTemplate(templateOf(next), previous && templateOf(previous), context),
  validate(next, previous, { subresource, features }) {
    if (subresource === "status") return validateStatus(next, previous);
    const spec = memberOf<StatefulSetSpec>(next, "spec");
    const allowsRecreate = features.enabled("StatefulSetRecreateStrategy");
    if (!previous) return validateSpec(spec, { allowsRecreate, features, skipsTemplate: false });
    return validateUpdate(spec, memberOf<StatefulSetSpec>(previous, "spec"), features);
  },
  warn(next, previous, { subresource }) {
    if (subresource === "status") return [];
    const { revisionHistoryLimit = 0, volumeClaimTemplates = [] } = memberOf<StatefulSetSpec>(next, "spec");
    // Compat: warnings of an update have the path `spec.volumeClaimTemplates[0].Spec`, those of a create omit `.Spec`.
    const suffix = previous ? ".Spec" : "";
    return [
      ...(isChanged(next, previous) ? podTemplateWarnings(templateOf(next), "spec.template") : []),
      ...volumeClaimTemplates.flatMap(({ spec = {} }, index) =>
        claimWarnings(spec, `spec.volumeClaimTemplates[${index}]${suffix}`),
      ),
      ...(revisionHistoryLimit < 0 ? [NEGATIVE_HISTORY] : []),
    ];
  },
};
