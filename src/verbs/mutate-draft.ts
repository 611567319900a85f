import type { AdmissionRequest } from "../admission/plugin.ts";
import type { Call } from "../api/call.ts";
import { findProblem } from "../patch/apply/managers.ts";
import { dedupeOwnerReferences, settleNamespace } from "../resources/write/metadata.ts";
import { checkName } from "./object-name.ts";
import type { Target, VerbContext } from "./target.ts";

const INVALID_MANAGERS =
  ".metadata.managedFields was in an invalid state after admission; this could be caused by an outdated mutating admission controller; please fix your requests: ";

/**
 * Mutating admission, and what must be true of its result: the object is where the request says, has each owner once, and
 * owners of fields that can be read. Upstream: `NewManagedFieldsValidatingAdmissionController`, and `BeforeCreate` and
 * `BeforeUpdate`, which come after admission.
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
  // kube-apiserver stores an object that is created by PUT or apply below the name of the URL, whatever it calls itself.
  if (request.operation === "CREATE" && target.name !== "") checkName(metadata, target.name);
  settleNamespace(target.resource.definition, metadata, target.namespace);
  const duplicates = dedupeOwnerReferences(metadata, true);
  if (duplicates !== undefined) call.warnings.push(duplicates);
}
