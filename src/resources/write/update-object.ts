import { notFound } from "../../base/api/api-error.ts";
import type { Json, KubeObject } from "../../base/api/object.ts";
import type { ObjectView } from "../../base/api/reply.ts";
import { cloneJson } from "../../base/util/clone.ts";
import type { Eventually } from "../../base/util/eventually.ts";
import { keepTimes } from "../../data/patch/apply/keep-times.ts";
import { sameValue } from "../../data/patch/apply/typed.ts";
import type { Entry } from "../../storage/store.ts";
import type { ServedResource } from "../model/catalog.ts";
import { convertEventually, storedApiVersion } from "../model/conversion.ts";
import type { WriteContext } from "../model/definition.ts";
import type { ObjectKey } from "../model/keys.ts";
import { showEntry, showObject } from "../read/converted-views.ts";
import { viewObject } from "../read/object-view.ts";
import { strategyOf } from "../strategies/strategy-of.ts";
import { createOnce } from "./create-object.ts";
import { removeReserved } from "./delete-object.ts";
import { isReleased } from "./deletion.ts";
import { toStoredForm } from "./explicit-empties.ts";
import { countGeneration } from "./generation.ts";
import type { Attempt, KindEntries } from "./kind-entries.ts";
import { keepSystemMetadata, wipeSystemMetadata } from "./metadata.ts";
import { checkStored, checkVersion } from "./preconditions.ts";
import { withReservation } from "./reservation.ts";
import { keepUntouched, setMember } from "./subresource-write.ts";
import { validateWrite, warnOfWrite } from "./validate-write.ts";
import type { Change, UpdateOptions } from "./write-options.ts";

/** Updates an object, or creates it if that is allowed. Throws NotFound, Conflict and Invalid. */
export async function updateObject(
  entries: KindEntries,
  resource: ServedResource,
  key: ObjectKey,
  change: Change,
  options: UpdateOptions,
): Promise<{ view: ObjectView; created: boolean }> {
  const storeKey = entries.key(key);
  let entry = await entries.read(storeKey, "update");
  for (;;) {
    if (!entry) {
      const created = await createByUpdate(entries, resource, key, change, options);
      if (created) return { view: created, created: true };
      entry = await entries.read(storeKey, "update");
      continue;
    }
    const outcome = await updateOnce(entries, resource, entry, change, options);
    if ("view" in outcome) {
      const { view } = outcome;
      return { view: await view, created: false };
    }
    entry = outcome.current;
  }
}

async function createByUpdate(
  entries: KindEntries,
  resource: ServedResource,
  key: ObjectKey,
  change: Change,
  options: UpdateOptions,
): Promise<ObjectView | undefined> {
  const { createsOnUpdate = false } = entries.definition.rules;
  const mayCreate = options.mayCreate || (createsOnUpdate && !options.isPatch);
  // Compat: with `AllowCreateOnUpdate` even a PUT to `/status` of a missing object creates it.
  const isAllowed = options.subresource === undefined || (createsOnUpdate && options.subresource === "status");
  if (!mayCreate || !isAllowed) throw notFound(entries.resourceName, key.name);
  const draft = await change(undefined);
  checkStored(entries.resourceName, key.name, entries.key(key), options, {});
  const { metadata } = draft.object;
  wipeSystemMetadata(metadata);
  delete metadata.resourceVersion;
  return createOnce(entries, resource, draft, options, key.name);
}

/** The view that an update returns. It may have to be converted first. */
interface Shown {
  readonly view: Eventually<ObjectView>;
}

