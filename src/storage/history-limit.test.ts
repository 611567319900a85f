import assert from "node:assert/strict";
import { it } from "node:test";
import { ManualClock } from "../base/util/environment.suite.ts";
import { HistoryLimit } from "./history-limit.ts";
import { Snapshots } from "./snapshots.ts";

it("compacts to the revision that was the newest at the start of the retention period", async (t) => {
  const clock = new ManualClock();
  const snapshots = new Snapshots({ revision: 1 });
  const limit = new HistoryLimit(snapshots, (revision) => snapshots.compact(revision), {
    historyMs: 300_000,
    clock,
  });
  t.after(() => limit.close());
  const passSeconds = (seconds: number) => clock.advance(seconds * 1000);
  snapshots.advance(10);
  await passSeconds(120);
  snapshots.advance(20);
  await passSeconds(180);
  assert.equal(snapshots.oldestRevision, 1, "nothing is old enough but the beginning");
  await passSeconds(30);
  assert.equal(snapshots.oldestRevision, 10);
  await passSeconds(120);
  assert.equal(snapshots.oldestRevision, 20);
  await passSeconds(600);
  assert.equal(snapshots.oldestRevision, 20, "an idle store keeps its newest revision");
});
