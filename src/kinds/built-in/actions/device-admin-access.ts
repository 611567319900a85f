import { forbiddenField } from "../../../base/api/field-error.ts";
import { isObject, type KubeObject } from "../../../base/api/object.ts";
import type { ReservingWrite } from "../../../resources/model/actions.ts";
import type { ObjectAccess } from "../../../resources/model/definition.ts";
import type { Draft } from "../../../resources/model/draft.ts";
import { resultsOf } from "../resource/claim-status.ts";
import type { ClaimSpec, TemplateSpec } from "../resource/types.ts";

const ADMIN_LABEL = "resource.kubernetes.io/admin-access";

/** Adds an error for adminAccess in a namespace without the label resource.kubernetes.io/admin-access. */
async function checkAdminNamespace({ object, errors }: Draft, path: string, access: ObjectAccess): Promise<void> {
  const key = { namespace: "", name: object.metadata.namespace ?? "" };
  const namespace = await access.find("", "namespaces", key);
  if (namespace?.metadata.labels?.[ADMIN_LABEL] === "true") return;
  const text = `admin access to devices requires the \`${ADMIN_LABEL}: true\` label on the containing namespace`;
  errors.push(forbiddenField(path, text));
}

/** The path of adminAccess in a claim; undefined if it is not requested. */
function adminRequestPath({ devices }: ClaimSpec): string | undefined {
  const index = (devices?.requests ?? []).findIndex(({ exactly }) => exactly?.adminAccess === true);
  // Compat: the path of the "admin access" error omits `exactly`, and in a ResourceClaimTemplate also the second
  // `spec`.
  return index < 0 ? undefined : `spec.devices.requests[${index}].adminAccess`;
}

function adminResultPath(claim: KubeObject): string | undefined {
  const index = resultsOf(claim).findIndex(({ adminAccess }) => adminAccess === true);
  return index < 0 ? undefined : `status.allocation.devices.results[${index}].adminAccess`;
}

/** Allows a ResourceClaim to request or have adminAccess only in a namespace with the label. Reserves nothing. */
export async function checkClaimAdminAccess(
  { next, previous, context }: ReservingWrite,
  access: ObjectAccess,
): Promise<undefined> {
  if (!next) return;
  const isNew = previous === undefined;
  const wasGranted = previous !== undefined && adminResultPath(previous) !== undefined;
  const spec = (isObject(next.spec) ? next.spec : {}) as ClaimSpec;
  const path = isNew ? adminRequestPath(spec) : wasGranted ? undefined : adminResultPath(next);
  if (path !== undefined) await checkAdminNamespace(context.draft, path, access);
}

/** The same for the spec of a new ResourceClaimTemplate. */
export async function checkTemplateAdminAccess(
  { next, previous, context }: ReservingWrite,
  access: ObjectAccess,
): Promise<undefined> {
  if (!next || previous) return;
  const { spec = {} } = (isObject(next.spec) ? next.spec : {}) as TemplateSpec;
  const path = adminRequestPath(spec);
  if (path !== undefined) await checkAdminNamespace(context.draft, path, access);
}
