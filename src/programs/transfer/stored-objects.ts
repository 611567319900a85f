import type { KubeObject } from "../../base/api/object.ts";
import type { Entry, Store } from "../../storage/store.ts";
import type { ObjectKinds } from "../server/object-kinds.ts";
import { Placement } from "./placement.ts";

/** Returns stored entries whose keys begin with a prefix, in key order. */
export type EntrySource = (prefix: string) => AsyncIterable<Entry> | Iterable<Entry>;

const PAGE_ENTRIES = 500;

/** Keys of records that are not objects: leases of kube-apiservers, and internal records of Binnacle. */
const RECORDS = ["masterleases/", "binnacle/"];

/** The entries of a store, all of the same revision, page by page. */
export function entriesOf(store: Store): (prefix: string) => AsyncGenerator<Entry> {
  let revision: number | undefined;
  return async function* (prefix) {
    let after: string | undefined;
    for (;;) {
      const page = await store.list(prefix, {
        limit: PAGE_ENTRIES,
        ...(after && { after }),
        ...(revision && { revision }),
      });
      revision ??= page.revision;
      yield* page.entries;
      after = page.entries.at(-1)?.key;
      if (page.remaining === 0 || after === undefined) return;
    }
  };
}

/**
 * The objects among stored entries: definitions and namespaces first. Entries that are not objects, such as allocated
 * addresses, are skipped: servers recreate them. `skipped` is called for objects of unknown kinds.
 */
export async function* storedObjects(
  source: EntrySource,
  kinds: ObjectKinds,
  skipped: (key: string) => void,
): AsyncGenerator<KubeObject> {
  const { catalog, keys, codec } = kinds;
  const placement = new Placement(kinds);
  const first = ["customresourcedefinitions", "namespaces"].flatMap((plural) =>
    catalog.definitions.filter((one) => one.plural === plural).map((definition) => keys.prefix(definition)),
  );
  const passed = [...first, ...RECORDS.map((record) => `${keys.root}${record}`)];
  for (const prefix of [...first, keys.root]) {
    for await (const entry of source(prefix)) {
      if (prefix === keys.root && passed.some((one) => entry.key.startsWith(one))) continue;
      const object = codec.read(entry);
      const placed = placement.place(object);
      if (placed.type === "entry" && placed.entry.key === entry.key) yield object;
      else if (placed.type === "unknown") skipped(entry.key);
    }
  }
}
