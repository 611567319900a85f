import { setImmediate as nextTurn } from "node:timers/promises";
import { badRequest, expired } from "../../base/api/api-error.ts";
import type { ListMeta } from "../../base/api/object.ts";
import type { ObjectView, ViewList } from "../../base/api/reply.ts";
import { type Entry, type ListOptions, type Page, StoreError } from "../../storage/store.ts";
import type { ResourceContext } from "../context.ts";
import type { ServedResource } from "../model/catalog.ts";
import { translateStoreError } from "../model/store-errors.ts";
import { type ContinueToken, parseContinueToken, printContinueToken } from "./continue-token.ts";
import { convertEntries, convertsInBatches } from "./converted-views.ts";
import type { Selection } from "./selection.ts";

/** The state and the part of it that a list returns. Already validated. */
export interface ListRequest {
  readonly selection: Selection;
  /** 0: no limit. */
  readonly limit: number;
  /** Empty for the first page. */
  readonly continueToken: string;
  /** Undefined: not given. 0: any. */
  readonly resourceVersion: number | undefined;
  readonly resourceVersionMatch: string;
}

/** Objects at one revision, and the token for the next page in `metadata`. */
export interface ObjectList {
  readonly metadata: ListMeta;
  readonly items: ViewList;
  /** Number of objects read. */
  readonly fetched: number;
  /** Number of objects compared with the selectors. */
  readonly evaluated: number;
}

/** Entries read per turn of the event loop; fewer if selectors may have to decode them. */
const CHUNK = 2000;
const SELECTED_CHUNK = 200;
/** After comparing selectors with this many bytes, the event loop gets a turn. */
const SELECTED_BYTES = 1024 * 1024;

const EXPIRED_TOKEN =
  "The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter, or use the continue token in this response to retrieve the remainder of the results. Continuing with the provided token results in an inconsistent list - objects that were created, modified, or deleted between the time the first chunk was returned and now may show up in the list.";

/** Lists objects in key order, all at one revision. Throws Expired, BadRequest and Timeout. */
export async function listObjects(
  context: ResourceContext,
  resource: ServedResource,
  request: ListRequest,
): Promise<ObjectList> {
  const token = request.continueToken === "" ? undefined : parseContinueToken(request.continueToken);
  if (token && request.resourceVersion) {
    throw badRequest("specifying resource version is not allowed when using continue");
  }
  const target = { group: resource.definition.group, resource: resource.definition.plural };
  try {
    const only = token ? undefined : onlyKey(context, resource, request.selection);
    return await (only === undefined
      ? collectOverCompactions(context, resource, request, token)
      : collectOne(context, resource, request, only));
  } catch (error) {
    if (token && error instanceof StoreError && error.code === "compacted") {
      throw expired(EXPIRED_TOKEN, printContinueToken({ revision: -1, after: token.after }));
    }
    throw translateStoreError(error, { target, operation: "list", revision: request.resourceVersion });
  }
}

/** The revision of the list, according to the semantics of resourceVersionMatch. */
function moment(request: ListRequest, token: ContinueToken | undefined): Pick<ListOptions, "revision" | "minRevision"> {
  const { resourceVersion: version, resourceVersionMatch: match } = request;
  if (token) return token.revision > 0 ? { revision: token.revision } : {};
  if (version === undefined) return {};
  if (match === "Exact" || (match === "" && version > 0 && request.limit > 0)) return { revision: version };
  return { minRevision: version };
}

/** The only key that can match, if the selectors determine both name and namespace. */
function onlyKey({ keys }: ResourceContext, { definition }: ServedResource, selection: Selection): string | undefined {
  const { namespace, name } = selection;
  if (!name || (definition.scope === "Namespaced" && namespace === "")) return undefined;
  return keys.key(definition, { namespace, name });
}

/** A list of at most one object. Reads the store like any list, to get its revision, but only at that key. */
async function collectOne(
  context: ResourceContext,
  resource: ServedResource,
  request: ListRequest,
  key: string,
): Promise<ObjectList> {
  const { entries, revision } = await readPage(context, key, { ...moment(request, undefined), limit: 1 });
  const [entry] = entries;
  const isConverted = convertsInBatches(resource);
  const stored = context.views.of(resource);
  const views = isConverted && entry ? await convertEntries(context, resource, [entry]) : stored;
  const isThere = entry?.key === key && request.selection.matches(views.selectable(entry));
  const found = isThere ? [entry] : [];
  const items = isConverted ? found.map((one) => views.view(one)) : stored.list(found);
  const fetched = entries.length;
  return { items, metadata: listMetadata(request.selection, revision), fetched, evaluated: fetched };
}

