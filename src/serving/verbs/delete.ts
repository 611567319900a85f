import type { Call } from "../../base/api/call.ts";
import type { DeleteOptions } from "../../base/api/options.ts";
import type { ApiReply, ObjectView } from "../../base/api/reply.ts";
import type { WriteOptions } from "../../resources/write/write-options.ts";
import { admissionRequest } from "./admission-request.ts";
import { readDeleteOptions } from "./delete-options.ts";
import type { CollectionTarget, Target, VerbContext } from "./target.ts";

/** Deletes an object, or marks it for deletion. */
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
  // Compat: 202 is returned only for the deprecated option `orphanDependents: false` while dependents are still being
  // deleted.
  const code = !removed && options.orphanDependents === false ? 202 : 200;
  return { type: "object", code, view, table: resource.version.table };
}

/** Write options of a deletion: mutating and validating admission see the object to be deleted. */
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

/** Whether the object only waits for the end of its grace period. */
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
