import assert from "node:assert/strict";
import { test } from "node:test";
import type { Pod } from "../../../../kinds/types/workloads.ts";
import { finishedMs, nextRecord, remainingMs } from "./pod-backoff.ts";

const at = (second: number) => new Date(second * 1000).toISOString();
const ended = (second: number): Pod => ({
  kind: "Pod",
  apiVersion: "v1",
  metadata: { name: "x", creationTimestamp: at(0) },
  status: { containerStatuses: [{ name: "main", state: { terminated: { exitCode: 1, finishedAt: at(second) } } }] },
});

test("finds out when a Pod has ended", () => {
  const base: Pod = { kind: "Pod", apiVersion: "v1", metadata: { name: "x", creationTimestamp: at(1) } };
  const running = { name: "main", state: { running: {} } };
  const ready = { type: "Ready", status: "False", lastTransitionTime: at(7) };
  const sidecar = { name: "side", state: { terminated: { exitCode: 0, finishedAt: at(9) } } };
  const rows: [pod: Pod, second: number][] = [
    [base, 1],
    [ended(5), 5],
    [{ ...base, status: { containerStatuses: [running], conditions: [ready] } }, 7],
    [{ ...base, metadata: { ...base.metadata, deletionTimestamp: at(40), deletionGracePeriodSeconds: 30 } }, 10],
    [
      {
        ...ended(5),
        spec: { initContainers: [{ name: "side", restartPolicy: "Always" }] },
        status: { ...ended(5).status, initContainerStatuses: [sidecar] },
      },
      9,
    ],
  ];
  for (const [pod, second] of rows) assert.equal(finishedMs(pod), second * 1000);
});

test("counts failures after the last success", () => {
  const before = { failures: 2, lastFailureMs: 1000 };
  assert.deepEqual(nextRecord(undefined, [], []), { failures: 0, lastFailureMs: undefined });
  assert.deepEqual(nextRecord(before, [], []), before);
  assert.deepEqual(nextRecord(before, [], [ended(9), ended(7)]), { failures: 4, lastFailureMs: 9000 });
  assert.deepEqual(nextRecord(before, [ended(8)], []), { failures: 0, lastFailureMs: undefined });
  assert.deepEqual(nextRecord(before, [ended(8)], [ended(9), ended(7), ended(8)]), {
    failures: 1,
    lastFailureMs: 9000,
  });
});

test("doubles the delay up to ten minutes", () => {
  const delays = [0, 1, 2, 3, 6, 7, 1000].map((failures) => remainingMs({ failures, lastFailureMs: 0 }, 0));
  assert.deepEqual(delays, [0, 10_000, 20_000, 40_000, 320_000, 600_000, 600_000]);
  assert.equal(remainingMs({ failures: 1, lastFailureMs: 5000 }, 9000), 6000);
  assert.equal(remainingMs({ failures: 1, lastFailureMs: 5000 }, 90_000), 0);
});
