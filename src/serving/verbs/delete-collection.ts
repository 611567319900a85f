import { ApiError } from "../../base/api/api-error.ts";
import type { Call } from "../../base/api/call.ts";
import { parseListQuery, validateListQuery } from "../../base/api/options.ts";
import type { ApiReply } from "../../base/api/reply.ts";
import { currentMeter, metered } from "../../base/util/meter.ts";
import { pacer } from "../../resources/pace.ts";
import { deletionWrite } from "./delete.ts";
import { readDeleteOptions } from "./delete-options.ts";
import { select } from "./list.ts";
import type { CollectionTarget, VerbContext } from "./target.ts";

/**
 * Deletes the objects that a list query selects, one by one, and returns the list as it was before. Throws TooCostly if the
 * policies for one object take too long. Differs: the request then starts over in a worker thread, whose list lacks the objects
 * that were deleted before.
 */
export async function deleteCollection(context: VerbContext, call: Call, target: CollectionTarget): Promise<ApiReply> {
  const query = parseListQuery(call.request.query);
  const options = await readDeleteOptions(context, call, target);
  validateListQuery(query);
  const { collection, resource } = target;
  const { metadata, items } = await select(context, target, query);
  const meter = currentMeter();
  const pause = pacer();
  for (const { object } of items) {
    const { namespace = "", name = "" } = object.metadata;
    await pause();
    try {
      // Compat: `AdmissionToValidateObjectDeleteFunc` uses the attributes of the request, which have no name.
      const write = deletionWrite(context, call, target, options);
      await metered(meter.renewed(), () => collection.delete(resource, { namespace, name }, options, write));
    } catch (error) {
      // A concurrent request deleted the object, which is the wanted result.
      if (!(error instanceof ApiError && error.code === 404)) throw error;
    }
  }
  const { definition, version, apiVersion } = resource;
  return { type: "list", kind: definition.listKind, apiVersion, metadata, items, table: version.table };
}
