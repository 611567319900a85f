import assert from "node:assert/strict";
import { test } from "node:test";
import { MemoryStore } from "../../storage/memory.ts";
import type { Store, StoreWatch } from "../../storage/store.ts";
import { LIGHT_VALUE_BYTES } from "../pace.ts";
import { follow } from "./follow.ts";

const SMALL = new Uint8Array(1);
const LARGE = new Uint8Array(LIGHT_VALUE_BYTES + 1);

/** A store whose watch returns one batch with a value of each kind. */
function storeWith(values: readonly (Uint8Array | undefined)[], stop: AbortController): Store {
  const events = values.map((value, at) => {
    const revision = at + 2;
    const entry = value && { key: "/a", value, createRevision: 1, modRevision: revision };
    return { key: "/a", revision, entry };
  });
  const watch = async function* () {
    yield { events, revision: 10 };
    stop.abort();
  };
  const store = new MemoryStore();
  const watched = { progress: () => 0, [Symbol.asyncIterator]: watch } as unknown as StoreWatch;
  return Object.assign(Object.create(store), {
    list: async () => ({ entries: [], revision: 1, remaining: 0 }),
    watch: () => watched,
  }) as Store;
}

const CASES: readonly { what: string; values: (Uint8Array | undefined)[]; batches: number[][]; known: number[] }[] = [
  { what: "small values at once", values: [SMALL, undefined, SMALL], batches: [[2, 3, 4]], known: [10] },
  { what: "a large value alone", values: [LARGE], batches: [[2]], known: [10] },
  {
    what: "each large value in a part of its own, with the revision up to which all is known",
    values: [SMALL, LARGE, SMALL, LARGE, undefined],
    batches: [[2], [3, 4], [5, 6]],
    known: [2, 4, 10],
  },
];

for (const { what, values, batches, known } of CASES) {
  test(`follows ${what}`, async () => {
    const stop = new AbortController();
    const seen: number[][] = [];
    const revisions: number[] = [];
    const changed = (events: readonly { readonly revision: number }[], revision: number) => {
      seen.push(events.map((event) => event.revision));
      revisions.push(revision);
    };
    const follower = { found: () => {}, loaded: () => {}, changed };
    await follow(storeWith(values, stop), "/", follower, stop.signal);
    assert.deepEqual(seen, batches);
    assert.deepEqual(revisions, known);
  });
}
