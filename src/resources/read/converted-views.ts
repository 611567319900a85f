import type { KubeObject } from "../../api/object.ts";
import type { ObjectView } from "../../api/reply.ts";
import { type Eventually, proceed } from "../../lib/eventually.ts";
import type { Entry, StoreEvent } from "../../storage/store.ts";
import type { ResourceContext } from "../context.ts";
import type { ServedResource } from "../model/catalog.ts";
import { coerceStored, convertEventually, convertObjects } from "../model/conversion.ts";
import { viewObject } from "./object-view.ts";
import { readSelectable, type SelectableValues } from "./selectable.ts";
import type { EntryViewer, ResourceViews } from "./view-cache.ts";

/** Whether the objects of a kind must be converted by a batch converter before there can be views of them. */
export function convertsInBatches({ definition }: ServedResource): boolean {
  return definition.hooks?.convertBatch !== undefined;
}

/** At most so many entries are decoded for one call of the converter. */
const ENTRIES_AT_ONCE = 500;

/**
 * Converts entries of a kind with a batch converter, some at a time, so that views of them can be had. Compat: all are
 * converted before the first is shown: a ConversionReview that fails is answered with a Status, not with half a list.
 */
export async function convertEntries(
  { views, codec }: Pick<ResourceContext, "views" | "codec">,
  resource: ServedResource,
  entries: readonly Entry[],
): Promise<EntryViewer> {
  const { definition, apiVersion } = resource;
  const stored = views.of(resource);
  const objects = new Map<Entry, KubeObject>();
  const others = entries.filter((entry) => !stored.isSpliced(entry));
  for (let at = 0; at < others.length; at += ENTRIES_AT_ONCE) {
    const foreign: Entry[] = [];
    const decoded: KubeObject[] = [];
    for (const entry of others.slice(at, at + ENTRIES_AT_ONCE)) {
      const object = coerceStored(definition, codec.read(entry));
      if (object.apiVersion === apiVersion) objects.set(entry, object);
      else {
        foreign.push(entry);
        decoded.push(object);
      }
    }
    const converted = await convertObjects(definition, decoded, apiVersion);
    for (const [index, entry] of foreign.entries()) objects.set(entry, converted[index] as KubeObject);
  }
  return new ConvertedViews(resource, stored, objects);
}

/** Shows what was converted; other entries are in the right version as they are stored. */
class ConvertedViews implements EntryViewer {
  readonly #resource: ServedResource;
  readonly #stored: ResourceViews;
  readonly #objects: ReadonlyMap<Entry, KubeObject>;
  /** Watchers share views, and what is encoded in them. */
  readonly #views = new Map<Entry | StoreEvent, ObjectView>();

  constructor(resource: ServedResource, stored: ResourceViews, objects: ReadonlyMap<Entry, KubeObject>) {
    this.#resource = resource;
    this.#stored = stored;
    this.#objects = objects;
  }

  view(entry: Entry): ObjectView {
    const object = this.#objects.get(entry);
    return object === undefined ? this.#stored.view(entry) : this.#keep(entry, () => object);
  }

  deletedView(event: StoreEvent): ObjectView {
    const object = event.previous && this.#objects.get(event.previous);
    if (object === undefined) return this.#stored.deletedView(event);
    return this.#keep(event, () => atRevision(object, event.revision));
  }

  selectable(entry: Entry): SelectableValues {
    const object = this.#objects.get(entry);
    return object === undefined ? this.#stored.selectable(entry) : readSelectable(this.#resource, object);
  }

  #keep(shown: Entry | StoreEvent, object: () => KubeObject): ObjectView {
    let view = this.#views.get(shown);
    if (!view) {
      view = viewObject(object(), true);
      this.#views.set(shown, view);
    }
    return view;
  }
}

function atRevision(object: KubeObject, revision: number): KubeObject {
  return { ...object, metadata: { ...object.metadata, resourceVersion: String(revision) } };
}

/** Shows one entry: at once, unless it has to be converted in a batch. */
export function showEntry(context: ResourceContext, resource: ServedResource, entry: Entry): Eventually<ObjectView> {
  if (!convertsInBatches(resource)) return context.views.view(resource, entry);
  return convertEntries(context, resource, [entry]).then((viewer) => viewer.view(entry));
}

/** Shows the last state of a deleted object, at the revision of its deletion. */
export function showDeleted(
  context: ResourceContext,
  resource: ServedResource,
  entry: Entry,
  revision: number,
): Eventually<ObjectView> {
  if (!convertsInBatches(resource)) return context.views.of(resource).removed(entry, revision);
  return convertEntries(context, resource, [entry]).then((viewer) =>
    viewObject(atRevision(viewer.view(entry).object, revision)),
  );
}

/**
 * Shows an object that is not (or not yet) in the store, whatever version it is in. Compat: `DryRunnableStorage` encodes
 * and decodes it as if it were, which sets the defaults of a dropped status, and those of the version that a custom
 * resource would be stored in. Owns `object`.
 */
export function showObject({ definition, apiVersion }: ServedResource, object: KubeObject): Eventually<ObjectView> {
  return proceed(convertEventually(definition, coerceStored(definition, object), apiVersion), viewObject);
}
