import type { Call } from "../../base/api/call.ts";
import { type ListQuery, parseListQuery, validateWatchQuery } from "../../base/api/options.ts";
import type { ApiReply } from "../../base/api/reply.ts";
import { watchObjects } from "../../resources/read/object-watch.ts";
import { parseSelection } from "../../resources/read/selection.ts";
import { readVersion } from "./get.ts";
import type { Target, VerbContext } from "./target.ts";

/** Minimum duration of a watch without timeoutSeconds. */
const MIN_WATCH_SECONDS = 1800;

/** Streams changes of a kind. */
export function watch(context: VerbContext, call: Call, target: Target): ApiReply {
  const query = withDefaults(parseListQuery(call.request.query));
  validateWatchQuery(query);
  const { namespace, resource } = target;
  const { labelSelector, shardSelector, allowWatchBookmarks } = query;
  const fieldSelector = pinName(query.fieldSelector, target.name);
  const selection = parseSelection(resource, { namespace, labelSelector, fieldSelector, shardSelector });
  const resourceVersion = readVersion(query.resourceVersion);
  const seconds = query.timeoutSeconds || MIN_WATCH_SECONDS * (1 + context.resources.random.fraction());
  const request = {
    selection,
    resourceVersion,
    sendInitialEvents: query.sendInitialEvents ?? false,
    allowBookmarks: allowWatchBookmarks,
    deadlineMs: context.resources.clock.now() + seconds * 1000,
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
