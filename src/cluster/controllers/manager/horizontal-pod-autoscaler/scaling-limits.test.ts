import assert from "node:assert/strict";
import { suite, test } from "node:test";
import type { Autoscaler, AutoscalerSpec } from "./autoscaler-types.ts";
import { ScalingLimits } from "./scaling-limits.ts";

const autoscaler = (behavior?: AutoscalerSpec["behavior"], maxReplicas = 100): Autoscaler => ({
  kind: "HorizontalPodAutoscaler",
  apiVersion: "autoscaling/v2",
  metadata: { name: "web", namespace: "default" },
  spec: { scaleTargetRef: { kind: "Deployment", name: "web" }, maxReplicas, ...(behavior && { behavior }) },
});

function limitsAt(time: { nowMs: number }, current: number): ScalingLimits {
  const limits = new ScalingLimits(() => time.nowMs);
  limits.start("web", current);
  return limits;
}

suite("ScalingLimits", () => {
  test("applies the highest recommendation of the last five minutes", () => {
    const time = { nowMs: 0 };
    const limits = limitsAt(time, 5);
    const one = autoscaler();
    assert.equal(limits.stabilize("web", one, 5, 2).replicas, 5);
    assert.equal(limits.stabilize("web", one, 5, 2).reason, "ScaleDownStabilized");
    time.nowMs = 299_000;
    assert.equal(limits.stabilize("web", one, 5, 3).replicas, 5);
    time.nowMs = 301_000;
    assert.equal(limits.stabilize("web", one, 5, 2).replicas, 3);
    assert.equal(limits.stabilize("web", one, 5, 9).replicas, 9);
  });

  test("applies the windows of spec.behavior in both directions", () => {
    const time = { nowMs: 0 };
    const limits = limitsAt(time, 5);
    const one = autoscaler({
      scaleUp: { stabilizationWindowSeconds: 60 },
      scaleDown: { stabilizationWindowSeconds: 0 },
    });
    const up = limits.stabilize("web", one, 5, 9);
    assert.deepEqual([up.replicas, up.reason], [5, "ScaleUpStabilized"]);
    assert.equal(limits.stabilize("web", one, 5, 2).replicas, 2);
    time.nowMs = 61_000;
    assert.equal(limits.stabilize("web", one, 5, 9).replicas, 9);
  });

  test("doubles the size at most, or goes to four", () => {
    const limits = limitsAt({ nowMs: 0 }, 1);
    const limit = (current: number, desired: number, max = 100) =>
      limits.limit("web", autoscaler(undefined, max), current, desired, 2);
    assert.deepEqual([limit(1, 9).replicas, limit(1, 9).reason], [4, "ScaleUpLimit"]);
    assert.deepEqual([limit(10, 50).replicas, limit(10, 15).reason], [20, "DesiredWithinRange"]);
    assert.deepEqual([limit(10, 50, 12).replicas, limit(10, 50, 12).reason], [12, "TooManyReplicas"]);
    assert.deepEqual([limit(10, 1).replicas, limit(10, 1).reason], [2, "TooFewReplicas"]);
  });

  test("limits changes by policies within their periods", () => {
    const time = { nowMs: 0 };
    const limits = limitsAt(time, 10);
    const policies = [
      { type: "Pods", value: 4, periodSeconds: 60 },
      { type: "Percent", value: 10, periodSeconds: 60 },
    ];
    const one = autoscaler({ scaleUp: { policies }, scaleDown: { policies, selectPolicy: "Min" } });
    const limit = (current: number, desired: number) => limits.limit("web", one, current, desired, 1).replicas;
    assert.equal(limit(10, 50), 14);
    assert.equal(limit(10, 1), 9);
    limits.scaled("web", one, 10, 14);
    time.nowMs = 30_000;
    assert.equal(limit(14, 50), 14);
    time.nowMs = 61_000;
    assert.equal(limit(14, 50), 18);
    const disabled = autoscaler({ scaleUp: { selectPolicy: "Disabled", policies } });
    assert.equal(limits.limit("web", disabled, 10, 50, 1).replicas, 10);
  });
});
