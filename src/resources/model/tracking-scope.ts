import { allBut, type FieldFilter } from "../../data/patch/apply/reset-fields.ts";
import type { TrackingScope } from "../../data/patch/apply/scope.ts";
import { strategyOf } from "../strategies/strategy-of.ts";
import type { ServedResource } from "./catalog.ts";
import { convertTracked, versionIn } from "./conversion.ts";
import type { ResourceRules } from "./definition.ts";

const known = new WeakMap<ServedResource, Map<string, TrackingScope>>();

/** Returns the managedFields context of the object itself ("") or one of its subresources. Cached. */
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

/** Fields that a write through this endpoint can own. Excludes reset fields, which such a write cannot change. */
function ownable({ definition, subresources }: ServedResource, subresource: string): FieldFilter | undefined {
  const { rules } = definition;
  const resets = subresource === "" ? rules.resets : subresources[subresource]?.resets;
  if (resets) return allBut(...resets);
  const writes = subresource === "" ? "object" : subresources[subresource]?.writes;
  if (writes === "status") return allBut("spec", ...keptMetadata(rules.statusKeepsMetadata));
  if (writes === "object") return subresources.status?.writes === "status" ? allBut("status") : undefined;
  // Compat: if the strategy of a subresource has no `GetResetFields`, a client owns everything it sends, even fields
  // that the write does not change.
  return undefined;
}

function keptMetadata(keeps: ResourceRules["statusKeepsMetadata"] = false): string[] {
  if (typeof keeps === "boolean") return keeps ? ["metadata"] : [];
  return keeps.map((member) => `metadata.${member}`);
}
