import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { MemoryStore } from "./memory.ts";
import { StoreError } from "./store.ts";
import { create, update } from "./suite/steps.suite.ts";

describe("MemoryStore history", () => {
  it("begins at revision 1, and the first write gets 2", async (t) => {
    const store = new MemoryStore();
    t.after(() => store.close());
    assert.equal(await store.revision(), 1);
    assert.equal(await create(store, "/a", "x"), 2);
  });

  it("keeps no more events than allowed for long", async (t) => {
    const store = new MemoryStore({ maxEvents: 100 });
    t.after(() => store.close());
    let revision = 0;
    for (let i = 0; i < 101; i++) revision = await update(store, "/a", `${i}`, revision);
    // 101 events were too many, 75 are kept: those of revisions 28 to 102.
    assert.equal((await store.list("/", { revision: 28 })).entries.length, 1);
    await assert.rejects(
      store.list("/", { revision: 27 }),
      (error) => error instanceof StoreError && error.revision === 28,
    );
  });
});
