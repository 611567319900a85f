import type { FeatureGates } from "../base/api/feature-gates.ts";
import type { Clock } from "../base/util/clock.ts";
import type { Random } from "../base/util/random.ts";
import type { Store } from "../storage/store.ts";
import type { Actions } from "./model/actions.ts";
import type { Catalog } from "./model/catalog.ts";
import type { ObjectAccess } from "./model/definition.ts";
import type { KeySpace } from "./model/keys.ts";
import type { ObjectCodec } from "./model/object-codec.ts";
import type { ViewCache } from "./read/view-cache.ts";

/** Dependencies that reads and writes of all kinds share: one control plane over one store. */
export interface ResourceContext {
  readonly store: Store;
  readonly keys: KeySpace;
  readonly catalog: Catalog;
  readonly codec: ObjectCodec;
  readonly views: ViewCache;
  readonly clock: Clock;
  readonly random: Random;
  readonly features: FeatureGates;
  /** Actions of kinds, by name. */
  readonly actions: Actions;
  /** For actions and plugins that need other objects. */
  readonly access: ObjectAccess;
}
