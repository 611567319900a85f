import { ApiError } from "../api/api-error.ts";
import type { Call } from "../api/call.ts";
import { parseListQuery, validateListQuery } from "../api/options.ts";
import type { ApiReply } from "../api/reply.ts";
import { deletionWrite } from "./delete.ts";
import { readDeleteOptions } from "./delete-options.ts";
import { select } from "./list.ts";
import type { CollectionTarget, VerbContext } from "./target.ts";

/** Deletes the objects that a list query selects, one by one, and answers with the list as it was. */
export async function deleteCollection(context: VerbContext, call: Call, target: CollectionTarget): Promise<ApiReply> {
  const query = parseListQuery(call.request.query);
  const options = await readDeleteOptions(context, call, target);
  validateListQuery(query);
  const { collection, resource } = target;
  const { metadata, items } = await select(context, target, query);
  for (const { object } of items) {
    const { namespace = "", name = "" } = object.metadata;
    try {
      // Compat: `AdmissionToValidateObjectDeleteFunc` has the attributes of the request, which have no name.
      const write = deletionWrite(context, call, target, options);
      await collection.delete(resource, { namespace, name }, options, write);
    } catch (error) {
      // Somebody else was faster: the object is gone, which is what was asked for.
      if (!(error instanceof ApiError && error.code === 404)) throw error;
    }
  }
  const { definition, version, apiVersion } = resource;
  return { type: "list", kind: definition.listKind, apiVersion, metadata, items, table: version.table };
}
