import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { describe, it, type TestContext } from "node:test";
import { collect, create } from "../suite/steps.suite.ts";
import { SqliteStore } from "./store.ts";

async function testFile(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "binnacle-sqlite-"));
  t.after(() => rm(folder, { recursive: true, force: true }));
  return join(folder, "data.db");
}

describe("SqliteStore and other processes", () => {
  it("rejects a file that another process has open", async (t) => {
    const path = await testFile(t);
    const first = await SqliteStore.open(path);
    t.after(() => first.close());
    const code = `
      import { SqliteStore } from ${JSON.stringify(new URL("./store.ts", import.meta.url).href)};
      await SqliteStore.open(${JSON.stringify(path)}).catch((error) => process.stdout.write(error.message));
    `;
    const child = spawn(process.execPath, ["--input-type=module", "-e", code], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    assert.match((await child.stdout.toArray()).join(""), /in use by another process/);
    await create(first, "/a", "still works");
  });

  it("loses no acknowledged write when the process is killed", async (t) => {
    const path = await testFile(t);
    let newest = 1;
    for (let round = 0; round < 3; round++) {
      const acknowledged = await writeUntilKilled(path, 150 + round * 170);
      assert.ok(acknowledged.size >= 100);
      const store = await SqliteStore.open(path);
      const revision = await store.revision();
      assert.ok(revision >= Math.max(newest, ...acknowledged.keys()), "revisions never go back");
      for (const [modRevision, key] of acknowledged) {
        assert.ok(modRevision > newest, "no revision is given twice");
        assert.equal((await store.get(key))?.modRevision, modRevision);
      }
      const events = await collect(store, "/", newest, { count: revision - newest });
      assert.deepEqual(
        events.map((event) => event.revision),
        Array.from({ length: revision - newest }, (_, i) => newest + 1 + i),
      );
      newest = revision;
      await store.close();
    }
  });
});

/** Lets a child process write with 16 writes in flight, kills it, and returns the acknowledged writes. */
async function writeUntilKilled(path: string, count: number): Promise<Map<number, string>> {
  const code = `
    import { SqliteStore } from ${JSON.stringify(new URL("./store.ts", import.meta.url).href)};
    import { writeSync } from "node:fs";
    const store = await SqliteStore.open(${JSON.stringify(path)});
    const start = await store.revision();
    let next = 0;
    const write = async () => {
      for (;;) {
        const key = "/" + start + "/" + next++;
        const result = await store.put(key, Buffer.alloc(2000, 7), 0);
        writeSync(1, result.revision + " " + key + "\\n");
      }
    };
    await Promise.all(Array.from({ length: 16 }, write));
  `;
  const child = spawn(process.execPath, ["--input-type=module", "-e", code], { stdio: ["ignore", "pipe", "inherit"] });
  const acknowledged = new Map<number, string>();
  for await (const line of createInterface({ input: child.stdout })) {
    const [revision, key] = line.split(" ");
    // The kill may have truncated the last line.
    if (key?.startsWith("/") && revision !== undefined) acknowledged.set(Number(revision), key);
    if (acknowledged.size === count) child.kill("SIGKILL");
  }
  return acknowledged;
}
