import type { ResourceHooks } from "../../../../resources/model/definition.ts";
import { isChanged, memberOf, prepareTemplate } from "../../apps/workload.ts";
import { setPodTemplateDefaults } from "./pod-spec-defaults.ts";
import { validatePodTemplate } from "./pod-spec-validation.ts";
import { podTemplateWarnings } from "./pod-warnings.ts";

/** PodTemplate of core/v1. */
export const podTemplateHooks: ResourceHooks = {
  setDefaults: ({ template }) => setPodTemplateDefaults(template),
  prepare: (next, previous, context) =>
    prepareTemplate(memberOf(next, "template"), previous && memberOf(previous, "template"), context),
  validate: ({ template }, previous, { features }) =>
    validatePodTemplate(template, "template", features, previous?.template),
  warn: (next, previous) =>
    isChanged(next, previous) ? podTemplateWarnings(memberOf(next, "template"), "template") : [],
};
