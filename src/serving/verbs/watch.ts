import type { Call } from "../../base/api/call.ts";
import { type ListQuery, parseListQuery, validateWatchQuery } from "../../base/api/options.ts";
import type { ApiReply } from "../../base/api/reply.ts";
import { watchObjects } from "../../resources/read/object-watch.ts";
import { parseSelection } from "../../resources/read/selection.ts";
import { readVersion } from "./get.ts";
import type { Target, VerbContext } from "./target.ts";

/** Streams changes of a kind. */
export function watch(context: VerbContext, call: Call, target: Target): ApiReply {
  const query = withDefaults(parseListQuery(call.request.query));
  validateWatchQuery(query);
  const { namespace, resource } = target;
  const { labelSelector, shardSelector, allowWatchBookmarks } = query;
  const fieldSelector = pinName(query.fieldSelector, target.name);
  const selection = parseSelection(resource, { namespace, labelSelector, fieldSelector, shardSelector });
  const resourceVersion = readVersion(query.resourceVersion);
  const { clock, random } = context.resources;
  const seconds = query.timeoutSeconds || context.minRequestTimeout * (1 + random.fraction());
  const request = {
    selection,
    resourceVersion,
    sendInitialEvents: query.sendInitialEvents ?? false,
    allowBookmarks: allowWatchBookmarks,
    deadlineMs: seconds > 0 ? clock.now() + seconds * 1000 : Number.POSITIVE_INFINITY,
  };
  const events = watchObjects(context.resources, resource, request, call.signal);
  return { type: "watch", events, table: resource.version.table, sent: context.observer?.watched(resource) };
}

/**
 * Compat: `SetListOptionsDefaults`: a watch at resourceVersion "" or 0 without sendInitialEvents gets the initial
 * events.
 */
function withDefaults(query: ListQuery): ListQuery {
  const isAnyVersion = query.resourceVersion === "" || query.resourceVersion === "0";
  if (!isAnyVersion || query.sendInitialEvents !== undefined || query.resourceVersionMatch !== "") return query;
  return { ...query, sendInitialEvents: true, resourceVersionMatch: "NotOlderThan" };
}

/** Translates the deprecated watch path of a single object into a field selector. */
function pinName(fieldSelector: string, name: string): string {
  if (name === "") return fieldSelector;
  const pinned = `metadata.name=${name}`;
  return fieldSelector === "" ? pinned : `${fieldSelector},${pinned}`;
}
