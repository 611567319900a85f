import type { FeatureGates } from "../../../../base/api/feature-gates.ts";
import { type FieldError, invalidField, requiredField } from "../../../../base/api/field-error.ts";
import type { KubeObject, ObjectMeta } from "../../../../base/api/object.ts";
import type { ResourceHooks } from "../../../../resources/model/definition.ts";
import type { Texts } from "../../../types/meta.ts";
import { validateReplicaCounters } from "../../apps/replica-set.ts";
import {
  isChanged,
  memberOf,
  prepareTemplate,
  templateOf,
  validateRunsForever,
  type WorkloadSpec,
  warnOfWorkload,
} from "../../apps/workload.ts";
import { orderedTexts } from "../../shared-rules/label-selector.ts";
import { nonNegativeMembers } from "../../shared-rules/numbers.ts";
import { setPodTemplateDefaults } from "./pod-spec-defaults.ts";
import { validatePodTemplate } from "./pod-spec-validation.ts";
import { podTemplateWarnings } from "./pod-warnings.ts";

function isEmpty(texts: Texts | undefined): boolean {
  return texts === undefined || Object.keys(texts).length === 0;
}

function selectorOf(spec: WorkloadSpec): Texts {
  return memberOf<Texts>(spec, "selector");
}

function setDefaults(controller: KubeObject): void {
  const spec = memberOf<WorkloadSpec>(controller, "spec");
  const { labels } = memberOf<ObjectMeta>(spec.template, "metadata");
  if (labels && isEmpty(selectorOf(spec))) spec.selector = { ...labels };
  if (labels && isEmpty(controller.metadata.labels)) controller.metadata.labels = { ...labels };
  setPodTemplateDefaults(spec.template);
}

function validateTemplate(
  { template, ...spec }: WorkloadSpec,
  path: string,
  before: WorkloadSpec,
  features: FeatureGates,
): FieldError[] {
  const selector = selectorOf(spec);
  if (template === undefined) return [requiredField(path)];
  const errors: FieldError[] = [];
  const { labels } = memberOf<ObjectMeta>(template, "metadata");
  if (Object.entries(selector).some(([key, value]) => labels?.[key] !== value)) {
    const text = "`selector` does not match template `labels`";
    errors.push(invalidField(`${path}.metadata.labels`, orderedTexts(labels), text));
  }
  return [
    ...errors,
    ...validatePodTemplate(template, path, features, before.template),
    ...validateRunsForever(template, path, "ReplicationController"),
  ];
}

/** ReplicationController: keeps a number of identical pods, selected by a map of labels. */
export const replicationControllerHooks: ResourceHooks = {
  setDefaults,
  prepare: (next, previous, context) => prepareTemplate(templateOf(next), previous && templateOf(previous), context),
  validate(next, previous, { subresource, features }) {
    if (subresource === "status") return validateReplicaCounters(next);
    const spec = memberOf<WorkloadSpec>(next, "spec");
    return [
      ...(isEmpty(selectorOf(spec)) ? [requiredField("spec.selector")] : []),
      ...validateTemplate(spec, "spec.template", memberOf(previous, "spec"), features),
      // Compat: the minimum of `replicas` and `minReadySeconds` is checked by declarative validation, which comes last.
      ...nonNegativeMembers(spec, "spec", ["replicas", "minReadySeconds"]),
    ];
  },
  warn(next, previous) {
    if (!previous) return warnOfWorkload(next, undefined);
    // Compat: `WarningsOnUpdate` passes the old template to `GetWarningsForPodTemplate` first, so an update gets
    // warnings about the template it replaces.
    return isChanged(next, previous) ? podTemplateWarnings(templateOf(previous), "spec.template") : [];
  },
};
