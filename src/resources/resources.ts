import { defaultFeatureGates, type FeatureGates } from "../base/api/feature-gates.ts";
import type { KubeObject } from "../base/api/object.ts";
import type { ObjectView } from "../base/api/reply.ts";
import type { Clock } from "../base/util/clock.ts";
import { type Eventually, proceed } from "../base/util/eventually.ts";
import type { Random } from "../base/util/random.ts";
import type { Store } from "../storage/store.ts";
import type { ResourceContext } from "./context.ts";
import { type Actions, NO_ACTIONS } from "./model/actions.ts";
import type { Catalog, ServedResource } from "./model/catalog.ts";
import type { ObjectAccess, ResourceDefinition } from "./model/definition.ts";
import type { KeySpace, ObjectKey } from "./model/keys.ts";
import { ObjectCodec } from "./model/object-codec.ts";
import { StoredObjects } from "./object-access.ts";
import { showEntry } from "./read/converted-views.ts";
import { ViewCache } from "./read/view-cache.ts";
import { Collection } from "./write/collection.ts";

/** Options of `Resources`. */
export interface ResourcesOptions {
  readonly store: Store;
  readonly catalog: Catalog;
  readonly clock: Clock;
  readonly random: Random;
  readonly keys: KeySpace;
  /** Default: none. */
  readonly actions?: Actions;
  /** Optional. If omitted, only JSON can be read. */
  readonly codec?: ObjectCodec;
  /** Maximum number of entries whose decoded or encoded form is cached; see `ViewCache`. */
  readonly keptViews?: number;
  /** Default: every feature gate at its default. */
  readonly features?: FeatureGates;
}

/** All kinds and their objects. Shared by verbs, plugins and controllers. */
export class Resources implements ResourceContext {
  readonly store: Store;
  readonly catalog: Catalog;
  readonly clock: Clock;
  readonly random: Random;
  readonly keys: KeySpace;
  readonly actions: Actions;
  readonly features: FeatureGates;
  readonly codec: ObjectCodec;
  readonly views: ViewCache;
  readonly access: ObjectAccess;
  readonly #collections = new WeakMap<ResourceDefinition, Collection>();

  constructor(options: ResourcesOptions) {
    const { store, catalog, clock, random, keys, actions = NO_ACTIONS, features = defaultFeatureGates } = options;
    const { codec = new ObjectCodec() } = options;
    this.store = store;
    this.catalog = catalog;
    this.clock = clock;
    this.random = random;
    this.keys = keys;
    this.actions = actions;
    this.features = features;
    this.codec = codec;
    this.views = new ViewCache(codec, options.keptViews);
    this.access = new StoredObjects(this);
  }

  /** The objects of a kind. */
  collection(resource: ServedResource): Collection {
    const { definition } = resource;
    let collection = this.#collections.get(definition);
    if (!collection) {
      collection = new Collection(definition, this);
      this.#collections.set(definition, collection);
    }
    return collection;
  }

  /**
   * Returns an object in the version of `resource`, or undefined. Cheap: may be slightly stale, but if the object is
   * missing, the newest state is read. The object is shared with other readers and must not be changed.
   */
  peek(resource: ServedResource, key: ObjectKey): Promise<KubeObject | undefined> {
    return Promise.resolve(proceed(this.peekView(resource, key), (view) => view?.object));
  }

  /** Like `peek`, but returns a view that decodes the object on demand. */
  peekView(resource: ServedResource, key: ObjectKey): Eventually<ObjectView | undefined> {
    const storeKey = this.keys.key(resource.definition, key);
    const held = this.store.snapshot?.(storeKey)?.get(storeKey);
    return held === undefined ? this.#find(resource, storeKey) : showEntry(this, resource, held);
  }

  async #find(resource: ServedResource, storeKey: string): Promise<ObjectView | undefined> {
    const entry = (await this.store.get(storeKey, { minRevision: 0 })) ?? (await this.store.get(storeKey));
    return entry && showEntry(this, resource, entry);
  }
}
