import type { ResourceHooks } from "../../resources/definition.ts";
import { setPodTemplateDefaults } from "./pod-spec-defaults.ts";
import { validatePodTemplate } from "./pod-spec-validation.ts";

/** A template of pods by itself. */
export const podTemplateHooks: ResourceHooks = {
  setDefaults: ({ template }) => setPodTemplateDefaults(template),
  validate: ({ template }) => validatePodTemplate(template, "template"),
};
