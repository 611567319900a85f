import type { Call } from "../api/call.ts";
import type { DeleteOptions } from "../api/options.ts";
import type { ApiReply, ObjectView } from "../api/reply.ts";
import type { WriteOptions } from "../resources/write/write-options.ts";
import { admissionRequest } from "./admission-request.ts";
import { readDeleteOptions } from "./delete-options.ts";
import type { CollectionTarget, Target, VerbContext } from "./target.ts";

/** Deletes one object, or begins to. */
export async function deleteObject(context: VerbContext, call: Call, target: CollectionTarget): Promise<ApiReply> {
  const options = await readDeleteOptions(context, call, target);
  const { collection, resource, namespace, name } = target;
  const { view, removed } = await collection.delete(
    resource,
    { namespace, name },
    options,
    deletionWrite(context, call, target, options),
  );
  const isGone = removed || isWaitingOut(view);
  const { version, definition } = resource;
  const returnsObject = version.deleteReturnsObject ?? definition.rules.deleteReturnsObject;
  if (isGone && !returnsObject) return deletedStatus(target, view);
  // Compat: 202 is answered only for `orphanDependents: false`, the deprecated option, while dependents are still being
  // deleted.
  const code = !removed && options.orphanDependents === false ? 202 : 200;
  return { type: "object", code, view, table: resource.version.table };
}

/** How a deletion is carried out: with both kinds of admission, which see what is about to go. */
export function deletionWrite(context: VerbContext, call: Call, target: Target, deletion: DeleteOptions): WriteOptions {
  const { dryRun } = deletion;
  return {
    dryRun,
    admit: async (_next, previous) => {
      const request = admissionRequest(call, target, { operation: "DELETE", dryRun, previous, deletion });
      await context.admission.mutate(request);
      await context.admission.validate(request);
    },
  };
}

/** Whether the object is only waiting for its grace period to end. */
function isWaitingOut(view: ObjectView): boolean {
  const { deletionTimestamp, finalizers, deletionGracePeriodSeconds } = view.object.metadata;
  return deletionTimestamp !== undefined && !finalizers?.length && (deletionGracePeriodSeconds ?? 0) > 0;
}

function deletedStatus(target: Target, view: ObjectView): ApiReply {
  const { definition } = target.resource;
  return {
    type: "status",
    status: {
      kind: "Status",
      apiVersion: "v1",
      metadata: {},
      status: "Success",
      details: {
        name: target.name,
        ...(definition.group === "" ? {} : { group: definition.group }),
        kind: definition.plural,
        uid: view.object.metadata.uid,
      },
    },
  };
}
