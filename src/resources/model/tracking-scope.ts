import { allBut, type FieldFilter } from "../../patch/apply/reset-fields.ts";
import type { TrackingScope } from "../../patch/apply/scope.ts";
import { strategyOf } from "../strategies/strategy-of.ts";
import type { ServedResource } from "./catalog.ts";
import { convertTracked, versionIn } from "./conversion.ts";
import type { ResourceRules } from "./definition.ts";

const known = new WeakMap<ServedResource, Map<string, TrackingScope>>();

/** What managedFields depend on at the object itself ("") or one of its subresources. */
export function trackingScopeOf(resource: ServedResource, subresource: string): TrackingScope {
  let scopes = known.get(resource);
  if (!scopes) {
    scopes = new Map();
    known.set(resource, scopes);
  }
  let scope = scopes.get(subresource);
  if (!scope) {
    scope = makeScope(resource, subresource);
    scopes.set(subresource, scope);
  }
  return scope;
}

function makeScope(resource: ServedResource, subresource: string): TrackingScope {
  const { definition, apiVersion } = resource;
  const filter = ownable(resource, subresource);
  const { isUnstructured, applySchema } = strategyOf(definition);
  return {
    apiVersion,
    kind: definition.kind,
    subresource,
    isUnstructured,
    refusesUnknownVersions: definition.reading === "structural",
    schemaOf: (wanted) => {
      const version = versionIn(definition, wanted);
      return version && applySchema(version.schema());
    },
    convert: (object, wanted) =>
      versionIn(definition, wanted) ? convertTracked(definition, object, wanted) : undefined,
    resetFields: () => filter,
  };
}

/** Reset fields: what a write through this endpoint cannot change anyway, so that nobody owns it by such a write. */
function ownable({ definition, subresources }: ServedResource, subresource: string): FieldFilter | undefined {
  const { rules } = definition;
  const resets = subresource === "" ? rules.resets : subresources[subresource]?.resets;
  if (resets) return allBut(...resets);
  const writes = subresource === "" ? "object" : subresources[subresource]?.writes;
  if (writes === "status") return allBut("spec", ...keptMetadata(rules.statusKeepsMetadata));
  if (writes === "object") return subresources.status?.writes === "status" ? allBut("status") : undefined;
  // Compat: a subresource whose strategy has no `GetResetFields` lets a client own all that it sends, even what the
  // write leaves as it was.
  return undefined;
}

function keptMetadata(keeps: ResourceRules["statusKeepsMetadata"] = false): string[] {
  if (typeof keeps === "boolean") return keeps ? ["metadata"] : [];
  return keeps.map((member) => `metadata.${member}`);
}
