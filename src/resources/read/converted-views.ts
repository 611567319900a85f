import type { KubeObject } from "../../base/api/object.ts";
import type { ObjectView } from "../../base/api/reply.ts";
import { type Eventually, proceed } from "../../base/util/eventually.ts";
import type { Entry, StoreEvent } from "../../storage/store.ts";
import type { ResourceContext } from "../context.ts";
import type { ServedResource } from "../model/catalog.ts";
import { coerceStored, convertEventually, convertObjects } from "../model/conversion.ts";
import { viewObject } from "./object-view.ts";
import { readSelectable, type SelectableValues } from "./selectable.ts";
import type { EntryViewer, ResourceViews } from "./view-cache.ts";

/** Whether a kind has a batch converter, which must run before its objects can be viewed. */
export function convertsInBatches({ definition }: ServedResource): boolean {
  return definition.hooks?.convertBatch !== undefined;
}

/** Maximum number of entries decoded per call of the converter. */
const ENTRIES_AT_ONCE = 500;

/**
 * Converts entries of a kind with a batch converter and returns a viewer for them. Compat: all entries are converted
 * before the first is shown, so a failed ConversionReview results in a Status instead of a partial list.
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

/** Shows converted objects. Other entries are stored in the right version. */
class ConvertedViews implements EntryViewer {
  readonly #resource: ServedResource;
  readonly #stored: ResourceViews;
  readonly #objects: ReadonlyMap<Entry, KubeObject>;
  /** Watchers share views and their encodings. */
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

/** Returns a view of an entry. Asynchronous only if the kind has a batch converter. */
export function showEntry(context: ResourceContext, resource: ServedResource, entry: Entry): Eventually<ObjectView> {
  if (!convertsInBatches(resource)) return context.views.view(resource, entry);
  return convertEntries(context, resource, [entry]).then((viewer) => viewer.view(entry));
}

/** Returns a view of the last state of a deleted object, at the revision of its deletion. */
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
 * Returns a view of an object that is not stored (yet), in any version. Takes ownership of `object`. Compat:
 * `DryRunnableStorage` encodes and decodes the object as if it were stored. This sets the defaults of a dropped status,
 * and those of the storage version of a custom resource.
 */
export function showObject({ definition, apiVersion }: ServedResource, object: KubeObject): Eventually<ObjectView> {
  return proceed(convertEventually(definition, coerceStored(definition, object), apiVersion), viewObject);
}
