import assert from "node:assert/strict";
import { it } from "node:test";
import { HistoryLimit } from "./history-limit.ts";
import { Snapshots } from "./snapshots.ts";

it("compacts to the revision that was the newest when the time to keep began", (t) => {
  let nowMs = 1_000_000;
  const snapshots = new Snapshots({ revision: 1 });
  const limit = new HistoryLimit(snapshots, (revision) => snapshots.compact(revision), {
    historyMs: 300_000,
    clock: { now: () => nowMs },
  });
  t.after(() => limit.close());
  const passSeconds = (seconds: number): void => {
    for (const end = nowMs + seconds * 1000; nowMs < end; ) {
      nowMs += 30_000;
      limit.checkAge();
    }
  };
  snapshots.advance(10);
  passSeconds(120);
  snapshots.advance(20);
  passSeconds(180);
  assert.equal(snapshots.oldestRevision, 1, "nothing is old enough but the beginning");
  passSeconds(30);
  assert.equal(snapshots.oldestRevision, 10);
  passSeconds(120);
  assert.equal(snapshots.oldestRevision, 20);
  passSeconds(600);
  assert.equal(snapshots.oldestRevision, 20, "an idle store keeps its newest revision");
});
