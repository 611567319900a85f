import { forbidden, internalError } from "../../base/api/api-error.ts";
import type { Call } from "../../base/api/call.ts";
import type { KubeObject } from "../../base/api/object.ts";
import { admissionRequest } from "./admission-request.ts";
import type { Target, VerbContext } from "./target.ts";

/** A write by PUT or PATCH, before it is stored. */
export interface JudgedWrite {
  readonly dryRun: boolean;
  readonly object: KubeObject;
  /** Undefined if the object is created. */
  readonly previous: KubeObject | undefined;
}

/** Validating admission for a PUT or PATCH. If it creates the object, the caller must also be allowed to create it. */
export async function judgeWrite(context: VerbContext, call: Call, target: Target, write: JudgedWrite): Promise<void> {
  if (!write.previous) await authorizeCreate(context, call);
  const operation = write.previous ? "UPDATE" : "CREATE";
  await context.admission.validate(admissionRequest(call, target, { operation, ...write }));
}

/** Compat: `withAuthorization` runs after the object is validated, and returns the bare reason. */
async function authorizeCreate({ identities }: VerbContext, { attributes }: Call): Promise<void> {
  const { decision, reason = "", error } = await identities.authorize({ ...attributes, verb: "create" });
  if (decision === "allow") return;
  if (error !== undefined) throw internalError(error);
  const { apiGroup, resource, name } = attributes;
  throw forbidden({ group: apiGroup, resource }, name, reason);
}
