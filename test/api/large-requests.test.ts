import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { testLargeRequests } from "./large-requests.suite.ts";

testLargeRequests("memory", async () => ({ one: {}, other: {}, stop: async () => {} }));

testLargeRequests("SQLite", async () => {
  const folder = await mkdtemp(path.join(tmpdir(), "binnacle-large-"));
  const store = (name: string) => ({ store: { type: "sqlite", file: path.join(folder, name) } as const });
  return { one: store("one.db"), other: store("other.db"), stop: () => rm(folder, { recursive: true }) };
});
