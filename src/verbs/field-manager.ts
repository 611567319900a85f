import type { Call } from "../api/call.ts";
import { apiVersionOf, type KubeObject } from "../api/object.ts";
import { allBut, type FieldFilter, nothingBut } from "../patch/apply/reset-fields.ts";
import type { TrackingScope } from "../patch/apply/scope.ts";
import { trackUpdate } from "../patch/apply/track-update.ts";
import { convertObject } from "../resources/conversion.ts";
import type { ResourceRules } from "../resources/definition.ts";
import { printTime } from "../resources/metadata.ts";
import type { Target, VerbContext } from "./target.ts";

const MAX_MANAGER_BYTES = 128;

/** Who a write is recorded for: the given manager, or the program that the client says it is. */
export function managerOf(call: Call, fieldManager: string): string {
  if (fieldManager !== "") return fieldManager;
  const agent = call.request.headers["user-agent"];
  const program = (typeof agent === "string" ? agent : "").split("/")[0] ?? "";
  let manager = "";
  for (const character of program) {
    if (Buffer.byteLength(manager + character) > MAX_MANAGER_BYTES) break;
    if (/[\p{L}\p{M}\p{N}\p{P}\p{S} ]/u.test(character)) manager += character;
  }
  return manager === "" ? "unknown" : manager;
}

/** What ownership of fields depends on at the endpoint that a request names. */
export function trackingScope(target: Target): TrackingScope {
  const { definition, apiVersion } = target.resource;
  const versionOf = (wanted: string) =>
    definition.versions.find((version) => wanted === apiVersionOf(definition.group, version.name));
  return {
    apiVersion,
    kind: definition.kind,
    subresource: target.subresource,
    schemaOf: (wanted) => versionOf(wanted)?.schema(),
    convert: (object, wanted) => (versionOf(wanted) ? convertObject(definition, object, wanted) : undefined),
    resetFields: () => ownable(target),
  };
}

/** Leaves out what a write through this endpoint cannot change anyway, so that nobody owns it by such a write. */
function ownable({ resource, subresource }: Target): FieldFilter | undefined {
  const { rules, subresources } = resource.definition;
  const writes = subresource === "" ? "object" : subresources[subresource]?.writes;
  if (writes === "status") return allBut("spec", ...keptMetadata(rules.statusKeepsMetadata));
  if (writes === "object") return subresources.status?.writes === "status" ? allBut("status") : undefined;
  return writes && nothingBut(...writes);
}

function keptMetadata(keeps: ResourceRules["statusKeepsMetadata"] = false): string[] {
  if (typeof keeps === "boolean") return keeps ? ["metadata"] : [];
  return keeps.map((member) => `metadata.${member}`);
}

/** Records who owns which field after a write that is not an apply. Changes `next`. */
export function recordManager(
  context: VerbContext,
  target: Target,
  write: { readonly live: KubeObject | undefined; readonly next: KubeObject; readonly manager: string },
): void {
  const now = printTime(context.resources.clock.now());
  const managedFields = trackUpdate(trackingScope(target), { ...write, now });
  if (managedFields === undefined) delete write.next.metadata.managedFields;
  else write.next.metadata.managedFields = managedFields;
}