/** A list without an exact resourceVersion must not fail with 410 Expired, so it starts over after a compaction. */
async function collectOverCompactions(
  context: ResourceContext,
  resource: ServedResource,
  request: ListRequest,
  token: ContinueToken | undefined,
): Promise<ObjectList> {
  for (;;) {
    try {
      return await collect(context, resource, request, token);
    } catch (error) {
      const isOverrun = error instanceof StoreError && error.code === "compacted";
      if (!isOverrun || moment(request, token).revision !== undefined) throw error;
    }
  }
}

async function collect(
  context: ResourceContext,
  resource: ServedResource,
  request: ListRequest,
  token: ContinueToken | undefined,
): Promise<ObjectList> {
  const { selection } = request;
  const views = context.views.of(resource);
  const converted: ObjectView[] | undefined = convertsInBatches(resource) ? [] : undefined;
  const prefix = context.keys.prefix(resource.definition, selection.namespace);
  const when = moment(request, token);
  // Compat: kube-apiserver's watch cache ignores `limit` at resourceVersion=0.
  const limit = request.resourceVersion === 0 ? 0 : request.limit;
  const found: Entry[] = [];
  let selectedBytes = 0;
  let after = token ? prefix + token.after : undefined;
  let page = await readPage(context, prefix, { ...when, after, limit: pageSize(limit, selection) });
  const { revision } = page;
  if (selection.isEverything && limit === 0 && page.remaining > 0 && !converted) {
    // A long list is written directly from the snapshot, so it needs no additional memory.
    const slice = context.store.snapshot?.(prefix)?.slice(prefix, { revision, after });
    if (slice) {
      const items = views.list(slice);
      return { items, metadata: listMetadata(selection, revision), fetched: items.length, evaluated: 0 };
    }
  }
  let fetched = 0;
  for (;;) {
    fetched += page.entries.length;
    const looked = { fetched, evaluated: selection.isEverything ? 0 : fetched };
    let last: Entry | undefined;
    const viewer = converted ? await convertEntries(context, resource, page.entries) : views;
    for (const entry of page.entries) {
      if (limit > 0 && found.length === limit) break;
      last = entry;
      const isWanted = selection.isEverything || selection.matches(viewer.selectable(entry));
      selectedBytes += selection.isEverything ? 0 : entry.value.length;
      if (selectedBytes > SELECTED_BYTES) {
        selectedBytes = 0;
        await nextTurn();
      }
      if (!isWanted) continue;
      found.push(entry);
      converted?.push(viewer.view(entry));
    }
    const isFull = limit > 0 && found.length === limit;
    const hasMore = page.remaining > 0 || last !== page.entries.at(-1);
    if (isFull && hasMore && last) {
      const remaining = page.remaining + page.entries.length - page.entries.indexOf(last) - 1;
      return {
        items: converted ?? views.list(found),
        metadata: {
          ...listMetadata(selection, revision),
          continue: printContinueToken({ revision, after: last.key.slice(prefix.length) }),
          ...(selection.isEverything ? { remainingItemCount: remaining } : {}),
        },
        ...looked,
      };
    }
    if (page.remaining === 0) {
      return { items: converted ?? views.list(found), metadata: listMetadata(selection, revision), ...looked };
    }
    after = page.entries.at(-1)?.key;
    await nextTurn();
    page = await readPage(context, prefix, { revision, after, limit: selection.isEverything ? CHUNK : SELECTED_CHUNK });
  }
}

function listMetadata({ shard }: Selection, revision: number): ListMeta {
  return { resourceVersion: String(revision), ...(shard === undefined ? {} : { shardInfo: { selector: shard } }) };
}

function pageSize(limit: number, selection: Selection): number {
  if (!selection.isEverything) return SELECTED_CHUNK;
  return limit > 0 ? Math.min(limit, CHUNK) : CHUNK;
}

function readPage(context: ResourceContext, prefix: string, options: ListOptions): Promise<Page> {
  return context.store.list(prefix, options);
}
