import assert from "node:assert/strict";
import { suite, test } from "node:test";
import type { Pod } from "../../../../kinds/types/workloads.ts";
import type { PodMetrics } from "./metrics-client.ts";
import {
  averageReplicas,
  type Measured,
  ratioReplicas,
  sharedReplicas,
  utilizationReplicas,
} from "./replica-calculator.ts";

const NOW = Date.parse("2026-01-01T01:00:00Z");
const TOLERANCES = { down: 0.1, up: 0.1 };

function pod(name: string, status: Pod["status"] = {}, cpu = "1"): Pod {
  const conditions = [{ type: "Ready", status: "True", lastTransitionTime: "2026-01-01T00:00:00Z" }];
  const resources = { requests: { cpu } };
  return {
    kind: "Pod",
    apiVersion: "v1",
    metadata: { name },
    spec: { containers: [{ name: "main", image: "x", resources }] },
    status: { phase: "Running", startTime: "2026-01-01T00:00:00Z", conditions, ...status },
  };
}

function measured(usages: Record<string, number>, pods: Pod[], current = pods.length): Measured {
  const metrics: PodMetrics = new Map();
  for (const [name, value] of Object.entries(usages)) {
    metrics.set(name, { value: BigInt(value), timeMs: NOW, windowMs: 60_000 });
  }
  return { pods, metrics, current, tolerances: TOLERANCES, nowMs: NOW };
}

const two = [pod("a"), pod("b")];

suite("utilizationReplicas", () => {
  const cpu = (given: Measured, target = 50) => utilizationReplicas(given, "cpu", target);

  test("scales by the ratio of usage to target", () => {
    assert.deepEqual(cpu(measured({ a: 1000, b: 500 }, two)), { replicas: 3, usage: 750n, utilization: 75 });
    assert.equal(cpu(measured({ a: 100, b: 100 }, two)).replicas, 1);
  });

  test("keeps the size within the tolerance", () => {
    assert.equal(cpu(measured({ a: 540, b: 550 }, two)).replicas, 2);
    const strict = { ...measured({ a: 540, b: 550 }, two), tolerances: { down: 0, up: 0 } };
    assert.equal(cpu(strict).replicas, 3);
  });

  test("counts Pods without samples as idle upwards and as busy downwards", () => {
    const three = [...two, pod("c")];
    assert.equal(cpu(measured({ a: 1000, b: 1000 }, three)).replicas, 4);
    assert.equal(cpu(measured({ a: 100, b: 100 }, three)).replicas, 3);
  });

  test("ignores Pods that fail, leave or start", () => {
    const started = { startTime: "2026-01-01T00:59:30Z", conditions: [{ type: "Ready", status: "False" }] };
    const pods = [
      pod("a"),
      pod("failed", { phase: "Failed" }),
      pod("pending", { phase: "Pending" }),
      pod("new", started),
    ];
    assert.equal(cpu(measured({ a: 500, failed: 9000, new: 9000 }, pods)).replicas, 4);
    assert.equal(cpu(measured({ a: 250, failed: 9000 }, pods.slice(0, 2))).replicas, 1);
  });

  test("reports missing requests, Pods and samples", () => {
    assert.throws(() => cpu(measured({}, [])), /^Error: no pods returned by selector while calculating replica count$/);
    assert.throws(() => cpu(measured({}, two)), /did not receive metrics for targeted pods \(pods might be unready\)/);
    const bare = { ...pod("a"), spec: { containers: [{ name: "main", image: "x" }] } };
    assert.throws(() => cpu(measured({ a: 1 }, [bare])), /missing request for cpu in container main of Pod a/);
    const given = measured({ a: 1 }, [pod("a")]);
    assert.throws(() => utilizationReplicas(given, "cpu", 50, "other"), /container other not found in Pod a/);
  });
});

suite("other targets", () => {
  test("averages of Pods", () => {
    assert.deepEqual(averageReplicas(measured({ a: 3000, b: 1000 }, two), "", 1000n), { replicas: 4, usage: 2000n });
  });

  test("one value for all ready Pods", () => {
    const given = { pods: [...two, pod("c", { phase: "Pending" })], current: 3, tolerances: TOLERANCES };
    assert.deepEqual(ratioReplicas(given, 4000n, 1000n), { replicas: 8, usage: 4000n });
    assert.equal(ratioReplicas(given, 1050n, 1000n).replicas, 3);
    assert.equal(ratioReplicas({ ...given, current: 0, pods: [] }, 1n, 1000n).replicas, 1);
  });

  test("one value that the Pods share", () => {
    assert.deepEqual(sharedReplicas(4, TOLERANCES, 10_000n, 1000n), { replicas: 10, usage: 2500n });
    assert.equal(sharedReplicas(4, TOLERANCES, 4100n, 1000n).replicas, 4);
  });
});
