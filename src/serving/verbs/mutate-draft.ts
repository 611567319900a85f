import type { AdmissionRequest } from "../../access/admission/plugin.ts";
import type { Call } from "../../base/api/call.ts";
import { findProblem } from "../../data/patch/apply/managers.ts";
import { dedupeOwnerReferences, settleNamespace } from "../../resources/write/metadata.ts";
import { checkName } from "./object-name.ts";
import type { Target, VerbContext } from "./target.ts";

const INVALID_MANAGERS =
  ".metadata.managedFields was in an invalid state after admission; this could be caused by an outdated mutating admission controller; please fix your requests: ";

/**
 * Runs mutating admission and checks its result: name and namespace match the request, owner references are unique, and
 * managedFields are valid. Upstream: `NewManagedFieldsValidatingAdmissionController`, and `BeforeCreate` and
 * `BeforeUpdate`, which run after admission.
 */
export async function mutateDraft(
  context: VerbContext,
  call: Call,
  target: Target,
  request: AdmissionRequest,
): Promise<void> {
  const before = request.object?.metadata.managedFields;
  await context.admission.mutate(request);
  const { object } = request;
  if (!object) return;
  const { metadata } = object;
  const problem = metadata.managedFields === before ? undefined : findProblem(metadata.managedFields);
  if (problem !== undefined) {
    if (before === undefined) delete metadata.managedFields;
    else metadata.managedFields = before;
    call.warnings.push(INVALID_MANAGERS + problem);
  }
  // kube-apiserver stores an object created by PUT or apply under the name in the URL, whatever its own name is.
  if (request.operation === "CREATE" && target.name !== "") checkName(metadata, target.name);
  settleNamespace(target.resource.definition, metadata, target.namespace);
  const duplicates = dedupeOwnerReferences(metadata, true);
  if (duplicates !== undefined) call.warnings.push(duplicates);
}
