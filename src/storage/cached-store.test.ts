import { CachedStore } from "./cached-store.ts";
import { MemoryStore } from "./memory.ts";
import { describeStore } from "./store.suite.ts";

describeStore("CachedStore over MemoryStore", async () => {
  const store = new CachedStore(new MemoryStore(), { prefix: "/suite-" });
  await store.ready;
  return { store, close: () => store.close() };
});
