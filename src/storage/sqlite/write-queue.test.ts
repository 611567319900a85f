import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Snapshots } from "../snapshots.ts";
import { bytes, text } from "../suite/steps.suite.ts";
import type { ChangeRow } from "./messages.ts";
import { WriteQueue } from "./write-queue.ts";

function newQueue(): {
  queue: WriteQueue;
  snapshots: Snapshots;
  commits: { rows: readonly ChangeRow[]; resolve(): void; reject(error: Error): void }[];
  turn(): Promise<void>;
} {
  const snapshots = new Snapshots({ revision: 1 });
  const commits: { rows: readonly ChangeRow[]; resolve(): void; reject(error: Error): void }[] = [];
  const commit = (rows: readonly ChangeRow[]): Promise<void> =>
    new Promise((resolve, reject) => commits.push({ rows, resolve, reject }));
  const queue = new WriteQueue(snapshots, commit, () => undefined);
  const turn = (): Promise<void> => new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
  return { queue, snapshots, commits, turn };
}

const put = (key: string, value: string, expected: number) => ({
  key,
  value: bytes(value),
  expected,
  expiresAtMs: undefined,
});

describe("WriteQueue", () => {
  it("groups writes that arrive in one turn or during a commit", async () => {
    const { queue, commits, turn } = newQueue();
    const first = [queue.write(put("/a", "1", 0)), queue.write(put("/b", "1", 0))];
    await turn();
    const second = [queue.write(put("/c", "1", 0)), queue.write(put("/d", "1", 0)), queue.write(put("/e", "1", 0))];
    await turn();
    assert.deepEqual(
      commits.map(({ rows }) => rows.length),
      [2],
    );
    commits[0]?.resolve();
    await Promise.all(first);
    await turn();
    assert.deepEqual(
      commits.map(({ rows }) => rows.length),
      [2, 3],
    );
    commits[1]?.resolve();
    assert.deepEqual(
      (await Promise.all(second)).map((result) => result.ok && result.revision),
      [4, 5, 6],
    );
  });

  it("checks against writes in flight but publishes nothing before it is durable", async () => {
    const { queue, snapshots, commits, turn } = newQueue();
    const outcomes: string[] = [];
    const note = async (name: string, result: ReturnType<WriteQueue["write"]>): Promise<void> => {
      const outcome = await result;
      outcomes.push(`${name} ${outcome.ok ? outcome.revision : `rejected, ${text(outcome.current?.value)}`}`);
    };
    const all = [
      note("create", queue.write(put("/a", "one", 0))),
      note("create again", queue.write(put("/a", "two", 0))),
      note("update", queue.write(put("/a", "three", 2))),
    ];
    await turn();
    assert.deepEqual(outcomes, []);
    assert.equal(snapshots.get("/a"), undefined);
    assert.equal(snapshots.revision, 1);
    commits[0]?.resolve();
    await Promise.all(all);
    assert.deepEqual(outcomes.sort(), ["create 2", "create again rejected, one", "update 3"]);
    assert.equal(text(snapshots.get("/a")?.value), "three");
  });

  it("rejects a failed commit and all later writes, then continues with the same revisions", async () => {
    const { queue, snapshots, commits, turn } = newQueue();
    const failing = [queue.write(put("/a", "one", 0)), queue.write(put("/a", "two", 0))];
    await turn();
    failing.push(queue.write(put("/a", "three", 2)), queue.write(put("/b", "one", 0)));
    commits[0]?.reject(new Error("disk full"));
    for (const result of await Promise.allSettled(failing)) assert.equal(result.status, "rejected");
    assert.equal(snapshots.revision, 1);
    const later = queue.write(put("/a", "four", 0));
    await turn();
    assert.equal(commits.length, 2);
    commits[1]?.resolve();
    assert.deepEqual(await later, { ok: true, revision: 2 });
    await queue.drain();
  });

  it("limits the size of one transaction", async () => {
    const { queue, commits, turn } = newQueue();
    const large = new Uint8Array(5 << 20);
    const writes = [
      ...Array.from({ length: 300 }, (_, i) => queue.write(put(`/${i}`, "x", 0))),
      ...[1, 2].map((i) => queue.write({ key: `/large${i}`, value: large, expected: 0, expiresAtMs: undefined })),
    ];
    for (let i = 0; i < 3; i++) {
      await turn();
      commits[i]?.resolve();
    }
    await Promise.all(writes);
    assert.deepEqual(
      commits.map(({ rows }) => rows.length),
      [256, 45, 1],
    );
  });
});
