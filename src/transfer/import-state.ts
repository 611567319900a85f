import type { Clock } from "../lib/clock.ts";
import type { Config, StoreChoice } from "../server/config.ts";
import { type ObjectKinds, objectKinds } from "../server/object-kinds.ts";
import { openDirectly } from "../server/open-store.ts";
import type { Entry } from "../storage/store.ts";
import { nameOf } from "./placement.ts";
import { readState, type StateSink, type StateSummary } from "./read-state.ts";

/** What to put where. */
export interface ImportOptions {
  /** Dumps in any form. */
  readonly files: readonly string[];
  readonly store: StoreChoice;
  readonly config: Config;
  /** "keep": a new file gets the revisions of the dump. "new": the store counts on, as etcd always does. */
  readonly resourceVersions: "keep" | "new";
  /** Objects of kinds that nobody defines are left out instead of refused. */
  readonly ignoresUnknown: boolean;
  readonly clock: Clock;
}

interface Target extends StateSink {
  finish(): Promise<void>;
  abandon(): Promise<void>;
}

/**
 * Puts the objects of dumps into a store as they are: uid, status, owners, managed fields and times stay, and so does
 * resourceVersion if it is to. Throws, and takes back a file that it made, when something cannot be stored.
 */
export async function importState(options: ImportOptions): Promise<StateSummary> {
  const { files, config, clock, ignoresUnknown } = options;
  const kinds = objectKinds(config, clock);
  const target = await openTarget(options, kinds);
  try {
    const summary = await readState(files, kinds, target);
    const [manifest] = summary.manifests;
    if (manifest) {
      throw new Error(`${nameOf(manifest)} has no metadata.uid: no server has stored it, so that it is to be applied`);
    }
    const [unknown] = summary.unknown;
    if (unknown && !ignoresUnknown) {
      throw new Error(
        `nobody defines ${unknown[0]}: the CustomResourceDefinition is not in the dump (${unknown[1]} objects)`,
      );
    }
    if (summary.count === 0) throw new Error("there is nothing to import");
    await target.finish();
    return summary;
  } catch (error) {
    await target.abandon();
    throw error;
  }
}

async function openTarget(options: ImportOptions, kinds: ObjectKinds): Promise<Target> {
  const { store, resourceVersions } = options;
  if (store.type === "memory") throw new Error("a store in memory is gone when this process ends");
  if (resourceVersions === "new") return storeTarget(options, kinds);
  if (store.type === "sqlite") return fileTarget(store.file, options, kinds);
  throw new Error("etcd counts revisions itself: resource versions can only be new there");
}

async function fileTarget(file: string, { clock }: ImportOptions, kinds: ObjectKinds): Promise<Target> {
  const { NewDatabase } = await import("../storage/sqlite/new-database.ts");
  const database = new NewDatabase(file);
  const lifetime = lifetimes(kinds);
  return {
    entry(entry) {
      const seconds = lifetime(entry);
      database.add(entry, seconds === undefined ? null : clock.now() + seconds * 1000);
    },
    finish: async () => database.finish(),
    abandon: async () => database.abandon(),
  };
}

async function storeTarget({ store: choice, clock }: ImportOptions, kinds: ObjectKinds): Promise<Target> {
  const store = await openDirectly({ store: choice }, kinds.keys.root, clock);
  const lifetime = lifetimes(kinds);
  return {
    async entry(entry) {
      const ttlSeconds = lifetime(entry);
      const written = await store.put(entry.key, entry.value, 0, ttlSeconds === undefined ? {} : { ttlSeconds });
      // Objects that are served in two groups are listed twice.
      if (written.ok || (written.current && Buffer.compare(written.current.value, entry.value) === 0)) return;
      throw new Error(`${entry.key} is in the store already`);
    },
    finish: () => store.close(),
    abandon: () => store.close(),
  };
}

/** How long an entry lives: objects of some kinds, such as events, go by themselves. */
function lifetimes({ catalog, keys }: ObjectKinds): (entry: Entry) => number | undefined {
  const known = catalog.definitions.flatMap((definition) => {
    const { ttlSeconds } = definition.rules;
    return ttlSeconds === undefined ? [] : [{ prefix: keys.prefix(definition), ttlSeconds }];
  });
  return ({ key }) => known.find(({ prefix }) => key.startsWith(prefix))?.ttlSeconds;
}
