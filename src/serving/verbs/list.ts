import { badRequest } from "../../base/api/api-error.ts";
import type { Call } from "../../base/api/call.ts";
import { printValue } from "../../base/api/field-error.ts";
import { type ListQuery, parseListQuery, validateListQuery } from "../../base/api/options.ts";
import type { ApiReply } from "../../base/api/reply.ts";
import { versionProblem } from "../../base/api/resource-version.ts";
import { listObjects, type ObjectList } from "../../resources/read/object-list.ts";
import { parseSelection } from "../../resources/read/selection.ts";
import type { Target, VerbContext } from "./target.ts";

/** Lists the objects of a kind. */
export async function list(context: VerbContext, call: Call, target: Target): Promise<ApiReply> {
  const query = parseListQuery(call.request.query);
  validateListQuery(query);
  const { definition, version, apiVersion } = target.resource;
  const { metadata, items, fetched, evaluated } = await select(context, target, query);
  context.observer?.listed(target.resource, { fetched, evaluated, returned: items.length });
  return { type: "list", kind: definition.listKind, apiVersion, metadata, items, table: version.table };
}

/** The objects that a validated list query selects. */
export function select(context: VerbContext, target: Target, query: ListQuery): Promise<ObjectList> {
  const { namespace, resource } = target;
  const { labelSelector, fieldSelector, shardSelector, limit, continueToken, resourceVersion, resourceVersionMatch } =
    query;
  return listObjects(context.resources, resource, {
    selection: parseSelection(resource, { namespace, labelSelector, fieldSelector, shardSelector }),
    limit,
    continueToken,
    resourceVersion: resourceVersion === "" ? undefined : listVersion(resourceVersion),
    resourceVersionMatch,
  });
}

function listVersion(text: string): number {
  const problem = versionProblem(text);
  if (problem === undefined) return Number(text);
  throw badRequest(`invalid resource version: resourceVersion: Invalid value: ${printValue(text)}: ${problem}`);
}
