import { notFound } from "../../base/api/api-error.ts";
import type { KubeObject } from "../../base/api/object.ts";
import type { ObjectView } from "../../base/api/reply.ts";
import type { Eventually } from "../../base/util/eventually.ts";
import type { Entry, WriteResult } from "../../storage/store.ts";
import type { ServedResource } from "../model/catalog.ts";
import type { WriteContext } from "../model/definition.ts";
import { Draft } from "../model/draft.ts";
import type { ObjectKey } from "../model/keys.ts";
import type { DeletionRequest, Preconditions } from "../model/write-request.ts";
import { showDeleted, showEntry, showObject } from "../read/converted-views.ts";
import { planDeletion } from "./deletion.ts";
import type { Attempt, KindEntries } from "./kind-entries.ts";
import { checkPreconditions } from "./preconditions.ts";
import { withReservation } from "./reservation.ts";
import type { WriteOptions } from "./write-options.ts";

/**
 * Deletes an object, or marks it. `removed` is false while something blocks its removal. Throws NotFound and Conflict.
 */
export async function deleteObject(
  entries: KindEntries,
  resource: ServedResource,
  key: ObjectKey,
  request: DeletionRequest & { readonly preconditions?: Preconditions },
  options: WriteOptions,
): Promise<{ view: ObjectView; removed: boolean }> {
  let entry = await entries.read(entries.key(key), "delete");
  for (;;) {
    if (!entry) throw notFound(entries.resourceName, key.name);
    const current = await entries.decode(entry);
    checkPreconditions(entries.definition, key.name, request.preconditions, current);
    await options.admit?.(current, current);
    const outcome = await deleteOnce(entries, resource, entry, { current, request, options });
    if ("view" in outcome) {
      const { view, removed } = outcome;
      return { view: await view, removed };
    }
    entry = outcome.current;
  }
}

async function deleteOnce(
  entries: KindEntries,
  resource: ServedResource,
  entry: Entry,
  deletion: { readonly current: KubeObject; readonly request: DeletionRequest; readonly options: WriteOptions },
): Promise<Attempt<{ view: Eventually<ObjectView>; removed: boolean }>> {
  const { definition } = entries;
  const { clock, codec } = entries.context;
  const { current, request, options } = deletion;
  const plan = planDeletion(definition, current, request, clock.now());
  if (plan.action === "none") return { view: showEntry(entries.context, resource, entry), removed: false };
  if (options.dryRun) {
    const shown = plan.action === "mark" ? plan.next : current;
    const removed = plan.action === "remove" || plan.thenRemove;
    return { view: showObject(resource, shown), removed };
  }
  const context = entries.writeContext(resource, new Draft(current), options);
  if (plan.action === "remove") {
    const result = await removeReserved(entries, entry, current, context);
    if (!result.ok) return { current: result.current };
    return { view: showDeleted(entries.context, resource, entry, result.revision), removed: true };
  }
  const value = codec.write(plan.next);
  const result = await entries.put(entry.key, value, entry.modRevision, "delete");
  if (!result.ok) return { current: result.current };
  const marked: Entry = { key: entry.key, value, createRevision: entry.createRevision, modRevision: result.revision };
  if (!plan.thenRemove) return { view: showEntry(entries.context, resource, marked), removed: false };
  const removed = await removeReserved(entries, marked, plan.next, context);
  if (!removed.ok && removed.current) return { current: removed.current };
  const revision = removed.ok ? removed.revision : result.revision;
  return { view: showDeleted(entries.context, resource, marked, revision), removed: true };
}

/** Removes an object and releases its shared resources such as addresses. */
export function removeReserved(
  entries: KindEntries,
  entry: Entry,
  current: KubeObject,
  context: WriteContext,
): Promise<WriteResult> {
  const requestName = current.metadata.name ?? "";
  const reserving = { next: undefined, previous: current, context, requestName, dryRun: false };
  return withReservation(entries.definition, entries.context, reserving, async (sent) => {
    sent();
    const outcome = await entries.remove(entry);
    return { keeps: outcome.ok, outcome };
  });
}
