import assert from "node:assert/strict";
import { mkdtemp, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, it, type TestContext } from "node:test";
import { eventually } from "../../../test/support/time.ts";
import { ManualClock } from "../../base/util/environment.suite.ts";
import { bytes, collect, create, rejectsWith, remove, text, update } from "../suite/steps.suite.ts";
import { SqliteStore } from "./store.ts";

async function testFile(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "binnacle-sqlite-"));
  t.after(() => rm(folder, { recursive: true, force: true }));
  return join(folder, "data.db");
}

function countRows(path: string): number {
  const database = new DatabaseSync(path);
  const count = Number(database.prepare("SELECT count(*) AS count FROM changes").get()?.count);
  database.close();
  return count;
}

describe("the files of a SqliteStore", () => {
  it("are only readable by their owner", async (t) => {
    const path = await testFile(t);
    const store = await SqliteStore.open(path);
    t.after(() => store.close());
    await create(store, "/a", "secret");
    for (const file of [path, `${path}-wal`]) assert.equal((await stat(file)).mode & 0o777, 0o600, file);
  });

  it("keep the mode of an existing file", async (t) => {
    const path = await testFile(t);
    await writeFile(path, "", { mode: 0o640 });
    const store = await SqliteStore.open(path);
    t.after(() => store.close());
    assert.equal((await stat(path)).mode & 0o777, 0o640);
  });
});

describe("SqliteStore across restarts", () => {
  it("keeps data, revisions and history", async (t) => {
    const path = await testFile(t);
    const first = await SqliteStore.open(path);
    assert.equal(await first.revision(), 1);
    const one = await create(first, "/a", "a1");
    const two = await create(first, "/b", "");
    const three = await update(first, "/a", "a2", one);
    const four = await remove(first, "/b", two);
    await first.close();

    const second = await SqliteStore.open(path);
    t.after(() => second.close());
    assert.deepEqual([one, two, three, four, await second.revision()], [2, 3, 4, 5, 5]);
    assert.deepEqual(
      (await second.list("/")).entries.map((entry) => [
        entry.key,
        text(entry.value),
        entry.createRevision,
        entry.modRevision,
      ]),
      [["/a", "a2", one, three]],
    );
    assert.deepEqual(
      (await second.list("/", { revision: two })).entries.map((entry) => text(entry.value)),
      ["a1", ""],
    );
    const events = await collect(second, "/", 1, { count: 4 });
    assert.deepEqual(
      events.map((event) => [event.revision, text(event.entry?.value), text(event.previous?.value)]),
      [
        [one, "a1", undefined],
        [two, "", undefined],
        [three, "a2", "a1"],
        [four, undefined, ""],
      ],
    );
    assert.equal(await create(second, "/c", "c1"), 6);
  });

  it("keeps compaction, and only the rows still needed", async (t) => {
    const path = await testFile(t);
    const first = await SqliteStore.open(path);
    let revision = await create(first, "/a", "0");
    const kept = await create(first, "/kept", "x");
    const gone = await create(first, "/gone", "x");
    await remove(first, "/gone", gone);
    for (let i = 1; i <= 1200; i++) revision = await update(first, "/a", `${i}`, revision);
    await first.compact(revision);
    await first.close();

    const second = await SqliteStore.open(path);
    await rejectsWith("compacted", () => second.list("/", { revision: revision - 1 }));
    await rejectsWith("compacted", () => collect(second, "/", revision - 2, { count: 1 }));
    const [event] = await collect(second, "/a", revision - 1, { count: 1 });
    assert.deepEqual([text(event?.entry?.value), text(event?.previous?.value)], ["1200", "1199"]);
    assert.equal((await second.get("/kept"))?.modRevision, kept);
    assert.equal(await second.revision(), revision);
    await second.close();
    // Trimming runs in the background; a close interrupts it, and the next start resumes it.
    await eventually(
      async () => {
        const store = await SqliteStore.open(path);
        for (let i = 0; i < 5; i++) await store.get("/a");
        await store.close();
        return countRows(path) === 3;
      },
      { what: "the two keys, and the value before the oldest event, are all that is left" },
    );
  });

  it("still expires values after a restart", async (t) => {
    const path = await testFile(t);
    const clock = new ManualClock(Date.now() - 60_000);
    const first = await SqliteStore.open(path, { clock });
    assert.ok((await first.put("/short", bytes("x"), 0, { ttlSeconds: 30 })).ok);
    assert.ok((await first.put("/long", bytes("x"), 0, { ttlSeconds: 300 })).ok);
    await first.close();
    const second = await SqliteStore.open(path);
    t.after(() => second.close());
    const [event] = await collect(second, "/short", 3, { count: 1 });
    assert.equal(event?.entry, undefined);
    assert.equal((await second.list("/")).entries.length, 1);
  });
});

describe("SqliteStore and its file", () => {
  it("rejects a second opener with a clear message", async (t) => {
    const path = await testFile(t);
    const first = await SqliteStore.open(path);
    t.after(() => first.close());
    const error = await rejectsWith("unavailable", () => SqliteStore.open(path));
    assert.match(error.message, /data\.db is in use by another process/);
    await create(first, "/a", "still works");
  });

  it("rejects files it does not understand", async (t) => {
    const path = await testFile(t);
    await writeFile(path, "this is not a database, and it is longer than a header of one hundred bytes".repeat(10));
    await rejectsWith("unavailable", () => SqliteStore.open(path));
    await rm(path);
    const other = new DatabaseSync(path);
    other.exec("CREATE TABLE other (a)");
    other.close();
    const foreign = await rejectsWith("unavailable", () => SqliteStore.open(path));
    assert.match(foreign.message, /not a Binnacle database/);
    await rm(path);
    await (await SqliteStore.open(path)).close();
    const newer = new DatabaseSync(path);
    newer.exec("PRAGMA user_version = 99");
    newer.close();
    const unknown = await rejectsWith("unavailable", () => SqliteStore.open(path));
    assert.match(unknown.message, /has format 99/);
  });

  it("runs no SQL on this thread, and gives the event loop turns while many writes run", async (t) => {
    const store = await SqliteStore.open(await testFile(t));
    t.after(() => store.close());
    for (const name of ["exec", "prepare"] as const)
      t.mock.method(DatabaseSync.prototype, name, () => assert.fail("SQL on the main thread"));
    const writers = 64;
    const writes = 2000;
    const value = bytes("x".repeat(1000));
    let next = 0;
    const write = async (): Promise<void> => {
      while (next < writes) assert.ok((await store.put(`/k/${next++}`, value, 0)).ok);
    };
    let turns = 0;
    let counting: NodeJS.Immediate | undefined;
    const count = () => {
      turns += 1;
      counting = setImmediate(count);
    };
    count();
    await Promise.all(Array.from({ length: writers }, write));
    clearImmediate(counting);
    assert.ok(turns >= writes / writers, `${turns} turns`);
    assert.equal((await store.list("/k/", { limit: 1 })).remaining, next - 1);
  });
});
