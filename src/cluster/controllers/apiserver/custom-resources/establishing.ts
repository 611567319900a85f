import { caBundleError } from "../../../../kinds/built-in/apiextensions/ca-bundle.ts";
import type { CustomResourceDefinition } from "../../../../kinds/types/custom-resource-definition.ts";
import { isDefinitionCondition } from "../../../../kinds/types/custom-resource-definition.ts";
import { conditionOf, type StatusChange, saysSame } from "./definition-status.ts";

/**
 * Establishes a definition whose names have been accepted. Undefined if there is nothing to do. Upstream: `sync` of the
 * EstablishingController.
 */
export function establish(definition: CustomResourceDefinition): StatusChange | undefined {
  if (!isDefinitionCondition(definition, "NamesAccepted")) return undefined;
  if (isDefinitionCondition(definition, "Established")) return undefined;
  const type = "Established";
  const { caBundle = "" } = definition.spec?.conversion?.webhook?.clientConfig ?? {};
  if (caBundleError(caBundle) !== undefined) {
    const condition = {
      type,
      status: "False",
      reason: "InvalidCABundle",
      message: "The conversion webhook CABundle is invalid",
    };
    return saysSame(conditionOf(definition, type), condition) ? undefined : { conditions: [condition] };
  }
  const message = "the initial names have been accepted";
  return { conditions: [{ type, status: "True", reason: "InitialNamesAccepted", message }] };
}
