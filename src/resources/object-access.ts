import type { KubeObject } from "../base/api/object.ts";
import type { Clock } from "../base/util/clock.ts";
import { cloneJson } from "../base/util/clone.ts";
import type { Random } from "../base/util/random.ts";
import type { ResourceContext } from "./context.ts";
import type { ServedResource } from "./model/catalog.ts";
import { toCurrent } from "./model/conversion.ts";
import type { ChangeOptions, ObjectAccess } from "./model/definition.ts";
import { Draft } from "./model/draft.ts";
import type { ObjectKey } from "./model/keys.ts";
import { storedResource } from "./model/stored-resource.ts";
import type { DeletionRequest, Preconditions } from "./model/write-request.ts";
import { convertsInBatches } from "./read/converted-views.ts";
import { listObjects } from "./read/object-list.ts";
import { parseSelection } from "./read/selection.ts";
import { type Collections, createAs } from "./write/managed-write.ts";

/** Field manager of the server's own writes. */
const MANAGER = "kube-apiserver";

/** The resources that `StoredObjects` reads and writes. */
export interface ObjectSource extends ResourceContext, Collections {
  peek(resource: ServedResource, key: ObjectKey): Promise<KubeObject | undefined>;
}

/** Access to objects of all kinds in their storage versions, for hooks that need other objects. */
export class StoredObjects implements ObjectAccess {
  readonly #resources: ObjectSource;
  /** Resources that hooks have used, by group and plural. Cleared when the kinds change. */
  readonly #known = new Map<string, Map<string, ServedResource>>();

  constructor(resources: ObjectSource) {
    this.#resources = resources;
    resources.catalog.subscribe(() => this.#known.clear());
  }

  get clock(): Clock {
    return this.#resources.clock;
  }

  get random(): Random {
    return this.#resources.random;
  }

  async find(
    group: string,
    plural: string,
    key: ObjectKey,
    freshness: "newest" | "any" = "any",
  ): Promise<KubeObject | undefined> {
    const resource = this.#resource(group, plural);
    if (freshness === "any") return this.#resources.peek(resource, key);
    const { store, keys, codec } = this.#resources;
    const entry = await store.get(keys.key(resource.definition, key));
    return entry && toCurrent(resource.definition, codec.read(entry));
  }

  async list(
    group: string,
    plural: string,
    namespace: string,
    freshness: "newest" | "any" = "newest",
  ): Promise<KubeObject[]> {
    const resource = this.#resource(group, plural);
    if (freshness === "any" && !convertsInBatches(resource)) {
      const { store, keys, views } = this.#resources;
      const prefix = keys.prefix(resource.definition, namespace);
      const held = store.snapshot?.(prefix)?.list(prefix);
      const shown = views.of(resource);
      if (held) return held.entries.map((entry) => shown.view(entry).object);
    }
    const { items } = await listObjects(this.#resources, resource, {
      selection: parseSelection(resource, { namespace, labelSelector: "", fieldSelector: "", shardSelector: "" }),
      limit: 0,
      continueToken: "",
      resourceVersion: freshness === "any" ? 0 : undefined,
      resourceVersionMatch: "",
    });
    return Array.from(items, ({ object }) => object);
  }

  create(group: string, plural: string, object: KubeObject): Promise<KubeObject> {
    return createAs({ resources: this.#resources, manager: MANAGER }, this.#resource(group, plural), object);
  }

  async update(
    group: string,
    plural: string,
    key: ObjectKey,
    change: (current: KubeObject) => KubeObject,
    { subresource, preconditions, dryRun }: ChangeOptions = {},
  ): Promise<KubeObject> {
    const resource = this.#resource(group, plural);
    const { view } = await this.#resources.collection(resource).update(
      resource,
      key,
      // The object exists, because this update may not create one.
      (current) => new Draft(change(cloneJson(current as KubeObject))),
      { subresource, uid: preconditions?.uid, resourceVersion: preconditions?.resourceVersion, dryRun, isPatch: true },
    );
    return view.object;
  }

  async delete(
    group: string,
    plural: string,
    key: ObjectKey,
    request: DeletionRequest & { readonly preconditions?: Preconditions; readonly dryRun?: boolean } = {},
  ): Promise<void> {
    const resource = this.#resource(group, plural);
    await this.#resources.collection(resource).delete(resource, key, request, { dryRun: request.dryRun });
  }

  async findRecord(place: string): Promise<KubeObject | undefined> {
    const { store, keys, codec } = this.#resources;
    const entry = await store.get(keys.root + place);
    return entry && codec.read(entry);
  }

  async changeRecord(
    place: string,
    change: (current: KubeObject | undefined) => KubeObject | undefined,
  ): Promise<void> {
    const { store, keys, codec } = this.#resources;
    const key = keys.root + place;
    let entry = await store.get(key);
    for (;;) {
      const next = change(entry && codec.read(entry));
      if (next === undefined) return;
      const result = await store.put(key, codec.write(next), entry?.modRevision ?? 0);
      if (result.ok) return;
      entry = result.current;
    }
  }

  /** The kind in its storage version. Throws if it is not served, which is a bug in the hook. */
  #resource(group: string, plural: string): ServedResource {
    const known = this.#known.get(group)?.get(plural);
    if (known) return known;
    const found = storedResource(this.#resources.catalog, group, plural);
    const ofGroup = this.#known.get(group) ?? new Map<string, ServedResource>();
    this.#known.set(group, ofGroup.set(plural, found));
    return found;
  }
}