async function updateOnce(
  entries: KindEntries,
  resource: ServedResource,
  entry: Entry,
  change: Change,
  options: UpdateOptions,
): Promise<Attempt<Shown>> {
  const { definition } = entries;
  const { codec } = entries.context;
  const { isUnstructured } = strategyOf(definition);
  const current = await (isUnstructured ? entries.decodeAs(entry, resource) : entries.decode(entry));
  checkStored(entries.resourceName, current.metadata.name ?? "", entry.key, options, current.metadata);
  const shown = convertEventually(definition, cloneJson(current), resource.apiVersion);
  const wanted = await change(await shown);
  checkVersion(resource, wanted.object, entry.modRevision, options.isPatch);
  const draft = isUnstructured ? wanted : await toStoredForm(definition, wanted, current.apiVersion, current);
  const next = draft.object;
  const context = entries.writeContext(resource, draft, options);
  const requestName = current.metadata.name ?? "";
  const reserving = { next, previous: current, context, requestName, dryRun: options.dryRun ?? false };
  const ready = strategyOf(definition).prepare?.(resource.version);
  if (ready !== undefined) await ready;
  return withReservation<Attempt<Shown>>(definition, entries.context, reserving, async (sent) => {
    prepareUpdate(resource, current, context);
    validateWrite(entries, current, context, options);
    warnOfWrite(entries, current, context, options);
    // Compat: `AllowUnconditionalUpdate` has set the resourceVersion before validating admission sees the object.
    next.metadata.resourceVersion = current.metadata.resourceVersion;
    await options.admit?.(next, current);
    next.metadata = keepTimes(current, next).metadata;
    const stored = isUnstructured ? await toStoredForm(definition, draft, storedApiVersion(definition)) : draft;
    // Compat: an update without changes returns the old resourceVersion and sends no event, unless the object was stored
    // in another version (`origState.stale`).
    const before = isUnstructured ? codec.read(entry) : current;
    const isSame = sameValue(stored.object as unknown as Json, before as unknown as Json);
    if (isSame && codec.read(entry).apiVersion === stored.object.apiVersion) {
      return { keeps: false, outcome: { view: showEntry(entries.context, resource, entry) } };
    }
    if (options.dryRun) {
      return { keeps: false, outcome: { view: showObject(resource, stored.object) } };
    }
    if (isReleased(definition, next, current)) {
      return { keeps: false, outcome: await removeFinalized(entries, resource, entry, context) };
    }
    const value = codec.writeDraft(stored);
    sent();
    const result = await entries.put(entry.key, value, entry.modRevision, "update");
    if (!result.ok) return { keeps: false, outcome: { current: result.current } };
    return { keeps: true, outcome: { view: entries.view(resource, { ...entry, value }, result.revision) } };
  });
}

/** Removes an object whose last finalizer an update has removed. Upstream: `deleteWithoutFinalizers`. */
async function removeFinalized(
  entries: KindEntries,
  resource: ServedResource,
  entry: Entry,
  context: WriteContext,
): Promise<Attempt<Shown>> {
  const { codec } = entries.context;
  const decoded = await entries.decode(entry);
  const removed = await removeReserved(entries, entry, decoded, context);
  if (!removed.ok) return { current: removed.current };
  // Compat: an update that removes the last finalizer (`deleteWithoutFinalizers`) returns the resourceVersion before
  // the removal, and fields that conversion to the storage version of a custom resource would drop.
  const { draft } = context;
  if (strategyOf(entries.definition).isUnstructured) return { view: viewObject(draft.object) };
  const value = codec.writeDraft(draft);
  return { view: entries.view(resource, { ...entry, value }, entry.modRevision) };
}

function prepareUpdate(resource: ServedResource, current: KubeObject, context: WriteContext): void {
  const { definition, subresources } = resource;
  const { draft, subresource } = context;
  const next = draft.object;
  keepSystemMetadata(next, current);
  if (subresource !== "") {
    keepUntouched(resource, subresource, next, current);
  } else if (subresources.status?.writes === "status") {
    setMember(next, "status", cloneJson(current.status));
  }
  definition.hooks?.prepare?.(next, current, context);
  // Compat: subresources with an action, such as pods/binding, do not change `metadata.generation`, even if they change
  // the spec.
  const isAction = subresources[subresource]?.action !== undefined;
  if (subresource !== "status" && !isAction) countGeneration(definition, next, current, draft.empties);
}
