import { forbidden, internalError } from "../api/api-error.ts";
import type { Call } from "../api/call.ts";
import type { KubeObject } from "../api/object.ts";
import { admissionRequest } from "./admission-request.ts";
import type { Target, VerbContext } from "./target.ts";

/** A write by PUT or PATCH that is about to happen. */
export interface JudgedWrite {
  readonly dryRun: boolean;
  readonly object: KubeObject;
  /** Undefined: the object is created. */
  readonly previous: KubeObject | undefined;
}

/** Validating admission of a PUT or PATCH. Who creates an object by one has to be allowed to create it, too. */
export async function judgeWrite(context: VerbContext, call: Call, target: Target, write: JudgedWrite): Promise<void> {
  if (!write.previous) await authorizeCreate(context, call);
  const operation = write.previous ? "UPDATE" : "CREATE";
  await context.admission.validate(admissionRequest(call, target, { operation, ...write }));
}

/** Compat: `withAuthorization` asks when the object has been validated, and tells the bare reason. */
async function authorizeCreate({ identities }: VerbContext, { attributes }: Call): Promise<void> {
  const { decision, reason = "", error } = await identities.authorize({ ...attributes, verb: "create" });
  if (decision === "allow") return;
  if (error !== undefined) throw internalError(error);
  const { apiGroup, resource, name } = attributes;
  throw forbidden({ group: apiGroup, resource }, name, reason);
}
