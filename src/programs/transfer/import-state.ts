import type { Clock } from "../../base/util/clock.ts";
import type { StoreChoice } from "../../storage/options.ts";
import type { Entry } from "../../storage/store.ts";
import type { Config } from "../server/config.ts";
import { type ObjectKinds, objectKinds } from "../server/object-kinds.ts";
import { openDirectly } from "../server/open-store.ts";
import { nameOf } from "./placement.ts";
import { readState, type StateSink, type StateSummary } from "./read-state.ts";

/** What to import, and where. */
export interface ImportOptions {
  /** Dumps in any supported form. */
  readonly files: readonly string[];
  readonly store: StoreChoice;
  readonly config: Config;
  /** "keep": a new file gets the revisions of the dump. "new": the store assigns revisions, as etcd always does. */
  readonly resourceVersions: "keep" | "new";
  /** Skip objects of kinds without a definition instead of failing. */
  readonly ignoresUnknown: boolean;
  readonly clock: Clock;
}

interface Target extends StateSink {
  finish(): Promise<void>;
  abandon(): Promise<void>;
}

/**
 * Stores the objects of dumps unchanged: uid, status, owners, managed fields and times, and also resourceVersion if
 * `resourceVersions` is "keep". If something cannot be stored, throws and removes a file that it created.
 */
export async function importState(options: ImportOptions): Promise<StateSummary> {
  const { files, config, clock, ignoresUnknown } = options;
  const kinds = objectKinds(config, clock);
  const target = await openTarget(options, kinds);
  try {
    const summary = await readState(files, kinds, target);
    const [manifest] = summary.manifests;
    if (manifest) {
      throw new Error(`${nameOf(manifest)} has no metadata.uid: it is a manifest, not a dump; use kubectl apply`);
    }
    const [unknown] = summary.unknown;
    if (unknown && !ignoresUnknown) {
      throw new Error(
        `unknown kind ${unknown[0]}: its CustomResourceDefinition is not in the dump (${unknown[1]} objects)`,
      );
    }
    if (summary.count === 0) throw new Error("nothing to import");
    await target.finish();
    return summary;
  } catch (error) {
    await target.abandon();
    throw error;
  }
}

async function openTarget(options: ImportOptions, kinds: ObjectKinds): Promise<Target> {
  const { store, resourceVersions } = options;
  if (store.type === "memory") throw new Error("cannot import into a memory store: it is gone when this process ends");
  if (resourceVersions === "new") return storeTarget(options, kinds);
  if (store.type === "sqlite") return fileTarget(store.file, options, kinds);
  throw new Error("--resource-versions=keep: etcd assigns its own resource versions; use --resource-versions new");
}

async function fileTarget(file: string, { clock }: ImportOptions, kinds: ObjectKinds): Promise<Target> {
  const { NewDatabase } = await import("../../storage/sqlite/new-database.ts");
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
      // Objects that are served in two API groups are listed twice.
      if (written.ok || (written.current && Buffer.compare(written.current.value, entry.value) === 0)) return;
      throw new Error(`${entry.key} already exists in the store`);
    },
    finish: () => store.close(),
    abandon: () => store.close(),
  };
}

/** The TTL of an entry in seconds; undefined if objects of its kind do not expire. Events do. */
function lifetimes({ catalog, keys }: ObjectKinds): (entry: Entry) => number | undefined {
  const known = catalog.definitions.flatMap((definition) => {
    const { ttlSeconds } = definition.rules;
    return ttlSeconds === undefined ? [] : [{ prefix: keys.prefix(definition), ttlSeconds }];
  });
  return ({ key }) => known.find(({ prefix }) => key.startsWith(prefix))?.ttlSeconds;
}
